// What the documents point at exists: files that they name as `room/file`, programs that prove
// something, and the targets of links.
#pragma once

#include "tests/tidy/rules.hpp"

namespace cotillion::tidy {

// A code span `room/name` names a file of that room, with or without its ending; one '*' stands for
// anything. A span that ends in _test, _bench or _fuzz names such a program. Pages are
// ARCHITECTURE.md, CONTRIBUTING.md and docs/, without its decisions.
void check_named_files(const std::vector<Source>& tree, Findings& findings);

// Links of documents to other files of the tree lead somewhere.
void check_links(const std::vector<Source>& tree, Findings& findings);

}  // namespace cotillion::tidy
