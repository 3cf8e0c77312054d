// What a daemon has to say, one line for each event, for people and for machines alike: logfmt
// (`time=… level=info daemon=edge island=TYO event="round closed" round=3`), a JSON object, or on a
// terminal `round closed round=3`. Whatever came from outside is escaped: a line is always one
// line.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace cotillion {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogForm : std::uint8_t { kLogfmt, kJson, kWords };

[[nodiscard]] const char* name_of(LogLevel level);  // "info"
// "logfmt" or "json". Nothing was asked for: words on a terminal, logfmt elsewhere.
[[nodiscard]] std::optional<LogForm> log_form_named(std::string_view name, int fd = 2);

struct LogField {
  std::string_view key;  // a word of ours: small letters and underscores
  std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool> value;

  LogField(std::string_view the_key, std::string_view text) : key(the_key), value(text) {}
  LogField(std::string_view the_key, const std::string& text)
      : key(the_key), value(std::string_view(text)) {}
  LogField(std::string_view the_key, const char* text)
      : key(the_key), value(std::string_view(text)) {}
  template <std::integral Number>
  LogField(std::string_view the_key, Number number) : key(the_key) {
    if constexpr (std::same_as<Number, bool>)
      value = number;
    else if constexpr (std::signed_integral<Number>)
      value = std::int64_t{number};
    else
      value = std::uint64_t{number};
  }
  template <std::floating_point Number>
  LogField(std::string_view the_key, Number number) : key(the_key), value(double(number)) {}
};
using LogFields = std::initializer_list<LogField>;

struct DaemonLogSettings {
  std::string daemon{};  // "edge"
  std::string island{};  // may be empty
  LogForm form = LogForm::kLogfmt;
  LogLevel least = LogLevel::kInfo;
  int fd = 2;  // stderr
};

// The line without its newline, at a time in nanoseconds since 1970.
[[nodiscard]] std::string log_line(const DaemonLogSettings& settings, LogLevel level,
                                   std::int64_t wall_ns, std::string_view event, LogFields fields);

// Whether the descriptor leads to the journal: systemd names it in JOURNAL_STREAM.
[[nodiscard]] bool is_journal(int fd, const char* journal_stream);

// Any thread may call it; lines never mix.
class DaemonLog {
 public:
  explicit DaemonLog(DaemonLogSettings settings);

  void debug(std::string_view event, LogFields fields = {}) {
    say(LogLevel::kDebug, event, fields);
  }
  void info(std::string_view event, LogFields fields = {}) { say(LogLevel::kInfo, event, fields); }
  void warn(std::string_view event, LogFields fields = {}) { say(LogLevel::kWarn, event, fields); }
  void error(std::string_view event, LogFields fields = {}) {
    say(LogLevel::kError, event, fields);
  }
  void say(LogLevel level, std::string_view event, LogFields fields);

 private:
  DaemonLogSettings settings_;
  bool journal_;  // which wants a priority in front
  std::mutex writing_;
};

}  // namespace cotillion
