#include "train/training_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

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

// Step times are rounded where lines are short.
std::string setting_of(const Training& training) {
  return fmt::format("{}\n{}\n{:.3g}\n{:.4g}\n{}", training.model, training.data,
                     training.recipe.step_time, training.settings.seconds, training.settings.steps);
}

}  // namespace

std::vector<std::vector<Training>> by_setting(const std::vector<Training>& trainings) {
  std::vector<std::string> settings;
  std::vector<std::vector<Training>> groups;
  for (const Training& training : trainings) {
    const std::string setting = setting_of(training);
    const auto known = std::find(settings.begin(), settings.end(), setting);
    const auto group = std::size_t(known - settings.begin());
    if (known == settings.end()) {
      settings.push_back(setting);
      groups.emplace_back();
    }
    groups[group].push_back(training);
  }
  return groups;
}

std::vector<Runs> by_policy(const std::vector<Training>& trainings) {
  std::map<std::string, Runs> groups;
  for (const Training& training : trainings)
    groups[training.recipe.name + "\n" + setting_of(training)].push_back(&training);
  std::vector<Runs> ordered;
  for (auto& [name, runs] : groups) ordered.push_back(std::move(runs));
  std::stable_sort(ordered.begin(), ordered.end(), [](const Runs& a, const Runs& b) {
    return mean_of(a, final_loss) < mean_of(b, final_loss);
  });
  return ordered;
}

}  // namespace cotillion
