#include "report/training_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "train/run_identity.hpp"

namespace cotillion {

double final_loss(const Training& training) {
  const bool none = training.points.empty() || training.diverged;
  return none ? INFINITY : training.points.back().loss_of_mean;
}

double late_distance(const Training& training) {
  double sum = 0, count = 0;
  for (std::size_t p = training.points.size() / 2; p < training.points.size(); ++p)
    if (training.points[p].norm > 0 && training.points[p].distance > 0) {
      sum += training.points[p].distance / training.points[p].norm;
      ++count;
    }
  return count > 0 ? sum / count : 0;
}

namespace {

// What tells settings apart, what people ask about first.
std::vector<std::string> parts_of_setting(const Training& training) {
  const std::size_t comma = training.data.rfind(", ");
  return {fmt::format("steps of {:.4g} ms", training.recipe.step_time * 1e3),
          comma == std::string::npos ? training.data : "text " + training.data.substr(comma + 2),
          training.model,
          training.data.substr(0, comma),
          fmt::format("text of {:.4g} nats a byte", training.unigram_entropy),
          fmt::format("{:.4g} s", training.settings.seconds),
          fmt::format("{} steps", training.settings.steps),
          fmt::format("{} islands", training.recipe.islands.size()),
          fmt::format("weights {:.3g}", fmt::join(training.recipe.shares, " ")),
          fmt::format("{}", fmt::join(training.recipe.islands, " ")),
          fmt::format("{} parameters", training.parameters),
          fmt::format("a context of {}", training.context),
          fmt::format("batches of {}", training.settings.batch),
          fmt::format("learning rate {}", training.settings.rate),
          fmt::format("a warm-up of {}", training.settings.warmup),
          fmt::format("{} windows evaluated", training.settings.windows)};
}

}  // namespace

std::vector<std::vector<Training>> by_setting(const std::vector<Training>& trainings) {
  std::vector<std::vector<Training>> groups;
  for (const Training& training : trainings) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& known) {
      return what_differs_in_setting(known[0], training).empty();
    });
    if (group == groups.end())
      groups.push_back({training});
    else
      group->push_back(training);
  }
  return groups;
}

std::vector<std::string> words_for(const std::vector<std::vector<Training>>& settings) {
  std::vector<std::vector<std::string>> parts;
  for (const std::vector<Training>& alike : settings) parts.push_back(parts_of_setting(alike[0]));
  std::vector<std::string> words(settings.size());
  const auto apart = [](const std::vector<std::string>& some) {
    return std::set<std::string>(some.begin(), some.end()).size();
  };
  for (std::size_t part = 0; !parts.empty() && part < parts[0].size(); ++part) {
    std::vector<std::string> longer = words;
    for (std::size_t s = 0; s < longer.size(); ++s)
      longer[s] += (longer[s].empty() ? "" : ", ") + parts[s][part];
    if (apart(longer) > apart(words)) words = std::move(longer);
  }
  return words;
}

std::vector<Runs> by_policy(const std::vector<Training>& trainings) {
  std::map<std::string, std::vector<Runs>> named;
  for (const Training& training : trainings) {
    std::vector<Runs>& groups = named[training.recipe.name];
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const Runs& known) {
      return what_differs_in_policy(*known[0], training).empty() &&
             what_differs_in_setting(*known[0], training).empty();
    });
    if (group == groups.end())
      groups.push_back({&training});
    else
      group->push_back(&training);
  }
  std::vector<Runs> ordered;
  for (auto& [name, groups] : named)
    for (Runs& runs : groups) ordered.push_back(std::move(runs));
  std::stable_sort(ordered.begin(), ordered.end(), [](const Runs& a, const Runs& b) {
    return mean_of(a, final_loss) < mean_of(b, final_loss);
  });
  return ordered;
}

}  // namespace cotillion
