#include "daemon/daemon_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "base/text.hpp"

namespace cotillion {
namespace {

using ::testing::StartsWith;

constexpr std::int64_t kNoon = 1'772'366'400'123'456'789;  // 2026-03-01T12:00:00.123456789Z

DaemonLogSettings settings_of(LogForm form) {
  return {.daemon = "edge", .island = "TYO", .form = form};
}
std::string logfmt(std::string_view event, LogFields fields) {
  return log_line(settings_of(LogForm::kLogfmt), LogLevel::kInfo, kNoon, event, fields);
}
nlohmann::json json_of(std::string_view event, LogFields fields) {
  return nlohmann::json::parse(
      log_line(settings_of(LogForm::kJson), LogLevel::kWarn, kNoon, event, fields));
}

TEST(DaemonLog, ALineSaysWhenHowSeriousWhoWhatAndWhatMore) {
  EXPECT_EQ(logfmt("round closed", {{"round", 3}, {"missing", 0u}, {"share", 0.5}, {"all", true}}),
            "time=2026-03-01T12:00:00.123456Z level=info daemon=edge island=TYO "
            "event=\"round closed\" round=3 missing=0 share=0.5 all=true");
  EXPECT_EQ(log_line({.daemon = "coordinator"}, LogLevel::kError, kNoon, "gone", {}),
            "time=2026-03-01T12:00:00.123456Z level=error daemon=coordinator event=gone");
}

TEST(DaemonLog, JsonKeepsTypes) {
  const auto line = json_of("lost", {{"round", -1},
                                     {"bytes", std::numeric_limits<std::uint64_t>::max()},
                                     {"seconds", 0.1},
                                     {"nothing", std::nan("")},
                                     {"whole", false},
                                     {"who", "edge of TYO"}});
  EXPECT_EQ(line["level"], "warn");
  EXPECT_EQ(line["event"], "lost");
  EXPECT_EQ(line["round"], -1);
  EXPECT_EQ(line["bytes"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(line["seconds"], 0.1);
  EXPECT_TRUE(line["nothing"].is_null());
  EXPECT_EQ(line["whole"], false);
  EXPECT_EQ(line["who"], "edge of TYO");
}

TEST(DaemonLog, ValuesAreQuotedWhereAReaderWouldStumble) {
  EXPECT_THAT(logfmt("e", {{"a", ""}, {"b", "x=y"}, {"c", "say \"hi\""}, {"d", "C:\\"}}),
              ::testing::EndsWith(R"(a="" b="x=y" c="say \"hi\"" d="C:\\")"));
  EXPECT_THAT(logfmt("e", {{"a", "Zürich"}}), ::testing::EndsWith(" a=Zürich"));
}

TEST(DaemonLog, AHostileNameStaysInItsValue) {
  const std::string name = "A\nlevel=error\x1b[2J\xff\u202e";
  EXPECT_THAT(logfmt("joined", {{"name", name}}),
              ::testing::EndsWith(R"(name="A\nlevel=error\u001b[2J\ufffd\ufffd\ufffd\ufffd")"));
  EXPECT_EQ(json_of("joined", {{"name", name}})["name"],
            "A\nlevel=error\x1b[2J\ufffd\ufffd\ufffd\ufffd");
}

TEST(DaemonLog, AnyBytesMakeOnePlainLineThatJsonCanRead) {
  EXPECT_TRUE(rc::check("a line is plain, JSON is JSON", [](const std::string& text) {
    RC_ASSERT(is_plain(logfmt(text, {{"value", text}})));
    const auto line = json_of(text, {{"value", text}});
    RC_ASSERT(line["value"].is_string());
    if (is_plain(text)) RC_ASSERT(line["value"] == text);
  }));
}

TEST(DaemonLog, AVeryLongValueIsCut) {
  const std::string long_text(100'000, 'x');
  EXPECT_LT(logfmt("e", {{"a", long_text}}).size(), 2000u);
  EXPECT_LT(json_of("e", {{"a", long_text}})["a"].get<std::string>().size(), 2000u);
}

TEST(DaemonLog, ATerminalGetsWords) {
  const DaemonLogSettings words = settings_of(LogForm::kWords);
  EXPECT_EQ(log_line(words, LogLevel::kInfo, kNoon, "round closed", {{"round", 3}}),
            "round closed round=3");
  EXPECT_EQ(log_line(words, LogLevel::kWarn, kNoon, "lost\x1b[2J", {}), "warn: lost?[2J");
}

TEST(DaemonLog, FormsHaveNames) {
  EXPECT_EQ(log_form_named("logfmt"), LogForm::kLogfmt);
  EXPECT_EQ(log_form_named("json"), LogForm::kJson);
  EXPECT_EQ(log_form_named("xml"), std::nullopt);
  EXPECT_EQ(log_form_named("", -1), LogForm::kLogfmt);  // no terminal
}

class DaemonLogPipe : public ::testing::Test {
 protected:
  DaemonLogPipe() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  ~DaemonLogPipe() override { ::close(ends_[0]); }
  // Ends the writing side.
  std::vector<std::string> lines() {
    ::close(ends_[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(ends_[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, std::size_t(got));
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  int ends_[2] = {-1, -1};
};

TEST_F(DaemonLogPipe, LinesOfManyThreadsDoNotMix) {
  std::vector<std::string> heard;
  std::thread listener;
  {
    DaemonLog log({.daemon = "edge", .form = LogForm::kJson, .fd = ends_[1]});
    std::vector<std::thread> threads;
    listener = std::thread([&] {
      // As many as are written; the writing side is closed after it.
      std::string text;
      char buffer[512];
      while (std::count(text.begin(), text.end(), '\n') < 400) {
        const ssize_t got = ::read(ends_[0], buffer, sizeof buffer);
        if (got <= 0) break;
        text.append(buffer, std::size_t(got));
      }
      std::istringstream stream(text);
      for (std::string line; std::getline(stream, line);) heard.push_back(line);
    });
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&log, thread] {
        for (int i = 0; i < 100; ++i)
          log.info("said", {{"thread", thread}, {"text", std::string(900, 'x')}});
      });
    for (std::thread& thread : threads) thread.join();
    listener.join();
  }
  ASSERT_EQ(heard.size(), 400u);
  for (const std::string& line : heard)
    EXPECT_TRUE(nlohmann::json::accept(line)) << line.substr(0, 200);
  lines();
}

TEST_F(DaemonLogPipe, WhatIsBelowTheLeastLevelIsNotSaid) {
  DaemonLog log({.daemon = "edge", .least = LogLevel::kWarn, .fd = ends_[1]});
  log.debug("a");
  log.info("b");
  log.warn("c");
  log.error("d");
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(DaemonLogPipe, TheJournalIsToldPriorities) {
  struct stat found {};
  ASSERT_EQ(::fstat(ends_[1], &found), 0);
  const std::string stream = fmt::format("{}:{}", found.st_dev, found.st_ino);
  EXPECT_TRUE(is_journal(ends_[1], stream.c_str()));
  EXPECT_FALSE(is_journal(ends_[1], nullptr));
  EXPECT_FALSE(is_journal(ends_[1], "1:2"));
  EXPECT_FALSE(is_journal(-1, stream.c_str()));
  ASSERT_EQ(::setenv("JOURNAL_STREAM", stream.c_str(), 1), 0);
  DaemonLog log({.daemon = "edge", .fd = ends_[1]});
  ASSERT_EQ(::unsetenv("JOURNAL_STREAM"), 0);
  log.info("a");
  log.error("b");
  const auto said = lines();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_THAT(said[0], StartsWith("<6>time="));
  EXPECT_THAT(said[1], StartsWith("<3>time="));
}

}  // namespace
}  // namespace cotillion
