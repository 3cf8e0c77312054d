#include "daemon/daemon_log.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "base/text.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kLongestText = 1000;  // of a value; what is longer is cut

// The bytes of the character at the front if it may be shown as it is, otherwise none.
std::size_t plain_front(std::string_view text) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(4, text.size()); ++size)
    if (is_plain(text.substr(0, size))) return size;
  return 0;
}

// A JSON string; logfmt quotes in the same way.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    if (out.size() > kLongestText) {
      out += "…";
      break;
    }
    const std::size_t size = plain_front(text);
    const char first = text.front();
    if (first == '"' || first == '\\')
      (out += '\\') += first;
    else if (size > 0)
      out += text.substr(0, size);
    else if (first == '\n')
      out += "\\n";
    else if (first == '\t')
      out += "\\t";
    else if (first == '\r')
      out += "\\r";
    else
      out += static_cast<unsigned char>(first) < 0x80 ? fmt::format("\\u{:04x}", int(first))
                                                      : "\\ufffd";
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out + '"';
}

bool is_bare(std::string_view text) {
  return !text.empty() && text.size() <= kLongestText && is_plain(text) &&
         text.find_first_of(" =\"\\") == std::string_view::npos;
}

std::string value_text(const DaemonLogSettings& settings, const LogField& field) {
  const bool json = settings.form == LogForm::kJson;
  return std::visit(
      [json](const auto& value) -> std::string {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string_view>)
          return json || !is_bare(value) ? quoted(value) : std::string(value);
        else if constexpr (std::is_same_v<Value, double>)
          return json && !std::isfinite(value) ? "null" : fmt::format("{}", value);
        else
          return fmt::format("{}", value);
      },
      field.value);
}

// "2026-03-01T12:00:00.123456Z"; microseconds are what people compare.
std::string time_text(std::int64_t wall_ns) {
  const std::int64_t us = wall_ns / 1000;
  const std::time_t seconds = us / 1'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     us % 1'000'000);
}

void add_field(std::string& line, const DaemonLogSettings& settings, const LogField& field) {
  const std::string value = value_text(settings, field);
  if (settings.form == LogForm::kJson)
    line += fmt::format("{}\"{}\":{}", line.empty() ? "{" : ",", field.key, value);
  else
    line += fmt::format("{}{}={}", line.empty() ? "" : " ", field.key, value);
}

int priority_of(LogLevel level) {  // as syslog counts them
  constexpr int kPriorities[] = {7, 6, 4, 3};
  return kPriorities[std::size_t(level)];
}

}  // namespace

const char* name_of(LogLevel level) {
  constexpr const char* kNames[] = {"debug", "info", "warn", "error"};
  return kNames[std::size_t(level)];
}

std::optional<LogForm> log_form_named(std::string_view name, int fd) {
  if (name.empty()) return ::isatty(fd) != 0 ? LogForm::kWords : LogForm::kLogfmt;
  if (name == "logfmt") return LogForm::kLogfmt;
  if (name == "json") return LogForm::kJson;
  return std::nullopt;
}

std::string log_line(const DaemonLogSettings& settings, LogLevel level, std::int64_t wall_ns,
                     std::string_view event, LogFields fields) {
  std::string line;
  if (settings.form == LogForm::kWords) {
    if (level >= LogLevel::kWarn) line = fmt::format("{}: ", name_of(level));
    line += shown(event, kLongestText);
    for (const LogField& field : fields) add_field(line, settings, field);
    return line;
  }
  add_field(line, settings, {"time", time_text(wall_ns)});
  add_field(line, settings, {"level", name_of(level)});
  add_field(line, settings, {"daemon", settings.daemon});
  if (!settings.island.empty()) add_field(line, settings, {"island", settings.island});
  add_field(line, settings, {"event", event});
  for (const LogField& field : fields) add_field(line, settings, field);
  return settings.form == LogForm::kJson ? line + "}" : line;
}

bool is_journal(int fd, const char* journal_stream) {
  if (journal_stream == nullptr) return false;
  struct stat found {};
  if (::fstat(fd, &found) != 0) return false;
  return fmt::format("{}:{}", found.st_dev, found.st_ino) == journal_stream;
}

DaemonLog::DaemonLog(DaemonLogSettings settings)
    : settings_(std::move(settings)),
      journal_(is_journal(settings_.fd, std::getenv("JOURNAL_STREAM"))) {}

void DaemonLog::say(LogLevel level, std::string_view event, LogFields fields) {
  if (level < settings_.least) return;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t wall_ns = std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  std::string line = journal_ ? fmt::format("<{}>", priority_of(level)) : "";
  line += log_line(settings_, level, wall_ns, event, fields) + '\n';
  // One call for a whole line, so that other processes on the same stream do not cut it; a rest is
  // written only where a pipe had no room for all of it. A log that is gone stops no daemon.
  const std::lock_guard lock(writing_);
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(settings_.fd, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    rest.remove_prefix(std::size_t(written));
  }
}

}  // namespace cotillion
