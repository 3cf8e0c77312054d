#include "train/run_identity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <vector>

namespace cotillion {
namespace {

bool same(double a, double b) {
  return std::abs(a - b) <= 1e-4 * std::abs(b);
}

bool same(std::int64_t a, std::int64_t b) {
  return a == b;
}

bool same(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b;
}

template <typename Value>
bool same(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Value& x, const Value& y) { return same(x, y); });
}

template <typename Value>
std::string text(const Value& part) {
  std::ostringstream out;
  out << part;
  return out.str();
}

template <typename Value>
std::string text(const std::vector<Value>& parts) {
  std::string all;
  for (const Value& part : parts) all += (all.empty() ? "" : " ") + text(part);
  return all;
}

// The first difference is kept.
class Comparison {
 public:
  template <typename Value>
  void of(const char* what, const Value& record, const Value& run) {
    if (first_.empty() && !same(record, run))
      first_ = "it has " + std::string(what) + " " + text(record) + ", and this run " + text(run);
  }
  // Zero: a record that does not say.
  void of_known(const char* what, std::int64_t record, std::int64_t run) {
    if (record != 0 && run != 0) of(what, record, run);
  }
  [[nodiscard]] std::string first() const { return first_; }

 private:
  std::string first_;
};

void compare_settings(Comparison& compare, const Training& record, const Training& run) {
  const TrainingSettings &had = record.settings, &has = run.settings;
  compare.of("islands", record.recipe.islands, run.recipe.islands);
  compare.of("weights", record.recipe.shares, run.recipe.shares);
  compare.of("steps of, in seconds,", record.recipe.step_time, run.recipe.step_time);
  compare.of("model", record.model, run.model);
  compare.of_known("so many parameters:", record.parameters, run.parameters);
  compare.of_known("a context of", record.context, run.context);
  compare.of("text", record.data, run.data);
  compare.of("text whose bytes have, in nats,", record.unigram_entropy, run.unigram_entropy);
  compare.of("so many steps:", had.steps, has.steps);
  compare.of("so many seconds:", had.seconds, has.seconds);
  compare.of("batches of", std::int64_t(had.batch), std::int64_t(has.batch));
  compare.of("learning rate", had.rate, has.rate);
  compare.of("a warm-up of", std::int64_t(had.warmup), std::int64_t(has.warmup));
  compare.of("windows of held-out text:", std::int64_t(had.windows), std::int64_t(has.windows));
}

// Zero where a kind has no exchanges that anybody waits for.
double exchange_of(const Recipe& recipe) {
  return std::visit(
      [](const auto& kind) -> double {
        if constexpr (requires { kind.exchange; })
          return kind.exchange;
        else
          return 0;
      },
      recipe.kind);
}

// Names tell neither payloads nor rates of a network: clocks do.
void compare_policies(Comparison& compare, const Training& record, const Training& run) {
  compare.of("policy", record.recipe.name, run.recipe.name);
  compare.of("exchanges that take, in seconds,", exchange_of(record.recipe),
             exchange_of(run.recipe));
  // Zero: a record that does not say.
  if (record.account.cycle > 0 && run.account.cycle > 0)
    compare.of("rounds or cycles of, in seconds,", record.account.cycle, run.account.cycle);
}

// Whether anything of it is drawn at random.
bool draws(const Recipe& recipe) {
  const auto* const rotation = std::get_if<RotationRecipe>(&recipe.kind);
  return (rotation != nullptr && rotation->lost > 0) || is_a<PairsRecipe>(recipe) ||
         recipe.policy.starts_with("matcha") || recipe.policy.starts_with("random-pairs");
}

}  // namespace

std::string what_differs(const Training& record, const Training& run) {
  Comparison compare;
  compare_policies(compare, record, run);
  compare.of("seed", text(record.settings.seed), text(run.settings.seed));
  if (draws(record.recipe))
    compare.of("draws of seed", text(record.recipe.seed), text(run.recipe.seed));
  compare_settings(compare, record, run);
  compare.of("evaluations:", std::int64_t(record.settings.evaluations),
             std::int64_t(run.settings.evaluations));
  return compare.first();
}

std::string what_differs_in_policy(const Training& record, const Training& run) {
  Comparison compare;
  compare_policies(compare, record, run);
  return compare.first();
}

std::string what_differs_in_setting(const Training& record, const Training& run) {
  Comparison compare;
  compare_settings(compare, record, run);
  return compare.first();
}

}  // namespace cotillion
