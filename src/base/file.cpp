#include "base/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace cotillion {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

Unexpected<FileError> file_error(const std::string& path, const char* attempt, int code) {
  return {{path + ": cannot be " + attempt + ": " + std::strerror(code), code}};
}

// The file behind links, where there is one.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

bool is_replaceable(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

// 0, or why not.
int write_in_place(const std::string& path, std::string_view text, bool to_disk) {
  OpenFile file(std::fopen(path.c_str(), "wb"));
  if (!file) return errno;
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0 || (to_disk && ::fsync(::fileno(file.get())) != 0))
    return errno;
  return 0;
}

}  // namespace

Expected<std::string, FileError> read_file(const std::string& path, std::size_t bytes_max) {
  const OpenFile file(std::fopen(path.c_str(), "rb"));
  if (!file) return file_error(path, "read", errno);
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, got);
    if (text.size() > bytes_max) return file_error(path, "read", EFBIG);
  }
  if (std::ferror(file.get()) != 0) return file_error(path, "read", errno);
  return text;
}

std::string read_if_there(const std::string& path) {
  auto text = read_file(path);
  return text ? std::move(*text) : std::string();
}

Expected<void, FileError> write_atomically(const std::string& path, std::string_view text) {
  const std::string target = resolved(path);
  const bool replaces = is_replaceable(target);
  const std::string temporary = target + ".partial-" + std::to_string(::getpid());
  int code = write_in_place(replaces ? temporary : target, text, replaces);
  if (code == 0 && replaces && std::rename(temporary.c_str(), target.c_str()) != 0) code = errno;
  if (code == 0) return {};
  if (replaces) std::remove(temporary.c_str());
  return file_error(path, "written", code);
}

}  // namespace cotillion
