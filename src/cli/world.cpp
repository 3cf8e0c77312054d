#include "cli/world.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/fingerprint.hpp"
#include "base/text.hpp"
#include "commit.hpp"
#include "topology/map_file.hpp"

namespace cotillion::cli {
namespace {

constexpr std::size_t kFileMax = std::size_t{64} << 20;

Exit exit_for(int error) {
  // A name that leads nowhere is a mistake of the caller's; the rest is the system's.
  return error == ENOENT || error == ENOTDIR || error == EISDIR ? kUsedWrongly : kSystemError;
}

}  // namespace

std::string read_file(const std::string& path, const std::string& remedy) {
  auto text = cotillion::read_file(path, kFileMax);
  if (text) return std::move(*text);
  const auto& [message, code] = text.error();
  if (code == EFBIG)
    throw Stop{kUsedWrongly, fmt::format("{}: larger than 64 MiB; no input may be", path)};
  throw Stop{exit_for(code), message + (code == ENOENT ? remedy : "")};
}

void write_file(const std::string& path, const std::string& text) {
  if (const auto written = write_atomically(path, text); !written)
    throw Stop{exit_for(written.error().code), written.error().message + "; choose another place"};
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
