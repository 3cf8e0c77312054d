#include "cli/world.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "base/text.hpp"
#include "commit.hpp"
#include "topology/map_file.hpp"

namespace cotillion::cli {
namespace {

constexpr std::size_t kFileMax = std::size_t{64} << 20;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Exit exit_for(int error) {
  // A name that leads nowhere is a mistake of the caller's; the rest is the world's.
  return error == ENOENT || error == ENOTDIR || error == EISDIR ? kUsedWrongly : kSystemError;
}

}  // namespace

std::string read_file(const std::string& path, const std::string& remedy) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    throw Stop{exit_for(errno), fmt::format("{}: cannot be read: {}{}", path, std::strerror(errno),
                                            errno == ENOENT ? remedy : "")};
  std::string text;
  char buffer[1 << 16];
  std::size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof buffer, file.get())) > 0) {
    text.append(buffer, got);
    if (text.size() > kFileMax)
      throw Stop{kUsedWrongly, fmt::format("{}: larger than 64 MiB; no input may be", path)};
  }
  if (std::ferror(file.get()) != 0)
    throw Stop{exit_for(errno), fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  // A link is followed; a device or a pipe is written to, not replaced.
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) != nullptr && path != resolved)
    return write_file(resolved, text);
  struct stat status {};
  const bool special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  const std::string target = special ? path : fmt::format("{}.partial-{}", path, ::getpid());
  const auto fail = [&] {
    const int error = errno;
    if (!special) std::remove(target.c_str());
    throw Stop{exit_for(error), fmt::format("{}: cannot be written: {}; choose another place", path,
                                            std::strerror(error))};
  };
  File file(std::fopen(target.c_str(), "wb"));
  if (!file) fail();
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0 || (!special && ::fsync(::fileno(file.get())) != 0))
    fail();
  file.reset();
  if (!special && std::rename(target.c_str(), path.c_str()) != 0) fail();
}

void expect_writable(const std::string& path) {
  if (path.empty()) return;
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    errno = EISDIR;
  else if (::access(folder.c_str(), W_OK) == 0)
    return;
  throw Stop{exit_for(errno), fmt::format("{}: cannot be written: {}; choose another place", path,
                                          std::strerror(errno))};
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Stop{kSystemError, fmt::format("standard output: {}", std::strerror(errno))};
}

// File names may hold any bytes; JSON may not.
void print_json(const Json& json) {
  print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string to_text(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += cotillion::to_text(diagnostic) + "\n";
  return text + counted(diagnostics.size(), "mistake");
}

Json to_json(const Diagnostics& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& diagnostic : diagnostics)
    list.push_back({{"file", diagnostic.file},
                    {"line", diagnostic.at.line},
                    {"column", diagnostic.at.column},
                    {"field", diagnostic.field},
                    {"message", diagnostic.message},
                    {"remedy", diagnostic.remedy}});
  return list;
}

LoadedMap load_map(const std::string& path) {
  return map_of(read_file(path), path);
}

LoadedMap map_of(const std::string& text, const std::string& path) {
  auto map = read_map(text, path);
  if (!map) throw Stop{kUsedWrongly, to_text(map.error())};
  return {std::move(*map), fingerprint(text)};
}

LoadedPlan load_plan(const std::string& path) {
  std::string text =
      read_file(path, fmt::format("; `cotillion plan MAP.toml -o {}` writes a plan", path));
  auto plan = read_plan(text, path);
  if (!plan) throw Stop{kUsedWrongly, to_text(plan.error())};
  std::string mark = fingerprint(text);
  return {std::move(*plan), std::move(text), std::move(mark)};
}

Provenance provenance() {
  return {COTILLION_VERSION, COTILLION_COMMIT, 0, {}};
}

}  // namespace cotillion::cli
