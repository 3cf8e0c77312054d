#include "tests/support/protocol/edge_driver.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cotillion::testing {
namespace {

constexpr Duration us(std::int64_t count) {
  return {count * 1'000'000};
}

enum Name : SourceName { kOfSource = 0, kOfEdge = 100, kOfIsland };

Seal seal_for(const World& world, SourceName name, BootId boot) {
  Key secret{};
  secret[0] = std::uint8_t(name);
  Seal seal = world.authenticated ? Seal(secret, world.spec.job.id, name) : Seal();
  seal.set_boot(boot);
  return seal;
}

}  // namespace

EdgeDriver::EdgeDriver(std::uint64_t seed) : random_(seed * 2 + 1) {
  const int jobs = chance(0.3) ? 2 : 1;
  for (int job = 0; job < jobs; ++job) make_job(job);
  for (std::size_t job = 0; job < worlds_.size(); ++job) make_streams(std::uint8_t(job));
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return a.when != b.when ? a.when < b.when : a.order < b.order;
  });
  std::vector<AggregationSpec> specs;
  for (const World& world : worlds_) specs.push_back(world.spec);
  checker_ = std::make_unique<EdgeChecker>(
      specs, [this](const AggregationSpec& spec) { return edge_seals(spec); });
}

const EdgeChecker& EdgeDriver::run() {
  Instant now{0};
  for (const Event& event : events_) {
    // The host is punctual, or late, or leaves it to the packets.
    while (punctual_ && checker_->edge().next_deadline() <= event.when && fine())
      checker_->on_time(checker_->edge().next_deadline());
    now = event.when;
    deliver(event);
    if (!fine()) return *checker_;
  }
  if (chance(0.5)) checker_->on_time(now + us(random_.between(0, 100'000)));
  checker_->flush(now + us(100'001));
  checker_->on_time(now + us(100'002));
  checker_->finish();
  return *checker_;
}

void EdgeDriver::make_job(int number) {
  World world;
  AggregationSpec& spec = world.spec;
  JobSpec& job = spec.job;
  job.id = JobId(number == 0 ? 1 : 700);
  job.element = Element(pick(1, 3));
  job.operation = chance(0.5) ? Operation::kSum : Operation::kWeightedSum;
  job.beats = int(chance(0.6) ? 1 : pick(2, 4));
  const std::int64_t chunks = chance(0.7) ? pick(1, 30) : pick(1, 200);
  const auto each = std::int64_t(elements_per_chunk(job));
  job.elements = std::uint64_t((chunks - 1) * each + pick(1, each));
  spec.grid = Grid(int(pick(-128, 127)));
  spec.slots = std::size_t(chance(0.5) ? pick(1, 8) : pick(1, 64));
  spec.resend_packets = std::size_t(pick(1, 100));
  spec.live_rounds = int(pick(1, 3));
  spec.members_max = int(chance(0.5) ? pick(2, 6) : pick(2, 64));
  spec.linger = us(chance(0.5) ? 0 : pick(1, 2000));
  spec.heartbeat = us(pick(100, 10'000));
  if (chance(0.1)) {
    spec.rate_max = {double(pick(1, 1000)) * 1'234'567.89};
    spec.burst = {pick(512, 4096)};
  }
  world.authenticated = chance(0.05);
  world.sources = int(chance(0.3) ? pick(1, 4) : pick(1, spec.members_max));
  world.boot.assign(std::size_t(world.sources), 0);
  worlds_.push_back(std::move(world));
  World& made = worlds_.back();
  for (SourceId source = 0; source < made.sources; ++source) {
    made.boot[source] = BootId(pick(2, 1 << 30)) << (chance(0.5) ? 0 : 30);
    made.seals.push_back(seal_for(made, kOfSource + SourceName(source), made.boot[source]));
  }
  made.island = seal_for(made, kOfIsland, 9);
}

AggregationSeals EdgeDriver::edge_seals(const AggregationSpec& spec) {
  const World& world = *std::find_if(worlds_.begin(), worlds_.end(),
                                     [&](const World& w) { return w.spec.job.id == spec.job.id; });
  AggregationSeals seals{seal_for(world, kOfEdge, 77), seal_for(world, kOfIsland, 0), {}};
  for (int source = 0; source < world.sources; ++source)
    seals.sources.push_back(seal_for(world, kOfSource + SourceName(source), 0));
  return seals;
}

RoundSpec EdgeDriver::make_round(const World& world, RoundId number, Instant start, Duration span) {
  const int members = int(pick(1, world.spec.members_max));
  RoundSpec round = equal_round(number, members, int(pick(-1, members - 1)));
  round.epoch = int(pick(0, 15));
  round.clique = int(chance(0.5) ? pick(0, 3) : pick(0, kCliquesMax - 1));
  if (chance(0.2)) round.expected &= random_.next();
  for (std::size_t bit = 0; bit < std::size_t(members); ++bit) {
    round.source[bit] =
        SourceId(chance(0.5) ? int(bit) % world.sources : int(pick(0, world.sources - 1)));
    if (world.spec.job.operation != Operation::kWeightedSum) continue;
    round.weight[bit] = std::uint32_t(chance(0.9) ? pick(1, 100) : pick(1, 1 << 20));
    round.coefficient[bit] = std::uint32_t(chance(0.5) ? 1 : pick(1, 20));
  }
  // From "all are late" to "none can be".
  const Duration first = us(chance(0.5) ? pick(0, 4000) : pick(3000, 8000)),
                 spread = {chance(0.2) ? 0 : pick(0, 2 * span.ps)};
  round.first_deadline = start + first;
  round.last_deadline = round.first_deadline + spread;
  return round;
}

void EdgeDriver::add(Event event) {
  event.order = std::uint32_t(events_.size());
  events_.push_back(event);
}

void EdgeDriver::make_streams(std::uint8_t job) {
  World& world = worlds_[job];
  const ChunkId chunks = chunk_count(world.spec.job);
  const Duration pace = us(pick(1, 20));
  const Duration span{pace.ps * chunks};
  // Fewer rounds of larger ones: a seed has some thousands of packets.
  const std::int64_t in_a_round = std::int64_t(chunks) * world.spec.members_max / 2 + 1;
  const std::int64_t rounds = std::clamp<std::int64_t>(2500 / in_a_round, 1, 8);
  RoundId number = RoundId(chance(0.2) ? pick(0, 1 << 30) : 1);
  Instant start{0};
  for (std::uint32_t index = 0; index < rounds; ++index) {
    world.rounds.push_back(make_round(world, number, start, span));
    const auto at = [&](std::int64_t from, std::int64_t to, What what, SourceId source) {
      const Instant when = start + us(pick(from, to));
      return Event{.when = when, .what = what, .job = job, .source = source, .round = index};
    };
    add(at(0, 0, What::kOpen, 0));
    if (chance(0.05)) add(at(0, 5000, What::kOpen, 0));
    const std::int64_t beat = chance(0.9) ? 0 : pick(1, 3000);
    for (SourceId source = kOwnIsland; source < world.sources; ++source) {
      Event heartbeat = at(beat, beat, What::kHeartbeat, source);
      if (chance(0.1) && source >= 0) add(heartbeat);  // of nobody
      heartbeat.mask = 1;
      if (!chance(0.03)) add(heartbeat);
      heartbeat.when = start + us(pick(0, 4000));
      heartbeat.damage = Damage::kLaterBoot;
      if (chance(0.02)) add(heartbeat);
      if (source >= 0) make_stream(job, index, source, start, pace);
    }
    for (std::int64_t i = pick(0, 10); i > 0; --i) add(at(0, 6000, What::kRequest, kOwnIsland));
    for (std::int64_t i = pick(0, 5); i > 0; --i) add(at(0, 6000, What::kTick, 0));
    number += RoundId(chance(0.9) ? 1 : pick(2, 5));
    start = start + us(pick(0, 2000)) + Duration{chance(0.3) ? 0 : span.ps};
  }
}

void EdgeDriver::make_stream(std::uint8_t job, std::uint32_t index, SourceId source, Instant start,
                             Duration pace) {
  const World& world = worlds_[job];
  const RoundSpec& round = world.rounds[index];
  ContributorMask carried = 0;
  for (int bit = 0; bit < round.members; ++bit)
    if (round.source[std::size_t(bit)] == source) carried |= ContributorMask(1) << unsigned(bit);
  carried &= round.expected;
  if (carried == 0) return;
  const Instant first = start + us(chance(0.5) ? pick(0, 300) : pick(0, 3000));
  const Duration jitter = us(pick(0, 200));
  const auto put = [&](Event event) {
    const Instant planned = event.when;
    if (chance(loss_)) return;
    do {
      event.when = planned + Duration{pick(0, jitter.ps)};
      if (chance(far_)) event.when = event.when + us(pick(0, 20'000));
      event.damage =
          chance(damage_) ? Damage(pick(1, std::int64_t(Damage::kCount) - 1)) : Damage::kNone;
      add(event);
    } while (chance(copies_));
  };
  for (ChunkId chunk = 0; chunk < chunk_count(world.spec.job); ++chunk) {
    Event event{.when = first + Duration{pace.ps * chunk},
                .job = job,
                .source = source,
                .round = index,
                .chunk = chunk};
    // As a chain would: the whole, or parts at random; now and then parts that overlap.
    for (ContributorMask left = carried; left != 0; left &= ~event.mask) {
      event.mask = chance(0.4) ? left : left & random_.next();
      if (event.mask == 0) event.mask = left & (~left + 1);
      if (chance(0.05)) event.mask |= carried & random_.next();
      event.type = chance(0.5) ? PacketType::kPartial : PacketType::kResult;
      if (std::has_single_bit(event.mask) && chance(0.9)) event.type = PacketType::kData;
      put(event);
    }
  }
  Event last{.when = first + Duration{pace.ps * chunk_count(world.spec.job)},
             .what = What::kEnd,
             .job = job,
             .source = source,
             .round = index,
             .mask = carried & (~carried + 1)};
  put(last);
  last.what = What::kGone;
  if (chance(0.1)) put(last);
}

}  // namespace cotillion::testing
