#include "tests/dissector/tshark.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace cotillion::testing {
namespace {

namespace fs = std::filesystem;

// Exists as long as a run does.
class Folder {
 public:
  Folder() {
    std::string pattern = ::testing::TempDir() + "dissectorXXXXXX";
    const char* made = ::mkdtemp(pattern.data());
    EXPECT_NE(made, nullptr) << pattern;
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] fs::path operator/(const char* name) const { return path_ / name; }
  [[nodiscard]] std::string text() const { return path_.string(); }

 private:
  fs::path path_;
};

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// All that is said but the one thing that is always said to root.
std::string complaints_in(const std::string& text) {
  std::istringstream stream(text);
  std::string complaints;
  for (std::string line; std::getline(stream, line);)
    if (!line.empty() && !line.starts_with("Running as user \"root\"")) complaints += line + '\n';
  return complaints;
}

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : line)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

// 4.0 prints 1 and 0, later ones True and False.
std::string plain(const std::string& value) {
  return value == "True" ? "1" : value == "False" ? "0" : value;
}

const std::string kScript = "-X lua_script:'" COTILLION_SOURCE_DIR "/tools/cotillion.lua' ";

std::string run(const Folder& folder, const std::string& arguments) {
  std::string command;
  for (const char* home : {"HOME", "XDG_CONFIG_HOME", "WIRESHARK_CONFIG_DIR", "TMPDIR"})
    command += std::string(home) + "='" + folder.text() + "' ";
  const std::string complaints = (folder / "complaints").string();
  command += "LC_ALL=C.UTF-8 TZ=UTC tshark " + arguments + " 2>'" + complaints + "'";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot be run: " << command;
    return "";
  }
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
  EXPECT_EQ(complaints_in(read_text(complaints)), "") << command;
  return text;
}

}  // namespace

bool tshark_is_installed() {
  return std::system("command -v tshark >/dev/null 2>&1") == 0;
}

std::string tshark(const std::string& capture, const std::string& arguments) {
  const Folder folder;
  std::ofstream(folder / "capture.pcap", std::ios::binary) << capture;
  return run(folder, "-n -r '" + (folder / "capture.pcap").string() + "' " + kScript + arguments);
}

std::vector<std::string> tshark_field_names() {
  const Folder folder;
  std::istringstream stream(run(folder, "-G fields " + kScript));  // tshark wants -G first
  std::vector<std::string> names;
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> columns = split(line, '\t');
    if (columns.size() > 3 && columns[2].starts_with("cotillion.") && columns[3] != "FT_NONE")
      names.push_back(columns[2]);
  }
  return names;
}

std::vector<Row> tshark_fields(const std::string& capture, const std::vector<std::string>& fields,
                               const std::string& arguments) {
  std::string all = arguments + " -T fields -E separator=/t -E occurrence=a -E aggregator=,";
  for (const std::string& field : fields) all += " -e " + field;
  std::vector<Row> rows;
  std::istringstream stream(tshark(capture, all));
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> values = split(line, '\t');
    EXPECT_EQ(values.size(), fields.size()) << line;
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(values.size(), fields.size()); ++i)
      row[fields[i]] = plain(values[i]);
  }
  return rows;
}

}  // namespace cotillion::testing
