// Files that a command writes have places of their own: nothing that is read, or that another
// option writes, is written over. Runs may be hours of work.
#pragma once

#include <string>
#include <vector>

namespace cotillion {

struct NamedFile {
  std::string option;  // as people know it: -o
  std::string file;    // empty: not given
};

// The first of `written` that is also among `read`, or is written twice, in words; empty where
// there is none. Whatever begins with a checkpoint's name and a dot is the checkpoint's.
[[nodiscard]] std::string why_not_apart(const std::vector<NamedFile>& written,
                                        const std::vector<NamedFile>& read);

}  // namespace cotillion
