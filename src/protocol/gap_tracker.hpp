// Which numbers of a stream are missing, and when to ask for each of them again. Numbers are
// sequences of a hop (modulo 2³²) or chunks of a round. A gap is asked for at once, then after
// waits that double, until it is filled, declared gone, or given up. The first wait is what answers
// have lately taken: they stand in the same queue as everything else, and asking again before they
// can have come makes the queue longer. Everything is bounded by the window, which is as long as
// what the other side keeps.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace cotillion {

inline constexpr int kRequestsMax =
    20;  // waits double: the last would be half a million round trips

struct GapSettings {
  std::uint32_t window = 1024;  // numbers; taken up to a power of two, so that 2³² is a multiple
  Duration hold{0};             // before the first request, for reordering to settle
  // Before the second request, at least; each later wait is twice as long.
  Duration round_trip{1'000'000'000};
  int requests_max = 8;  // then silence
};

class GapTracker {
 public:
  explicit GapTracker(const GapSettings& settings);

  // The stream starts here; everything before is forgotten.
  void reset(std::uint32_t next);
  // All numbers below `next` have been sent by now.
  void expect(Instant now, std::uint32_t next);
  // This one has come.
  void arrive(Instant now, std::uint32_t number);
  // It has come because it was asked for, which tells how long answers take. What was only late, or
  // came out of order, tells nothing.
  void answer(Instant now, std::uint32_t number);
  // No use waiting for this one, or for any below.
  void give_up(std::uint32_t number);
  void give_up_below(std::uint32_t number);

  [[nodiscard]] Instant next_deadline() const;
  // Calls ask(number) for each one whose time has come, those asked least often first.
  template <class Ask>
  void due(Instant now, Ask ask) {
    for (std::uint32_t attempt = 0; attempt < attempts_; ++attempt)
      for (std::uint32_t entry = next_[head(attempt)];
           entry != head(attempt) && due_at(entry, attempt) <= now; entry = next_[head(attempt)]) {
        const std::uint32_t number = number_[entry];
        ask(number);
        again(now, entry, attempt + 1);
      }
  }

  [[nodiscard]] std::uint32_t next() const { return upcoming_; }
  // The lowest number that may still be missing.
  [[nodiscard]] std::uint32_t oldest() const;
  [[nodiscard]] std::uint32_t missing() const { return missing_; }
  [[nodiscard]] std::uint64_t given_up() const { return given_up_; }
  [[nodiscard]] static std::size_t bytes(const GapSettings& settings);

 private:
  // Lists are rings through a head that lies behind the window's entries.
  [[nodiscard]] std::uint32_t head(std::uint32_t attempt) const { return window_ + attempt; }
  [[nodiscard]] std::uint32_t entry_of(std::uint32_t number) const {
    return number & (window_ - 1);
  }
  [[nodiscard]] bool is_missing(std::uint32_t number) const;
  // After so many requests. In one list the wait is the same for all, so lists stay in order of
  // time. Answers come in the order of requests: one that is overtaken by a later one is lost.
  [[nodiscard]] Instant due_at(std::uint32_t entry, std::uint32_t attempt) const {
    const Instant since = since_[entry];
    if (attempt == 0 || since + hold_ < answered_) return since + hold_;
    return since + Duration{answer_.ps << (attempt - 1)};
  }
  void learn(Duration answer);
  void open(Instant now, std::uint32_t number);
  void close(std::uint32_t entry);
  void again(Instant now, std::uint32_t entry, std::uint32_t attempt);
  void link(std::uint32_t entry, std::uint32_t attempt);
  void unlink(std::uint32_t entry);

  std::uint32_t window_;
  std::uint32_t attempts_;
  Duration hold_;
  Duration round_trip_;
  std::uint32_t upcoming_ = 0;  // the lowest number not yet heard of
  std::uint32_t missing_ = 0;
  std::uint64_t given_up_ = 0;
  std::vector<std::uint32_t> next_,
      previous_;  // of entries and heads; an entry alone is not missing
  std::vector<std::uint32_t> number_;
  std::vector<std::uint8_t> attempt_;
  std::vector<Instant> since_;  // it was missed, or asked for last
  // How long an answer may take: the mean of those that came at the first request and four times
  // their mean deviation, as TCP reckons (RFC 6298), and never less than a round trip.
  Duration answer_, mean_{0}, deviation_{0};
  Instant answered_{0};  // the latest request to which an answer came
};

}  // namespace cotillion
