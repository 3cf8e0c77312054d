// What must hold of an outcome, and of all that was noted on the way to it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "job/outcome_file.hpp"
#include "tests/swarm/swarm_checks.hpp"

namespace cotillion::testing {

void SwarmChecks::conclude(const Outcome& outcome) {
  tally_.cases = 1;
  tally_.packets = outcome.hops;
  for (const SwarmFault& fault : swarm_.faults) {
    tally_.deaths += fault.kind == FaultKind::kDead ? 1 : 0;
    tally_.restarts += fault.kind == FaultKind::kRestart ? 1 : 0;
  }
  if (outcome.rounds.size() != std::size_t(swarm_.rounds))
    return fail("every round is played", fmt::format("{} were", outcome.rounds.size()));
  timing_.note_queues(outcome);
  check_rounds(outcome);
  check_edges(outcome);
  check_islands(outcome);
  note_relaxations();
  if (swarm_.faults.empty() && !swarm_.memory) check_nothing_wrong(outcome);
}

// Plans of the planner keep to lanes, edges and the order of things. Only the protocol may hold
// fewer rounds at once than they have.
void SwarmChecks::note_relaxations() {
  tally_.relaxed += swarm_.relax.any() ? 1 : 0;
  tally_.overlapped += network_.plan.plan.overlapped ? 1 : 0;
  tally_.thrice += network_.plan.plan.overlapped && assignment_.live_rounds() > 2 ? 1 : 0;
  tally_.refused += swarm_.refused.empty() ? 0 : 1;
  if (!swarm_.refused.empty() && swarm_.refused.find("nobody keeps more") == std::string::npos)
    fail("plans can be played", swarm_.refused);
}

void SwarmChecks::check_rounds(const Outcome& outcome) {
  for (const RoundOutcome& round : outcome.rounds) {
    check_accounts(round);
    check_mixing(round);
    check_times(round);
    for (IslandId island = 0; island < islands(); ++island) check_owed(round.round, island);
    for (const CliqueOutcome& clique : round.cliques) check_bits(round.round, clique.islands);
  }
}

// Expects contributions, and said nothing of them: it was dead.
bool SwarmChecks::is_silent(const Record& here) {
  return here.part.spec.expected != 0 && !here.closed;
}

// Everyone alive gave an account, and the outcome repeats it.
void SwarmChecks::check_accounts(const RoundOutcome& round) {
  std::size_t told = 0;
  for (IslandId island = 0; island < islands(); ++island) {
    const Record& here = record(round.round, island);
    if (const std::string hasty = timing_.hasty_deadline(round.round, island); !hasty.empty())
      fail("deadlines leave the time they promise", name(island, round.round) + ": " + hasty);
    const bool alive = !timing_.dead_in(round.round, island);
    if (alive && !here.closed) fail("everyone alive gives an account", name(island, round.round));
    const bool merged = std::all_of(here.fragments.begin(), here.fragments.end(),
                                    [](bool fragment) { return fragment; });
    if (alive && here.part.sends && !merged && !timing_.off_beat(island))
      fail("everyone alive merges", name(island, round.round));
    told += here.absences.size() + (is_silent(here) ? 1 : 0);
    if (is_silent(here) && std::none_of(round.absences.begin(), round.absences.end(),
                                        [&](const AbsenceOutcome& absence) {
                                          return absence.receiver == island &&
                                                 absence.contributor == island;
                                        }))
      fail("outcomes name who gave no account", name(island, round.round));
    for (const Absence& absence : here.absences) {
      const IslandId from = here.part.clique[absence.contributor];
      const auto same = [&](const AbsenceOutcome& other) {
        return other.receiver == island && other.contributor == from &&
               other.chunks == absence.chunks && other.first_chunk == absence.first_chunk;
      };
      if (std::count_if(round.absences.begin(), round.absences.end(), same) != 1)
        fail("outcomes name what is missing", name(island, round.round));
    }
  }
  if (told != round.absences.size())
    fail("outcomes name what is missing", fmt::format("round {} names too many", round.round));
  for (const CliqueOutcome& clique : round.cliques) {
    const bool complete =
        std::all_of(clique.islands.begin(), clique.islands.end(), [&](IslandId island) {
          const Record& here = record(round.round, island);
          return here.absences.empty() && !is_silent(here);
        });
    if (complete != clique.complete)
      fail("a clique is complete when nobody misses anything",
           fmt::format("round {}, {} and others", round.round, clique.islands.front()));
  }
}

void SwarmChecks::check_owed(RoundId round, IslandId island) {
  const Record& here = record(round, island);
  if (!here.part.sends) return;
  const auto owed = timing_.owed(round, island);
  for (ChunkId chunk = 0; chunk < owed.size(); ++chunk) {
    tally_.owed += std::uint64_t(std::popcount(owed[chunk].at_merge));
    const bool merged = here.fragments[std::size_t(fragment_of(job_, chunk))];
    const ContributorMask lacking = owed[chunk].at_merge & ~here.merged[chunk];
    const ContributorMask unlisted = owed[chunk].at_close & ~here.listed[chunk];
    if (merged && lacking != 0)
      return fail("what came in time is merged",
                  fmt::format("{}, chunk {} lacks {:#x}", name(island, round), chunk, lacking));
    if (here.closed && unlisted != 0)
      return fail("what came in time is not missing",
                  fmt::format("{}, chunk {} lacks {:#x}", name(island, round), chunk, unlisted));
  }
}

// On the grid whoever lacks nothing has the same average, to the bit.
void SwarmChecks::check_bits(RoundId round, const std::vector<IslandId>& clique) {
  if (job_.element != Element::kI32) return;
  for (ChunkId chunk = 0; chunk < chunk_count(job_); ++chunk) {
    const Values* first = nullptr;
    for (const IslandId island : clique) {
      const Record& here = record(round, island);
      const Values& average = here.average[chunk];
      if (average.empty() || here.masks[chunk] != here.part.spec.expected) continue;
      if (first != nullptr) {
        ++tally_.alike;
        if (std::memcmp(first->data(), average.data(), average.size() * sizeof(double)) != 0)
          return fail("members of a clique get the same bits",
                      fmt::format("{}, chunk {}", name(island, round), chunk));
      }
      first = &average;
    }
  }
}

void SwarmChecks::check_mixing(const RoundOutcome& round) {
  const auto n = std::size_t(islands());
  if (round.mixing.size() != n * n)
    return fail("mixing has a row for everyone", fmt::format("round {}", round.round));
  const double share = 1.0 / double(chunk_count(job_));
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = round.mixing.begin() + std::ptrdiff_t(i * n);
    if (std::fabs(std::accumulate(row, row + std::ptrdiff_t(n), 0.0) - 1) > 1e-9)
      return fail("rows of mixing add up to one", name(IslandId(i), round.round));
    const Record& here = record(round.round, IslandId(i));
    const bool merged = std::all_of(here.fragments.begin(), here.fragments.end(),
                                    [](bool fragment) { return fragment; });
    if (here.part.sends && !merged) continue;  // dead, or out of time
    std::vector<double> right(n);
    for (ChunkId chunk = 0; chunk < chunk_count(job_); ++chunk) {
      const ContributorMask mask = here.part.sends ? here.masks[chunk] : 0;
      const double parts = swarm_.missing == Missing::kOwnForMissing ? here.part.spec.members
                                                                     : 1 + std::popcount(mask);
      right[i] += share * (1 - std::popcount(mask) / parts);
      for (ContributorMask left = mask; left != 0; left &= left - 1)
        right[std::size_t(here.part.clique[std::size_t(std::countr_zero(left))])] += share / parts;
    }
    for (std::size_t j = 0; j < n; ++j)
      if (std::fabs(row[std::ptrdiff_t(j)] - right[j]) > 1e-9)
        return fail("mixing is what was merged",
                    fmt::format("{} from {}: {} and should be {}", name(IslandId(i), round.round),
                                j, row[std::ptrdiff_t(j)], right[j]));
  }
}

// Whatever is lost, a round takes no longer than its deadlines allow.
void SwarmChecks::check_times(const RoundOutcome& round) {
  const double start = double(assignment_.start_of(round.round, Instant{0}).ps);
  for (const CliqueOutcome& clique : round.cliques) {
    double most = 0;
    for (const IslandId island : clique.islands) {
      if (timing_.off_beat(island)) return;
      most = std::max(most, timing_.closes_by(round.round, island) - start);
    }
    if (double(clique.measured.ps) > most)
      fail("rounds keep their time", fmt::format("round {}, {} and others: {}", round.round,
                                                 clique.islands.front(), to_text(clique.measured)));
  }
}

}  // namespace cotillion::testing
