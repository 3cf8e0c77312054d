#include "train/output_paths.hpp"

#include <filesystem>
#include <system_error>

namespace cotillion {
namespace {

namespace fs = std::filesystem;

// Links followed as far as there are any; what does not exist yet has a place, too.
std::string place_of(const std::string& file) {
  std::error_code wrong;
  const fs::path path = fs::weakly_canonical(fs::absolute(file), wrong);
  return wrong ? file : path.string();
}

bool meet(const NamedFile& a, const NamedFile& b) {
  if (a.file.empty() || b.file.empty()) return false;
  const std::string one = place_of(a.file), other = place_of(b.file);
  return one == other || (a.option == "--checkpoint" && other.starts_with(one + ".")) ||
         (b.option == "--checkpoint" && one.starts_with(other + "."));
}

}  // namespace

std::string why_not_apart(const std::vector<NamedFile>& written,
                          const std::vector<NamedFile>& read) {
  std::vector<NamedFile> others = read;
  for (const NamedFile& place : written) {
    for (const NamedFile& other : others)
      if (meet(place, other))
        return place.option + " " + place.file + ": that place is " + other.option +
               "'s in this command; choose another";
    others.push_back(place);
  }
  return "";
}

}  // namespace cotillion
