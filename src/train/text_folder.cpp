#include "train/text_folder.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"

namespace cotillion {

namespace fs = std::filesystem;

Result<std::vector<Document>> read_folder(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (at->is_regular_file(error)) paths.push_back(at->path());
  if (error)
    return failure("--data " + folder + ": " + error.message() +
                   "; give a folder of text files, or synthetic:2MB");
  std::sort(paths.begin(), paths.end());
  std::vector<Document> documents;
  for (const fs::path& path : paths) {
    auto text = read_file(path.string());
    if (!text) return Unexpected<Error>{text.error()};
    if (text->size() < 64 || text->substr(0, 4096).find('\0') != std::string::npos) continue;
    documents.push_back({path.lexically_relative(folder).begin()->string(), std::move(*text)});
  }
  if (documents.empty())
    return failure("--data " + folder +
                   ": there is no text in it; files of 64 bytes and more count, without zeros");
  return documents;
}

}  // namespace cotillion
