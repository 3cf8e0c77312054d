// The paper's rule on the plan's clock, whole or by fragments, with its refinements: own weight,
// momentum, contributions that are missing. Here is who copies and merges what, and when; what that
// does to vectors is `policy/merge_moves`.
//
// What travels is the model, and with it AdamW's moments where islands share them. Moments fade
// with every step, v by β₂ and m by β₁: of what was sent d steps ago β^d is left in them, and that
// much of it becomes the average, v ← v + β^d (average − S).
#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.hpp"
#include "base/random.hpp"
#include "policy/merge_moves.hpp"
#include "policy/merge_settings.hpp"
#include "policy/rotation_clock.hpp"
#include "policy/step_schedule.hpp"

namespace cotillion {
namespace {

std::vector<Cargo> cargo_of(const RotationRecipe& recipe) {
  std::vector<Cargo> cargo = {{Buffer::kModel, Buffer::kSentEven, Buffer::kSentOdd, Buffer::kHeld,
                               merge_settings_of(recipe)}};
  if (recipe.moments > 0)
    cargo.push_back({Buffer::kMomentTwo,
                     Buffer::kSentTwo,
                     Buffer::kSentTwoOdd,
                     Buffer::kHeldTwo,
                     {},
                     kAdamBeta2});
  if (recipe.moments > 1)
    cargo.push_back({Buffer::kMomentOne,
                     Buffer::kSentOne,
                     Buffer::kSentOneOdd,
                     Buffer::kHeldOne,
                     {},
                     kAdamBeta1});
  return cargo;
}

class Rotation final : public StepSchedule {
 public:
  Rotation(const RecipeCommon& common, const RotationRecipe& recipe)
      : recipe_(recipe),
        clock_(common, recipe_),
        cargo_(cargo_of(recipe)),
        islands_(island_count(common)),
        seed_(common.seed) {
    COTILLION_CHECK(!recipe.momentum_at_sender || clock_.one_copy());
  }

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    return clock_.time_after(steps);
  }

  [[nodiscard]] std::vector<VectorMove> after(std::int64_t steps) const override {
    std::vector<VectorMove> moves;
    // Rounds in order, and in each the copies before the merges: a round may be a step.
    const auto [first, last] = clock_.rounds_at(steps);
    for (std::int64_t k = first; k <= last; ++k) {
      each(moves, k, [&, k](std::vector<VectorMove>& some, const Cargo& cargo, int f) {
        copy(some, cargo, k, f,
             those(k, [&](int island) { return clock_.copy_step(k, island, f) == steps; }));
      });
      if (clock_.one_copy())
        each(moves, k, [&, k](std::vector<VectorMove>& some, const Cargo& cargo, int f) {
          correct(some, cargo, k, f, gathered(k, f, steps));
        });
      each(moves, k, [&, k](std::vector<VectorMove>& some, const Cargo& cargo, int f) {
        merge(some, cargo, k, f,
              those(k, [&](int island) { return clock_.merge_step(k, island, f) == steps; }));
      });
    }
    return moves;
  }

  // A correction has come during the step before, and the next copy has left with it. As long as
  // the parameters were those of that copy, it needed no place; now they change.
  [[nodiscard]] AroundStep around(std::int64_t step) const override {
    AroundStep around;
    if (!clock_.one_copy()) return around;
    const auto [first, last] = clock_.rounds_at(step);
    for (std::int64_t k = std::max<std::int64_t>(1, first); k <= last; ++k) {
      const auto handing = [&, k](const Cargo& cargo, int f) {
        return those(k, [&](int i) {
          return clock_.copy_step(k, i, f) + 1 == step && ahead(cargo, k, i, f);
        });
      };
      each(around.before, k, [&](std::vector<VectorMove>& some, const Cargo& cargo, int f) {
        for (const auto& [before, who] : by_round_before(k, handing(cargo, f))) {
          if (cargo.pushes()) {
            add(some, who, f,
                push_ahead(cargo, copy_coefficients(cargo.settings, true), rule(cargo, before)));
            continue;
          }
          some.push_back(move(cargo.held, who, {{cargo.sent}}, f));
          some.push_back(
              move(cargo.sent, who, merged_terms(cargo, rule(cargo, before), {{cargo.sent}}), f));
        }
      });
      each(around.after, k, [&](std::vector<VectorMove>& some, const Cargo& cargo, int f) {
        for (const auto& [before, who] : by_round_before(k, handing(cargo, f))) {
          some.push_back(
              move(cargo.of, who, merged_terms(cargo, rule(cargo, before), {{cargo.held}}), f));
          some.back().merges = cargo.of == Buffer::kModel;
        }
      });
    }
    return around;
  }

