#include "tests/swarm/swarm_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/random.hpp"

namespace cotillion::testing {
namespace {

constexpr double kF32 = 0x1p-24;    // half a unit in the last place, relative
constexpr double kBf16 = 0x1p-8;    // the same of bf16
constexpr double kTiny = 0x1p-120;  // below the smallest normal numbers rounding is absolute

std::uint64_t seed_of(std::uint64_t seed, IslandId island, RoundId round, int fragment) {
  Random mixed(seed);
  for (const auto part : {std::uint64_t(island), std::uint64_t(round), std::uint64_t(fragment)})
    mixed = Random(mixed.next() + part);
  return mixed.next();
}

}  // namespace

void Tally::add(const Tally& other) {
  cases += other.cases;
  packets += other.packets;
  merges += other.merges;
  averages += other.averages;
  whole += other.whole;
  partial += other.partial;
  late += other.late;
  absences += other.absences;
  owed += other.owed;
  alike += other.alike;
  deaths += other.deaths;
  restarts += other.restarts;
  relaxed += other.relaxed;
  overlapped += other.overlapped;
  thrice += other.thrice;
  refused += other.refused;
  counted += other.counted;
}

std::string to_text(const Tally& tally) {
  return fmt::format(
      "{} cases: {} packets over lanes, {} merges, {} averages computed again ({} whole, {} "
      "partial, "
      "{} late), {} absences, {} contributions owed, {} averages alike to the bit, {} deaths, {} "
      "restarts; {} plans relaxed, {} with rounds that overlap ({} of them with three at once), {} "
      "refused, {} of known staleness",
      tally.cases, tally.packets, tally.merges, tally.averages, tally.whole, tally.partial,
      tally.late, tally.absences, tally.owed, tally.alike, tally.deaths, tally.restarts,
      tally.relaxed, tally.overlapped, tally.thrice, tally.refused, tally.counted);
}

SwarmChecks::SwarmChecks(const SwarmCase& swarm, const Modelled& network,
                         const JobAssignment& assignment)
    : swarm_(swarm),
      network_(network),
      assignment_(assignment),
      job_(assignment.job()),
      timing_(network, assignment),
      records_(std::size_t(swarm.rounds)),
      models_(islands()) {
  for (RoundId round = 1; round <= RoundId(swarm.rounds); ++round)
    for (IslandId island = 0; island < islands(); ++island) {
      Record& here = records_[round - 1].emplace_back();
      here.part = assignment.part(round, island, Instant{0});
      here.sent.resize(chunk_count(job_));
      here.average.resize(chunk_count(job_));
      here.merged.resize(chunk_count(job_));
      here.masks.resize(chunk_count(job_));
      here.listed.resize(chunk_count(job_));
      here.fragments.resize(std::size_t(job_.fragments));
    }
}

void SwarmChecks::watch(SimulationSettings& settings) {
  settings.fill = [this](IslandId island, std::vector<float>& model) { fill(island, model); };
  settings.observers = {this};
}

void SwarmChecks::fail(const char* invariant, const std::string& what) {
  if (wrong_.invariant.empty()) wrong_ = {invariant, what};
}

std::string SwarmChecks::name(IslandId island, RoundId round) const {
  return fmt::format("{} in round {}", network_.plan.map.islands[island].name, round);
}

// Numbers of all signs and magnitudes; now and then a chunk of zeros, which travels without
// payload.
void SwarmChecks::fill(IslandId island, std::vector<float>& model) {
  Random random(seed_of(swarm_.seed, island, 0, 0));
  bool zeros = false;
  for (std::size_t e = 0; e < model.size(); ++e) {
    if (e % elements_per_chunk(job_) == 0) zeros = random.unit() < 0.1;
    model[e] = zeros ? 0.0f : float((random.unit() * 2 - 1) * double(1 + island * 7));
  }
  models_[island] = model;
}

// Every step learns something; the shadow learns the same.
void SwarmChecks::on_step(SimulatedIsland& simulated, std::uint64_t step) {
  const IslandId island = simulated.id();
  Random random(seed_of(swarm_.seed, island, 0, int(step)));
  std::vector<float>& model = simulated.model();
  std::vector<float>& shadow = models_[island];
  if (std::memcmp(model.data(), shadow.data(), model.size() * sizeof(float)) != 0)
    fail("models hold what was merged", fmt::format("{} at step {}", island, step));
  for (std::size_t e = 0; e < model.size(); ++e) {
    model[e] += float(random.unit() - 0.5);
    shadow[e] = model[e];
  }
}

double SwarmChecks::on_the_wire(float value, int members) const {
  if (job_.element == Element::kF32) return value;
  if (job_.element == Element::kI32) {
    const double limit = grid_limit(std::uint32_t(members));
    return std::clamp(std::nearbyint(std::ldexp(double(value), -swarm_.exponent)), -limit, limit);
  }
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits = (bits + 0x7fffu + (bits >> 16u & 1u)) & 0xffff0000u;
  return std::bit_cast<float>(bits);
}

void SwarmChecks::on_copied(SimulatedIsland& simulated, RoundId round, std::uint64_t first,
                            std::span<const float> values) {
  const IslandId island = simulated.id();
  Record& here = records_[round - 1][island];
  const auto chunk = ChunkId(first / elements_per_chunk(job_));
  if (!here.part.sends || !here.sent[chunk].empty())
    fail("copied once, by whoever sends", fmt::format("{}, chunk {}", name(island, round), chunk));
  const std::vector<float>& model = models_[island];
  if (std::memcmp(values.data(), model.data() + first, values.size_bytes()) != 0)
    fail("models hold what was merged",
         fmt::format("{}, chunk {}: its copy is not of the model as it should be",
                     name(island, round), chunk));
  for (const float value : values)
    here.sent[chunk].push_back(on_the_wire(value, here.part.spec.members));
  // Whole: what the last round brought is in before the next copy is made.
  if (swarm_.exchange == Exchange::kStreamed || round == 1 || timing_.off_beat(island)) return;
  const Record& before = record(round - 1, island);
  if (before.part.sends && !before.fragments.front() && !timing_.dead_in(round - 1, island))
    fail("merged before the next copy", name(island, round));
}

// In f32 the n′ contributions of others are added in n′ − 1 additions, in whatever order and
// grouping, each of which is off by at most 2⁻²⁴ of a partial sum, hence of the sum of magnitudes.
// In bf16 every contribution is in one emitted sum besides, which is off by at most 2⁻⁸ of itself.
// What follows is done in doubles. Sums of integers are exact.
SwarmChecks::Values SwarmChecks::average_of(const Record& here, RoundId round, ChunkId chunk,
                                            ContributorMask present, Values& bound) const {
  const std::size_t count = elements_in(job_, chunk);
  const double members = here.part.spec.members, there = 1 + std::popcount(present);
  const bool fills = swarm_.missing == Missing::kOwnForMissing;
  const double scale = std::ldexp(1.0, swarm_.exponent);
  Values mean(count), others(count), magnitude(count);
  for (ContributorMask left = present; left != 0; left &= left - 1) {
    const IslandId island = here.part.clique[std::size_t(std::countr_zero(left))];
    const Values& sent = record(round, island).sent[chunk];
    for (std::size_t e = 0; e < count; ++e) {
      others[e] += sent[e];
      magnitude[e] += std::fabs(sent[e]);
    }
  }
  bound.assign(count, 0.0);
  const double each = there * kF32 + (job_.element == Element::kBf16 ? kBf16 * (1 + 1e-5) : 0);
  for (std::size_t e = 0; e < count; ++e) {
    const double own = here.sent[chunk][e];
    const double total = others[e] + own;
    mean[e] = fills ? (total + (members - there) * own) / members : total / there;
    if (present == 0) mean[e] = own;
    mean[e] *= scale;
    if (job_.element == Element::kI32 || present == 0) continue;
    bound[e] =
        each * magnitude[e] / (fills ? members : there) + 0x1p-50 * std::fabs(mean[e]) + kTiny;
  }
  return mean;
}

void SwarmChecks::check_average(SimulatedIsland& simulated, IslandId island, RoundId round,
                                ChunkId chunk, ContributorMask present, Values& average) {
  const Record& here = record(round, island);
  const auto at = [&] { return fmt::format("{}, chunk {}", name(island, round), chunk); };
  if ((present & ~here.part.spec.expected) != 0) return fail("contributors are members", at());
  for (ContributorMask left = present; left != 0; left &= left - 1) {
    const IslandId from = here.part.clique[std::size_t(std::countr_zero(left))];
    if (record(round, from).sent[chunk].empty() || !timing_.can_have_left(round, from, chunk))
      return fail("contributors have sent", fmt::format("{}: {} has not", at(), name(from, round)));
  }
  average.resize(elements_in(job_, chunk));
  simulated.receiver().average(round, chunk, average);
  Values bound;
  const Values right = average_of(here, round, chunk, present, bound);
  ++tally_.averages;
  for (std::size_t e = 0; e < average.size(); ++e)
    if (!(std::fabs(average[e] - right[e]) <= bound[e]))
      return fail("averages are those of their contributors",
                  fmt::format("{}, element {}: {} and should be {}, give or take {:.3g}", at(), e,
                              average[e], right[e], bound[e]));
}

// Whoever keeps the plan's time merges a fragment before it copies it again, whatever is missing.
void SwarmChecks::check_order(RoundId round, IslandId island, int fragment) {
  if (timing_.off_beat(island)) return;
  for (std::size_t later = round; later < records_.size(); ++later)
    if (!records_[later][island].sent[first_chunk(job_, fragment)].empty())
      fail("merged before the next copy", fmt::format("{}, fragment {}: copied in round {} already",
                                                      name(island, round), fragment, later + 1));
}

void SwarmChecks::on_merge_due(SimulatedIsland& simulated, RoundId round, int fragment) {
  const IslandId island = simulated.id();
  Record& here = records_[round - 1][island];
  std::vector<float>& model = simulated.model();
  std::vector<float>& shadow = models_[island];
  if (here.fragments[std::size_t(fragment)] || !here.part.sends)
    fail("merged once", fmt::format("{}, fragment {}", name(island, round), fragment));
  here.fragments[std::size_t(fragment)] = true;
  ++tally_.merges;
  check_order(round, island, fragment);
  const auto masks = simulated.receiver().contributors(round);
  if (masks.size() != chunk_count(job_)) return fail("merged while live", name(island, round));
  Random random(seed_of(swarm_.seed, island, round, fragment));
  for (ChunkId chunk = first_chunk(job_, fragment); chunk < first_chunk(job_, fragment + 1);
       ++chunk) {
    if (here.sent[chunk].empty())
      return fail("merged after its copy", fmt::format("{}, chunk {}", name(island, round), chunk));
    here.merged[chunk] = here.masks[chunk] = masks[chunk];
    (masks[chunk] == here.part.spec.expected ? tally_.whole : tally_.partial) += 1;
    check_average(simulated, island, round, chunk, masks[chunk], here.average[chunk]);
    if (!wrong_.invariant.empty()) return;
    const std::uint64_t first = first_element(job_, chunk);
    const double scale = std::ldexp(1.0, swarm_.exponent);
    for (std::size_t e = 0; e < elements_in(job_, chunk); ++e) {
      float& x = model[first + e];
      if (std::memcmp(&x, &shadow[first + e], sizeof x) != 0)
        return fail("models hold what was merged",
                    fmt::format("{}, chunk {}, element {}: {} and should be {}",
                                name(island, round), chunk, e, x, shadow[first + e]));
      if (random.unit() < 0.9) x += float(random.unit() * 2 - 1);  // it learned meanwhile
      shadow[first + e] = float(x + (here.average[chunk][e] - here.sent[chunk][e] * scale));
    }
  }
}

void SwarmChecks::on_late_merged(SimulatedIsland& simulated, RoundId round, int fragment) {
  const IslandId island = simulated.id();
  Record& here = records_[round - 1][island];
  const auto masks = simulated.receiver().contributors(round);
  if (masks.empty()) return;
  if (!here.fragments[std::size_t(fragment)])
    return fail("late ones come after the merge", name(island, round));
  for (ChunkId chunk = first_chunk(job_, fragment); chunk < first_chunk(job_, fragment + 1);
       ++chunk) {
    if (masks[chunk] == here.masks[chunk]) continue;
    if ((here.masks[chunk] & ~masks[chunk]) != 0)
      return fail("contributors stay", fmt::format("{}, chunk {}", name(island, round), chunk));
    here.masks[chunk] = masks[chunk];
    ++tally_.late;
    const Values before = here.average[chunk];
    check_average(simulated, island, round, chunk, masks[chunk], here.average[chunk]);
    const std::uint64_t first = first_element(job_, chunk);
    for (std::size_t e = 0; e < before.size(); ++e) {
      float& x = models_[island][first + e];
      x = float(x + (here.average[chunk][e] - before[e]));
    }
  }
}

void SwarmChecks::on_round_closed(Instant now, SimulatedIsland& simulated, RoundId round,
                                  std::span<const Absence> absences) {
  const IslandId island = simulated.id();
  const Duration at = now - kOrigin;
  Record& here = records_[round - 1][island];
  if (here.closed) return fail("one account of a round", name(island, round));
  here.closed = true;
  here.absences.assign(absences.begin(), absences.end());
  if (timing_.dead_at(island, double(at.ps))) fail("the dead are silent", name(island, round));
  if (double(at.ps) > timing_.closes_by(round, island))
    fail("rounds end by their deadline",
         fmt::format("{} at {} and not by {}", name(island, round), to_text(at),
                     to_text(RealDuration::from_ps(timing_.closes_by(round, island)))));
  const auto masks = simulated.receiver().contributors(round);
  std::copy(masks.begin(), masks.end(), here.listed.begin());
  std::size_t listed = 0;
  for (int bit = 0; bit < here.part.spec.members; ++bit) {
    Absence absence{bit, 0, 0};
    for (ChunkId chunk = chunk_count(job_); chunk-- > 0;)
      if (((here.part.spec.expected & ~masks[chunk]) >> unsigned(bit) & 1) != 0) {
        ++absence.chunks;
        absence.first_chunk = chunk;
      }
    if (absence.chunks == 0) continue;
    ++tally_.absences;
    const auto same = [&](const Absence& other) {
      return other.contributor == absence.contributor && other.chunks == absence.chunks &&
             other.first_chunk == absence.first_chunk;
    };
    if (listed >= absences.size() || !same(absences[listed]))
      return fail("absences are what is missing",
                  fmt::format("{}: member {} in {} chunks from {} on", name(island, round), bit,
                              absence.chunks, absence.first_chunk));
    ++listed;
  }
  if (listed != absences.size())
    fail("absences are what is missing", name(island, round) + ": one that is none");
}

}  // namespace cotillion::testing
