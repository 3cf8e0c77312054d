// The paper's rule on the plan's clock, whole or by fragments, with its refinements: own weight,
// momentum, contributions that are missing. The arithmetic is that of protocol/merge.
//
// What travels is the model, and with it AdamW's moments where islands share them. The model's rule
// is x ← average + p (x − S), where what a wire rounds away of S is added to the average: it is
// neither progress nor lost. Moments fade with every step, v by β₂ and m by β₁: of what was sent d
// steps ago β^d is left in them, and that much of it becomes the average, v ← v + β^d (average −
// S). So v keeps what it gathered in flight, and does not fall below zero.
#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/random.hpp"
#include "policy/rotation_clock.hpp"
#include "policy/step_schedule.hpp"

namespace cotillion {
namespace {

// A vector that travels, and where it is on its way.
struct Cargo {
  Buffer of, sent, sent_odd, held;
  double keeps;      // p: the share of what was learned in flight that a merge keeps
  double fades = 1;  // β: what a step leaves of it
};

std::vector<Cargo> cargo_of(const Recipe& recipe) {
  std::vector<Cargo> cargo = {
      {Buffer::kModel, Buffer::kSentEven, Buffer::kSentOdd, Buffer::kHeld, recipe.progress}};
  if (recipe.moments > 0)
    cargo.push_back({Buffer::kMomentTwo, Buffer::kSentTwo, Buffer::kSentTwoOdd, Buffer::kHeldTwo, 1,
                     kAdamBeta2});
  if (recipe.moments > 1)
    cargo.push_back({Buffer::kMomentOne, Buffer::kSentOne, Buffer::kSentOneOdd, Buffer::kHeldOne, 1,
                     kAdamBeta1});
  return cargo;
}

class Rotation final : public StepSchedule {
 public:
  explicit Rotation(const Recipe& recipe)
      : recipe_(recipe), clock_(recipe_), cargo_(cargo_of(recipe)), islands_(island_count(recipe)) {
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
             those([&](int island) { return clock_.copy_step(k, island, f) == steps; }));
      });
      if (clock_.one_copy())
        each(moves, k, [&, k](std::vector<VectorMove>& some, const Cargo& cargo, int f) {
          correct(some, cargo, k, f, gathered(k, f, steps));
        });
      each(moves, k, [&, k](std::vector<VectorMove>& some, const Cargo& cargo, int f) {
        merge(some, cargo, k, f,
              those([&](int island) { return clock_.merge_step(k, island, f) == steps; }));
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
        return those(
            [&](int i) { return clock_.copy_step(k, i, f) + 1 == step && ahead(cargo, k, i, f); });
      };
      each(around.before, k, [&](std::vector<VectorMove>& some, const Cargo& cargo, int f) {
        const std::vector<int> who = handing(cargo, f);
        if (who.empty()) return;
        if (pushes(cargo)) return push_ahead(some, cargo, f, who);
        some.push_back(move(cargo.held, who, {{cargo.sent}}, f));
        some.push_back(move(cargo.sent, who, merged(cargo, cargo.sent), f));
      });
      each(around.after, k, [&](std::vector<VectorMove>& some, const Cargo& cargo, int f) {
        const std::vector<int> who = handing(cargo, f);
        if (who.empty()) return;
        some.push_back(move(cargo.of, who, merged(cargo, cargo.held), f));
        some.back().merges = cargo.of == Buffer::kModel;
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
        for (int f = 0; f < recipe_.fragments; ++f) {
          const double delay =
              clock_.time_after(clock_.merge_step(k, i, f) - clock_.copy_step(k, i, f));
          account.delay_mean += delay;
          account.delay_max = std::max(account.delay_max, delay);
          ++count;
        }
    account.delay_mean /= count;
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

  template <class Condition>
  [[nodiscard]] std::vector<int> those(Condition condition) const {
    std::vector<int> islands;
    for (int i = 0; i < islands_; ++i)
      if (condition(i)) islands.push_back(i);
    return islands;
  }
  [[nodiscard]] VectorMove move(Buffer into, std::vector<int> who, std::vector<Term> terms,
                                int f) const {
    return {into, std::move(who), std::move(terms), f, recipe_.fragments, false, 1, recipe_.grain};
  }

  // Own weight or momentum: of the model alone.
  [[nodiscard]] bool refined(const Cargo& cargo) const {
    return hides(cargo) || (cargo.of == Buffer::kModel && recipe_.momentum > 0);
  }
  [[nodiscard]] bool hides(const Cargo& cargo) const {
    return cargo.of == Buffer::kModel && recipe_.own_weight < 1;
  }
  [[nodiscard]] bool pushes(const Cargo& cargo) const {
    return cargo.of == Buffer::kModel && recipe_.momentum > 0 && recipe_.momentum_at_sender;
  }

  // Who meets nobody has nothing to give its progress up for, nor to hide or push it. (Otherwise it
  // may merge with itself.)
  [[nodiscard]] bool merges(const Cargo& cargo, std::int64_t k, int island) const {
    return (cargo.keeps == 1 && !refined(cargo)) || clock_.meets(k, island);
  }

  // The model always. Of moments every fragment's turn comes once in `moments_every` rounds, and in
  // each as many have theirs.
  [[nodiscard]] bool ships(const Cargo& cargo, std::int64_t k, int f) const {
    return cargo.of == Buffer::kModel || (k + f) % recipe_.moments_every == 0;
  }

  // Whether its copy leaves with a correction that still waits for the end of the step.
  [[nodiscard]] bool ahead(const Cargo& cargo, std::int64_t k, int island, int f) const {
    return ships(cargo, k, f) && clock_.copies_ahead(k, island, f) && ships(cargo, k - 1, f) &&
           merges(cargo, k - 1, island) && (!refined(cargo) || clock_.meets(k, island));
  }

  [[nodiscard]] Buffer sent(const Cargo& cargo, std::int64_t k) const {
    return k % 2 == 0 || clock_.one_copy() ? cargo.sent : cargo.sent_odd;
  }

  // Those whose whole group has copied a fragment after so many steps, and not before.
  [[nodiscard]] std::vector<int> gathered(std::int64_t k, int f, std::int64_t steps) const {
    std::vector<int> complete;
    for (const std::vector<int>& group : clock_.groups(k)) {
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
               std::vector<int> who) const {
    std::erase_if(who, [&](int island) { return !merges(cargo, k, island); });
    if (who.empty()) return;
    moves.push_back(move(cargo.sent, who, correction(cargo, k, f, who), f));
  }
  // average − p S, or β^d (average − S).
  [[nodiscard]] std::vector<Term> correction(const Cargo& cargo, std::int64_t k, int f,
                                             const std::vector<int>& who) const {
    Term mixed = average(cargo, k, f, who);
    if (pushes(cargo)) return {mixed, rest(cargo, k)};
    if (cargo.fades == 1) return {mixed, rest(cargo, k), {sent(cargo, k), -cargo.keeps}};
    auto weight = mixed.mixing.begin();
    for (const int i : who) {
      const auto flight = double(clock_.merge_step(k, i, f) - clock_.copy_step(k, i, f));
      const double left = std::pow(cargo.fades, flight);
      for (int j = 0; j < islands_; ++j, ++weight) *weight = left * (*weight - (i == j ? 1 : 0));
    }
    return {mixed};
  }
  [[nodiscard]] Term average(const Cargo& cargo, std::int64_t k, int f,
                             const std::vector<int>& who) const {
    return {sent(cargo, k), 1, rows(k, f, who), recipe_.wire};
  }
  // What the wire has rounded away of one's own: it stays here, and leaves next time.
  [[nodiscard]] Term rest(const Cargo& cargo, std::int64_t k) const {
    return {sent(cargo, k), rounds_off() ? 1.0 : 0.0, {}, recipe_.wire};
  }
  [[nodiscard]] bool rounds_off() const { return recipe_.wire != WireFormat::kF32; }
  // A vector with a correction that lies there.
  [[nodiscard]] static std::vector<Term> merged(const Cargo& cargo, Buffer correction) {
    return {{correction}, {cargo.of, cargo.keeps}};
  }
  [[nodiscard]] static std::vector<Term> merged(const Cargo& cargo, std::vector<Term> correction) {
    correction.push_back({cargo.of, cargo.keeps});
    return correction;
  }

  void copy(std::vector<VectorMove>& moves, const Cargo& cargo, std::int64_t k, int f,
            std::vector<int> who) const {
    std::erase_if(who, [&](int island) { return refined(cargo) && !clock_.meets(k, island); });
    if (who.empty()) return;
    if (pushes(cargo)) {
      std::erase_if(who, [&](int island) { return ahead(cargo, k, island, f); });
      return push(moves, cargo, k, f, who);
    }
    // A correction that has come, and waits for the end of the step, is on the wire already.
    std::vector<int> waiting, others;
    for (const int i : who) (ahead(cargo, k, i, f) ? waiting : others).push_back(i);
    std::vector<Term> terms = {{cargo.of}};
    if (hides(cargo)) terms.push_back({Buffer::kHidden});
    const Buffer s = sent(cargo, k);
    if (!others.empty()) moves.push_back(move(s, others, terms, f));
    // Where one copy is enough it is made with the next update.
    if (!waiting.empty() && !clock_.one_copy()) {
      std::vector<Term> all = merged(cargo, correction(cargo, k - 1, f, waiting));
      if (hides(cargo)) all.push_back({Buffer::kHidden});
      moves.push_back(move(s, waiting, std::move(all), f));
    }
  }

  // The sender's momentum: v ← μv + Δ, of what it has learned since its last average; that average
  // + v is sent. Until the next one comes the anchor is what would have been sent without momentum.
  void push(std::vector<VectorMove>& moves, const Cargo& cargo, std::int64_t k, int f,
            const std::vector<int>& who) const {
    const Buffer s = sent(cargo, k), v = Buffer::kVelocity, anchor = Buffer::kAnchor;
    std::vector<int> first, again;  // momentum needs something to start from
    for (const int i : who) (k > first_meeting(i) ? again : first).push_back(i);
    const auto add = [&](Buffer into, const std::vector<int>& islands, std::vector<Term> terms) {
      if (!islands.empty()) moves.push_back(move(into, islands, std::move(terms), f));
    };
    add(s, first, {{cargo.of}});
    add(v, again, {{v, recipe_.momentum}, {cargo.of}, {anchor, -1}});
    add(s, again, {{anchor}, {v}});
    add(anchor, who, {{cargo.of}});
  }
  // The same where an average has come and still waits for the end of the step: with p (x − S) of
  // it, which is Δ, and v that much is sent. The step then ends at what was sent and p times the
  // update.
  void push_ahead(std::vector<VectorMove>& moves, const Cargo& cargo, int f,
                  const std::vector<int>& who) const {
    const Buffer s = cargo.sent, v = Buffer::kVelocity, anchor = Buffer::kAnchor;
    const double p = cargo.keeps;
    const auto add = [&](Buffer into, std::vector<Term> terms) {
      moves.push_back(move(into, who, std::move(terms), f));
    };
    add(v, {{v, recipe_.momentum}, {cargo.of, p}, {anchor, -p}});
    add(anchor, {{s}, {v}});
    add(cargo.held, {{anchor}, {cargo.of, -p}});
    add(s, {{anchor}});
  }

  void merge(std::vector<VectorMove>& moves, const Cargo& cargo, std::int64_t k, int f,
             std::vector<int> who) const {
    // With one copy, what the next one has left with was merged with the update.
    std::erase_if(who, [&](int i) {
      return !merges(cargo, k, i) || (clock_.one_copy() && ahead(cargo, k + 1, i, f));
    });
    if (who.empty()) return;
    const Buffer s = sent(cargo, k);
    if (refined(cargo)) return merge_refined(moves, cargo, k, f, who);
    moves.push_back(move(
        cargo.of, who,
        clock_.one_copy() ? merged(cargo, s) : merged(cargo, correction(cargo, k, f, who)), f));
    moves.back().merges = cargo.of == Buffer::kModel;
  }

  // With own weight, or momentum: the model alone.
  void merge_refined(std::vector<VectorMove>& moves, const Cargo& cargo, std::int64_t k, int f,
                     const std::vector<int>& who) const {
    const auto add = [&](Buffer into, std::vector<Term> terms) {
      moves.push_back(move(into, who, std::move(terms), f));
      return moves.size() - 1;
    };
    const Buffer s = sent(cargo, k);
    const double a = recipe_.own_weight, p = cargo.keeps;
    std::size_t merged = 0;
    if (pushes(cargo)) {
      const Term average = {s};  // that is what has become of it
      merged = add(cargo.of, {average, {Buffer::kAnchor, -p}, {cargo.of, p}});
      add(Buffer::kAnchor, {average});
    } else if (a < 1) {
      add(Buffer::kHidden, {{cargo.of, 1 - a}, {Buffer::kHidden, 1 - a}, {s, a - 1}});
      merged = add(cargo.of,
                   {average(cargo, k, f, who), rest(cargo, k), {Buffer::kHidden, a / (1 - a)}});
    } else {
      merged =
          add(cargo.of, {target(moves, cargo, k, f, who), rest(cargo, k), {s, -p}, {cargo.of, p}});
    }
    moves[merged].merges = true;
  }
  // The receiver's momentum, in rounds of everyone: m ← μm + (average − θ), θ ← θ + m.
  Term target(std::vector<VectorMove>& moves, const Cargo& cargo, std::int64_t k, int f,
              const std::vector<int>& who) const {
    Term average = this->average(cargo, k, f, who);
    if (!clock_.round(k).everyone) return average;
    const Buffer v = Buffer::kVelocity, theta = Buffer::kTheta;
    // The first average is where momentum starts from.
    if (k == first_of_everyone()) {
      moves.push_back(move(theta, who, {average}, f));
    } else {
      moves.push_back(move(v, who, {{v, recipe_.momentum}, average, {theta, -1}}, f));
      moves.push_back(move(theta, who, {{theta}, {v}}, f));
    }
    return {theta};
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
      if (recipe_.own_for_missing)
        row[std::size_t(i)] += missing;
      else if (missing > 0)
        for (double& weight : row) weight /= 1 - missing;
      rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
  }
  [[nodiscard]] bool is_lost(std::int64_t k, int f, int to, int from) const {
    Random random(recipe_.seed * 0x9e3779b97f4a7c15u +
                  std::uint64_t(((k * recipe_.fragments + f) * islands_ + to) * islands_ + from));
    random.next();
    return random.unit() < recipe_.lost;
  }

  const Recipe recipe_;
  const RotationClock clock_;
  const std::vector<Cargo> cargo_;
  const int islands_;
};

}  // namespace

std::unique_ptr<StepSchedule> make_rotation(const Recipe& recipe) {
  return std::make_unique<Rotation>(recipe);
}

}  // namespace cotillion