  [[nodiscard]] ClockSummary account() const override {
    ClockSummary account;
    double count = 0;
    const auto rounds = std::int64_t(recipe_.rounds.size());
    // Rounds fall differently on steps each time: look at some.
    const std::int64_t looked = std::max<std::int64_t>(rounds, 24);
    for (std::int64_t k = 0; k < looked; ++k)
      for (int i = 0; i < islands_; ++i)
        for (int f = 0; clock_.meets(k, i) && f < recipe_.fragments; ++f) {
          const double delay =
              clock_.time_after(clock_.merge_step(k, i, f) - clock_.copy_step(k, i, f));
          account.delay_mean += delay;
          account.delay_max = std::max(account.delay_max, delay);
          ++count;
        }
    account.delay_mean /= std::max(count, 1.0);
    account.cycle = clock_.period() / double(rounds);
    return account;
  }

 private:
  // Of all that travels in a round. Fragments that are treated alike, next to each other, are one
  // move. Moves of different fragments commute.
  template <class Moves>
  void each(std::vector<VectorMove>& moves, std::int64_t k, Moves of) const {
    std::vector<VectorMove> pending;
    for (int f = 0; f < recipe_.fragments; ++f) {
      std::vector<VectorMove> some;
      for (const Cargo& cargo : cargo_)
        if (ships(cargo, k, f)) of(some, cargo, f);
      if (!some.empty() &&
          std::equal(pending.begin(), pending.end(), some.begin(), some.end(), follows)) {
        for (VectorMove& move : pending) ++move.count;
        continue;
      }
      moves.insert(moves.end(), pending.begin(), pending.end());
      pending = std::move(some);
    }
    moves.insert(moves.end(), pending.begin(), pending.end());
  }

  // Of those who meet somebody in round k.
  template <class Condition>
  [[nodiscard]] std::vector<int> those(std::int64_t k, Condition condition) const {
    std::vector<int> islands;
    for (int i = 0; i < islands_; ++i)
      if (clock_.meets(k, i) && condition(i)) islands.push_back(i);
    return islands;
  }
  [[nodiscard]] VectorMove move(Buffer into, std::vector<int> who, std::vector<Term> terms,
                                int f) const {
    return {into, std::move(who), std::move(terms), f, recipe_.fragments, false, 1, recipe_.grain};
  }

  void add(std::vector<VectorMove>& moves, const std::vector<int>& who, int f,
           std::vector<VectorUpdate> updates) const {
    if (who.empty()) return;
    for (VectorUpdate& update : updates) {
      moves.push_back(move(update.into, who, std::move(update.terms), f));
      moves.back().merges = update.merges;
    }
  }

  [[nodiscard]] MergeCoefficients rule(const Cargo& cargo, std::int64_t k) const {
    return merge_coefficients(cargo.settings, {.everyone = clock_.round(k).everyone});
  }
  // The model always. Of moments every fragment's turn comes once in `moments_every` rounds, and in
  // each as many have theirs.
  [[nodiscard]] bool ships(const Cargo& cargo, std::int64_t k, int f) const {
    return cargo.of == Buffer::kModel || (k + f) % recipe_.moments_every == 0;
  }

  // Whether its copy leaves with a correction that still waits for the end of the step.
  [[nodiscard]] bool ahead(const Cargo& cargo, std::int64_t k, int island, int f) const {
    return ships(cargo, k, f) && clock_.copies_ahead(k, island, f) &&
           ships(cargo, clock_.before(k, island), f);
  }
  // Those who copy in round k, by the round in which they met somebody before: that has the
  // correction which waits.
  [[nodiscard]] std::map<std::int64_t, std::vector<int>> by_round_before(
      std::int64_t k, const std::vector<int>& who) const {
    std::map<std::int64_t, std::vector<int>> by_round;
    for (const int i : who) by_round[clock_.before(k, i)].push_back(i);
    return by_round;
  }

  [[nodiscard]] Buffer sent(const Cargo& cargo, std::int64_t k) const {
    return k % 2 == 0 || clock_.one_copy() ? cargo.sent : cargo.sent_odd;
  }

  // Those whose whole group has copied a fragment after so many steps, and not before.
  [[nodiscard]] std::vector<int> gathered(std::int64_t k, int f, std::int64_t steps) const {
    std::vector<int> complete;
    for (const std::vector<int>& group : clock_.groups(k)) {
      if (group.size() < 2) continue;
      std::int64_t last = 0;
      for (const int i : group) last = std::max(last, clock_.kept_from(k, i, f));
      if (last == steps) complete.insert(complete.end(), group.begin(), group.end());
    }
    std::sort(complete.begin(), complete.end());
    return complete;
  }
  // S becomes its correction (where momentum has kept what it would have been, the average), which
  // is all that is needed of it from now on.
  void correct(std::vector<VectorMove>& moves, const Cargo& cargo, std::int64_t k, int f,
               const std::vector<int>& who) const {
    if (!who.empty()) moves.push_back(move(cargo.sent, who, correction(cargo, k, f, who), f));
  }
  [[nodiscard]] std::vector<Term> correction(const Cargo& cargo, std::int64_t k, int f,
                                             const std::vector<int>& who) const {
    const ArrivedAverage average = this->average(cargo, k, f, who);
    if (cargo.fades == 1) return correction_terms(cargo, rule(cargo, k), average);
    std::vector<double> left;
    for (const int i : who)
      left.push_back(
          std::pow(cargo.fades, double(clock_.merge_step(k, i, f) - clock_.copy_step(k, i, f))));
    return faded_terms(rule(cargo, k), average, who, left, islands_);
  }
  [[nodiscard]] ArrivedAverage average(const Cargo& cargo, std::int64_t k, int f,
                                       const std::vector<int>& who) const {
    return {sent(cargo, k), rows(k, f, who), recipe_.wire};
  }

