// The paper's rule on the plan's clock, whole or by fragments, with its refinements: own weight,
// momentum, contributions that are missing. The arithmetic is that of protocol/merge.
#include <algorithm>

#include "base/random.hpp"
#include "train/dance.hpp"
#include "train/rotation_clock.hpp"

namespace cotillion {
namespace {

class Rotation final : public Dance {
 public:
  explicit Rotation(const Recipe& recipe)
      : recipe_(recipe), clock_(recipe_), islands_(island_count(recipe)), hidden_(hides(recipe)) {}

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    return clock_.time_after(steps);
  }

  [[nodiscard]] std::vector<VectorMove> after(std::int64_t steps) const override {
    std::vector<VectorMove> moves;
    // Rounds in order, and in each the copies before the merges: rounds may be shorter than steps.
    const auto [first, last] = clock_.rounds_at(steps);
    for (std::int64_t k = first; k <= last; ++k) {
      by_fragment(moves, [&, k](std::vector<VectorMove>& some, int f) {
        const std::vector<int> copying =
            those([&](int island) { return clock_.copy_step(k, island, f) == steps; });
        if (!copying.empty()) copy(some, k, f, copying);
      });
      if (clock_.one_copy())
        by_fragment(moves, [&, k](std::vector<VectorMove>& some, int f) {
          std::vector<int> complete = gathered(k, f, steps);
          std::erase_if(complete, [&](int island) { return !merges(k, island); });
          if (!complete.empty()) correct(some, k, f, complete);
        });
      by_fragment(moves, [&, k](std::vector<VectorMove>& some, int f) {
        const std::vector<int> merging = those([&](int island) {
          return clock_.merge_step(k, island, f) == steps && merges(k, island);
        });
        if (!merging.empty()) merge(some, k, f, merging);
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
      const auto handing = [&, k](int f) {
        return those(
            [&](int i) { return clock_.copy_step(k, i, f) + 1 == step && ahead(k, i, f); });
      };
      by_fragment(around.before, [&](std::vector<VectorMove>& some, int f) {
        const std::vector<int> who = handing(f);
        if (who.empty()) return;
        some.push_back(move(Buffer::kHeld, who, {{kSent}}, f));
        some.push_back(move(kSent, who, merged(kSent), f, recipe_.wire));
      });
      by_fragment(around.after, [&](std::vector<VectorMove>& some, int f) {
        const std::vector<int> who = handing(f);
        if (who.empty()) return;
        some.push_back(move(Buffer::kModel, who, merged(Buffer::kHeld), f));
        some.back().merges = true;
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
  // Fragments that are treated alike, next to each other, are one move. Moves of different
  // fragments commute.
  template <class Moves>
  void by_fragment(std::vector<VectorMove>& moves, Moves of) const {
    std::vector<VectorMove> pending;
    for (int f = 0; f < recipe_.fragments; ++f) {
      std::vector<VectorMove> some;
      of(some, f);
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

  static bool hides(const Recipe& recipe) {
    return recipe.own_weight < 1 || (recipe.momentum > 0 && recipe.momentum_at_sender);
  }
  template <class Condition>
  [[nodiscard]] std::vector<int> those(Condition condition) const {
    std::vector<int> islands;
    for (int i = 0; i < islands_; ++i)
      if (condition(i)) islands.push_back(i);
    return islands;
  }
  [[nodiscard]] VectorMove move(Buffer into, std::vector<int> who, std::vector<Term> terms, int f,
                                WireFormat wire = WireFormat::kF32) const {
    return {into, std::move(who), std::move(terms), f, recipe_.fragments, false,
            1,    wire,           recipe_.grain};
  }

  // Who meets nobody has nothing to give its progress up for. (Keeping all, it may merge with
  // itself.)
  [[nodiscard]] bool merges(std::int64_t k, int island) const {
    return recipe_.progress == 1 || clock_.meets(k, island);
  }

  // Whether its copy leaves with a correction that still waits for the end of the step.
  [[nodiscard]] bool ahead(std::int64_t k, int island, int f) const {
    return clock_.copies_ahead(k, island, f) && merges(k - 1, island);
  }

  // Every fragment's turn comes once in `moments_every` rounds, and in each as many have theirs.
  [[nodiscard]] bool ships_moments(std::int64_t k, int f) const {
    return recipe_.moments > 0 && (k + f) % recipe_.moments_every == 0;
  }

  static constexpr Buffer kSent = Buffer::kSentEven;  // where one copy is enough
  [[nodiscard]] Buffer sent(std::int64_t k) const {
    return k % 2 == 0 || clock_.one_copy() ? kSent : Buffer::kSentOdd;
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
  // S becomes average − p S, which is all that is needed of it from now on.
  void correct(std::vector<VectorMove>& moves, std::int64_t k, int f,
               const std::vector<int>& who) const {
    moves.push_back(move(
        kSent, who, {{kSent, 1, rows(k, f, who), recipe_.wire}, {kSent, -recipe_.progress}}, f));
  }
  // The model with a correction that lies there.
  [[nodiscard]] std::vector<Term> merged(Buffer correction) const {
    return {{correction}, {Buffer::kModel, recipe_.progress}};
  }

  void copy(std::vector<VectorMove>& moves, std::int64_t k, int f,
            const std::vector<int>& who) const {
    const auto add = [&](Buffer into, std::vector<Term> terms, WireFormat wire = WireFormat::kF32) {
      moves.push_back(move(into, who, std::move(terms), f, wire));
    };
    if (ships_moments(k, f)) {
      add(Buffer::kSentTwo, {{Buffer::kMomentTwo}}, recipe_.wire);
      if (recipe_.moments > 1) add(Buffer::kSentOne, {{Buffer::kMomentOne}}, recipe_.wire);
    }
    if (clock_.one_copy()) {
      // Who copies ahead does so with the next update.
      std::vector<int> others;
      for (const int i : who)
        if (!ahead(k, i, f)) others.push_back(i);
      if (!others.empty())
        moves.push_back(move(kSent, others, {{Buffer::kModel}}, f, recipe_.wire));
      return;
    }
    if (clock_.prompt()) {
      // A correction that has come, and waits for the end of the step, is on the wire already.
      std::vector<int> waiting, others;
      for (const int i : who) {
        (ahead(k, i, f) ? waiting : others).push_back(i);
      }
      std::vector<Term> terms = {{Buffer::kModel}};
      if (hidden_) terms.push_back({Buffer::kHidden});
      const auto send = [&](const std::vector<int>& some) {
        moves.push_back(move(sent(k), some, terms, f, recipe_.wire));
      };
      if (!others.empty()) send(others);
      if (waiting.empty()) return;
      terms[0].own = recipe_.progress;
      terms.insert(terms.begin(), {{sent(k - 1), 1, rows(k - 1, f, waiting), recipe_.wire},
                                   {sent(k - 1), -recipe_.progress}});
      return send(waiting);
    }
    if (!hidden_) return add(sent(k), {{Buffer::kModel}}, recipe_.wire);
    const bool sender = recipe_.momentum > 0 && recipe_.momentum_at_sender;
    if (sender && k > 0) {
      // v ← μv + Δ with Δ = x + h − anchor; what is sent becomes anchor + v, what the optimizer
      // sees does not change until the next merge.
      add(Buffer::kVelocity, {{Buffer::kVelocity, recipe_.momentum},
                              {Buffer::kModel},
                              {Buffer::kHidden},
                              {Buffer::kAnchor, -1}});
      add(Buffer::kHidden, {{Buffer::kVelocity}, {Buffer::kAnchor}, {Buffer::kModel, -1}});
    }
    add(sent(k), {{Buffer::kModel}, {Buffer::kHidden}}, recipe_.wire);
    if (sender) add(Buffer::kAnchor, {{sent(k)}});
  }

  void merge(std::vector<VectorMove>& moves, std::int64_t k, int f,
             const std::vector<int>& who) const {
    const auto add = [&](Buffer into, std::vector<Term> terms) {
      moves.push_back(move(into, who, std::move(terms), f));
      return moves.size() - 1;
    };
    const Buffer s = sent(k);
    Term average{s, 1, rows(k, f, who), recipe_.wire};
    if (ships_moments(k, f)) {
      // v is never below zero: it becomes the average. m keeps what it learned meanwhile.
      add(Buffer::kMomentTwo, {{Buffer::kSentTwo, 1, average.mixing, recipe_.wire}});
      if (recipe_.moments > 1)
        add(Buffer::kMomentOne, {{Buffer::kSentOne, 1, average.mixing, recipe_.wire},
                                 {Buffer::kSentOne, -1},
                                 {Buffer::kMomentOne}});
    }
    if (clock_.one_copy()) {
      // Where the next copy has left with it, it was merged with the update.
      std::vector<int> others;
      for (const int i : who)
        if (!ahead(k + 1, i, f)) others.push_back(i);
      if (others.empty()) return;
      moves.push_back(move(Buffer::kModel, others, merged(s), f));
      moves.back().merges = true;
      return;
    }
    if (recipe_.momentum > 0 && !recipe_.momentum_at_sender && clock_.round(k).everyone) {
      // The first average is where momentum starts from.
      if (k == first_of_everyone())
        add(Buffer::kTheta, {average});
      else {
        add(Buffer::kVelocity,
            {{Buffer::kVelocity, recipe_.momentum}, average, {Buffer::kTheta, -1}});
        add(Buffer::kTheta, {{Buffer::kTheta}, {Buffer::kVelocity}});
      }
      average = {Buffer::kTheta};
    }
    std::size_t merged = 0;
    const double a = recipe_.own_weight;
    if (!hidden_) {
      const double p = recipe_.progress;
      merged = add(Buffer::kModel, {average, {s, -p}, {Buffer::kModel, p}});
    } else if (a < 1) {
      add(Buffer::kHidden, {{Buffer::kModel, 1 - a}, {Buffer::kHidden, 1 - a}, {s, a - 1}});
      merged = add(Buffer::kModel, {average, {Buffer::kHidden, a / (1 - a)}});
    } else {
      merged = add(Buffer::kModel, {average, {s, -1}, {Buffer::kModel}, {Buffer::kHidden}});
      add(Buffer::kHidden, {});
    }
    if (recipe_.momentum > 0 && recipe_.momentum_at_sender)
      add(Buffer::kAnchor, {average, {s, -1}, {Buffer::kAnchor}});
    moves[merged].merges = true;
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
  const int islands_;
  const bool hidden_;
};

}  // namespace

std::unique_ptr<Dance> make_rotation(const Recipe& recipe) {
  return std::make_unique<Rotation>(recipe);
}

}  // namespace cotillion
