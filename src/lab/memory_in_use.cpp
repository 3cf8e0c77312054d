#include "lab/memory_in_use.hpp"

#include <filesystem>
#include <sstream>
#include <vector>

#include "base/file.hpp"

namespace cotillion {
namespace {

namespace fs = std::filesystem;

std::string space_of(const std::string& process) {
  std::error_code error;
  return fs::read_symlink(fs::path("/proc") / process / "ns/pid", error).string();
}

// The words after a name in /proc/…/status.
std::vector<std::string> status_of(const std::string& process, const std::string& name) {
  std::istringstream file(read_if_there("/proc/" + process + "/status"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::vector<std::string> found;
    words >> word;
    if (word != name) continue;
    while (words >> word) found.push_back(word);
    return found;
  }
  return {};
}

}  // namespace

std::string process_name(pid_t process) {
  const std::string ours = space_of("self");
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::vector<std::string> numbers = status_of(name, "NSpid:");
    if (!numbers.empty() && numbers.back() == std::to_string(process) && space_of(name) == ours)
      return name;
  }
  return {};
}

std::uint64_t memory_in_use(const std::string& process) {
  std::uint64_t kilobytes = 0;
  for (const char* kind : {"RssAnon:", "RssShmem:"}) {
    const std::vector<std::string> words = status_of(process, kind);
    if (!words.empty()) kilobytes += std::stoull("0" + words.front());
  }
  return process.empty() ? 0 : kilobytes * 1024;
}

}  // namespace cotillion