  void copy(std::vector<VectorMove>& moves, const Cargo& cargo, std::int64_t k, int f,
            const std::vector<int>& who) const {
    // A correction that has come, and waits for the end of the step, is on the wire already.
    std::vector<int> waiting, others;
    for (const int i : who) (ahead(cargo, k, i, f) ? waiting : others).push_back(i);
    if (cargo.pushes()) {
      std::vector<int> first, again;
      for (const int i : others) (k > first_meeting(i) ? again : first).push_back(i);
      add(moves, first, f, first_push(cargo));
      return add(moves, again, f, push(cargo, copy_coefficients(cargo.settings, false)));
    }
    const Buffer s = sent(cargo, k);
    if (!others.empty()) moves.push_back(move(s, others, copied_terms(cargo, {{cargo.of}}), f));
    // Where one copy is enough it is made with the next update.
    if (clock_.one_copy()) return;
    for (const auto& [before, some] : by_round_before(k, waiting)) {
      std::vector<Term> x =
          merged_terms(cargo, rule(cargo, before), correction(cargo, before, f, some));
      moves.push_back(move(s, some, copied_terms(cargo, std::move(x)), f));
    }
  }

  void merge(std::vector<VectorMove>& moves, const Cargo& cargo, std::int64_t k, int f,
             std::vector<int> who) const {
    // With one copy, what the next one has left with was merged with the update.
    std::erase_if(
        who, [&](int i) { return clock_.one_copy() && ahead(cargo, clock_.next(k, i), i, f); });
    if (who.empty()) return;
    const MergeCoefficients rule = this->rule(cargo, k);
    if (cargo.pushes()) return add(moves, who, f, merge_with_push(cargo, rule));
    if (cargo.hides())
      return add(moves, who, f, merge_with_own_weight(rule, average(cargo, k, f, who)));
    if (cargo.refined())
      return add(
          moves, who, f,
          merge_with_averages(cargo, rule, average(cargo, k, f, who), k == first_of_everyone()));
    std::vector<Term> c =
        clock_.one_copy() ? std::vector<Term>{{sent(cargo, k)}} : correction(cargo, k, f, who);
    moves.push_back(move(cargo.of, who, merged_terms(cargo, rule, std::move(c)), f));
    moves.back().merges = cargo.of == Buffer::kModel;
  }

  [[nodiscard]] std::int64_t first_meeting(int island) const {
    std::int64_t k = 0;
    while (k < std::int64_t(recipe_.rounds.size()) && !clock_.meets(k, island)) ++k;
    return k;
  }
  [[nodiscard]] std::int64_t first_of_everyone() const {
    return std::find_if(recipe_.rounds.begin(), recipe_.rounds.end(),
                        [](const RecipeRound& r) { return r.everyone; }) -
           recipe_.rounds.begin();
  }

  // The rows of W for these islands, as far as contributions have come. Both policies keep them
  // stochastic: the mean of those present, or the island's own in place of what is missing.
  [[nodiscard]] std::vector<double> rows(std::int64_t k, int f, const std::vector<int>& who) const {
    std::vector<double> rows;
    for (const int i : who) {
      const auto first = clock_.round(k).mixing.begin() + std::ptrdiff_t(i) * islands_;
      std::vector<double> row(first, first + islands_);
      double missing = 0;
      for (int j = 0; recipe_.lost > 0 && j < islands_; ++j)
        if (j != i && row[std::size_t(j)] != 0 && is_lost(k, f, i, j)) {
          missing += row[std::size_t(j)];
          row[std::size_t(j)] = 0;
        }
      const auto [own, divisor] =
          mean_coefficients(cargo_.front().settings.missing, 1 - missing, missing);
      row[std::size_t(i)] += own;
      for (double& weight : row) weight /= divisor;
      rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
  }
  [[nodiscard]] bool is_lost(std::int64_t k, int f, int to, int from) const {
    Random random(seed_ * 0x9e3779b97f4a7c15u +
                  std::uint64_t(((k * recipe_.fragments + f) * islands_ + to) * islands_ + from));
    random.next();
    return random.unit() < recipe_.lost;
  }

  const RotationRecipe recipe_;
  const RotationClock clock_;
  const std::vector<Cargo> cargo_;
  const int islands_;
  const std::uint64_t seed_;  // of what is lost
};

}  // namespace

SchedulePointer step_schedule_of(const RecipeCommon& common, const RotationRecipe& recipe) {
  return std::make_unique<Rotation>(common, recipe);
}

}  // namespace cotillion
