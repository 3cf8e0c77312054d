#include "train/exchange_clock.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "exchange/clock.hpp"
#include "job/roles.hpp"

namespace cotillion {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;          // ns
constexpr Duration kBegins{140'000'000'000'000};          // until round one is in play
constexpr std::int64_t kOverdue = 20'000 * kMillisecond;  // beyond a correction's planned time

void pause_ns(std::int64_t ns) {
  const timespec wait = timespec_of({ns * 1000});
  (void)::nanosleep(&wait, nullptr);
}

bool hears_nobody(const CorrectionAccount& account) {
  const std::span absences(account.absences.data(),
                           std::min<std::size_t>(account.absent, account.absences.size()));
  return account.members > 1 && absences.size() + 1 == account.members &&
         std::all_of(absences.begin(), absences.end(),
                     [&](const Absence& one) { return one.chunks == account.chunks; });
}

}  // namespace

ExchangeClock::ExchangeClock(ExchangeClient region, const PacketisedPlan& played,
                             const JobAssignment& assignment, IslandId island, int rounds)
    : region_(std::move(region)),
      clock_(played.recipe),
      assignment_(assignment),
      island_(island),
      rounds_(rounds),
      taken_(std::size_t(assignment.job().fragments)) {
  const RotationRecipe& rotation = rotation_of(played.recipe);
  if (looks_at_the_model(rotation)) merge_.emplace(rotation, assignment.job());
}

// Copies come before merges: pending corrections are also applied to the copy in the region.
// Only where a copy is made of what merges leave behind does it wait for its own fragment's.
Result<void> ExchangeClock::between(std::int64_t steps, Learner& learner) {
  if (steps > 0) region_.count_step();
  // The agent is ready when there is a first copy of everything.
  for (int f = 0; steps == 0 && f < region_.region().fragments(); ++f)
    if (auto laid = region_.offer_fragment(f,
                                           [&](std::uint64_t first, std::span<float> values) {
                                             learner.read(0, std::int64_t(first), values);
                                           });
        !laid)
      return laid;
  std::vector<DueExchange> later;
  for (const DueExchange& due : clock_.due_exchanges(island_, steps)) {
    if (due.round >= rounds_) continue;
    if (due.merges || (merge_ && !later.empty() && later.back().fragment == due.fragment))
      later.push_back(due);
    else if (auto offered = offer(due, learner); !offered)
      return offered;
  }
  for (const DueExchange& due : later)
    if (auto done = due.merges ? take(due, learner) : offer(due, learner); !done) return done;
  return {};
}

std::int64_t ExchangeClock::leaves(std::int64_t k, int fragment) const {
  const RoundAssignment part = assignment_.part(RoundId(k + 1), island_, {0});
  const JobSpec& job = assignment_.job();
  const Instant when = assignment_.settings().exchange == Exchange::kWhole
                           ? part.stream.start
                           : planned_departure(part.stream, sender_role(assignment_), job,
                                               first_chunk(job, fragment));
  return when.ps / 1000;
}

Result<void> ExchangeClock::offer(const DueExchange& due, Learner& learner) {
  const std::int64_t before = clock_.before(due.round, island_);
  const bool begun = region_.region().words().round.load() > 0;
  if (before >= 0 || begun) {
    if (auto known = learn_origin(); !known) return known;
    const std::int64_t next = leaves(due.round, due.fragment);
    if (before >= 0) {
      const std::int64_t left =
          std::max<std::int64_t>(0, origin_ns_ + next - wall_clock_now()) + kOverdue;
      auto copied = region_.wait_for_copy(due.fragment, RoundId(before + 1), {left * 1000});
      if (!copied) return copied;
    }
    const std::int64_t late = wall_clock_now() - (origin_ns_ + next);
    if (late > 0) {
      ++account_.late_copies;
      account_.latest_ns = std::max(account_.latest_ns, std::uint64_t(late));
    }
  }
  ++account_.copies;
  const bool ahead = clock_.copies_ahead(due.round, island_, due.fragment);
  return region_.offer_fragment(due.fragment, [&](std::uint64_t first, std::span<float> values) {
    learner.read(0, std::int64_t(first), values);
    if (merge_) merge_->to_laid(first, values, ahead);
  });
}

Result<void> ExchangeClock::take(const DueExchange& due, Learner& learner) {
  const auto round = RoundId(due.round + 1);
  if (auto known = learn_origin(); !known) return known;
  const std::int64_t ends = assignment_.over(round, {0}).ps / 1000;
  RoundId& taken = taken_[std::size_t(due.fragment)];
  while (taken < round) {
    const std::int64_t left =
        std::max<std::int64_t>(0, origin_ns_ + ends - wall_clock_now()) + kOverdue;
    auto correction = region_.wait_for(due.fragment, {left * 1000});
    if (!correction)
      return failure(fmt::format("fragment {} of round {}: {}", due.fragment, round,
                                 correction.error().message));
    merge(due, *correction, learner);
    taken = std::max(taken, correction->account.round);
    account_.absent += correction->account.absent;
    if (correction->account.rounds > 1) ++account_.together;
    ++account_.corrections;
    region_.done(*correction);
  }
  COTILLION_CHECK(taken >= round);
  return {};
}

void ExchangeClock::merge(const DueExchange& due, const Correction& correction, Learner& learner) {
  const auto first = std::int64_t(correction.first);
  if (!merge_) return learner.merge(0, first, double(correction.account.scale), correction.values);
  const bool waited = clock_.copies_ahead(clock_.next(due.round, island_), island_, due.fragment);
  std::vector<float> x(correction.values.size());
  learner.read(0, first, x);
  merge_->apply(correction.first, x, correction.values,
                {.everyone = clock_.round(due.round).everyone,
                 .waited = waited,
                 .alone = hears_nobody(correction.account)});
  learner.merge(0, first, 0, x);
}

// The round in play and its start are two words: what was read is right when it did not change for
// a while.
Result<void> ExchangeClock::learn_origin() {
  const RegionHeader& words = region_.region().words();
  const std::int64_t began = wall_clock_now();
  while (origin_ns_ == 0) {
    const RoundId round = words.round.load();
    const std::int64_t begins = words.begins_ns.load();
    pause_ns(2 * kMillisecond);
    if (round > 0 && words.round.load() == round && words.begins_ns.load() == begins) {
      origin_ns_ = begins - assignment_.start_of(round, {0}).ps / 1000;
      break;
    }
    if (auto good = region_.check(); !good) return good;
    if (region_.ended()) return failure("the job has ended: " + words.reason.read());
    if (wall_clock_now() - began > kBegins.ps / 1000) return failure("round one does not begin");
  }
  return {};
}

}  // namespace cotillion
