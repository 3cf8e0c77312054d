#include "train/remote_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr Duration kComputes{300'000'000'000'000};  // a step or an evaluation of one island

}  // namespace

void RemoteLearner::attach(std::vector<IslandLink> links, std::vector<std::string> names) {
  COTILLION_CHECK(links.size() == names.size());
  links_ = std::move(links);
  names_ = std::move(names);
}

void RemoteLearner::leave() {
  for (IslandLink& link : links_) (void)link.ask(Ask::kLeave, "");
  links_.clear();
}

std::vector<std::string> RemoteLearner::ask_all(Ask what,
                                                const std::vector<std::string_view>& bodies,
                                                Duration timeout) {
  COTILLION_CHECK(bodies.size() == links_.size());
  const auto failed = [&](std::size_t island, const Error& error) {
    return std::runtime_error(
        fmt::format("the training process of {}: {}", names_[island], error.message));
  };
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (const auto asked = links_[i].ask(what, bodies[i]); !asked) throw failed(i, asked.error());
  std::vector<std::string> answers;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    auto answer = links_[i].answered(timeout);
    if (!answer) throw failed(i, answer.error());
    answers.push_back(std::move(*answer));
  }
  return answers;
}

std::vector<std::string> RemoteLearner::ask_all(Ask what, std::string_view body, Duration timeout) {
  return ask_all(what, std::vector<std::string_view>(links_.size(), body), timeout);
}

std::string RemoteLearner::device() const {
  return fmt::format("{}, a process for each island", local_->device());
}

void RemoteLearner::apply(const VectorMove&) {
  throw std::runtime_error("islands in processes of their own exchange through their agents");
}

void RemoteLearner::backward(const std::vector<std::uint8_t>& tokens) {
  COTILLION_CHECK(!links_.empty() && tokens.size() % links_.size() == 0);
  const std::size_t each = tokens.size() / links_.size();
  std::vector<std::string_view> bodies;
  for (std::size_t i = 0; i < links_.size(); ++i)
    bodies.emplace_back(reinterpret_cast<const char*>(tokens.data()) + i * each, each);
  (void)ask_all(Ask::kBackward, bodies, kComputes);
}

std::vector<double> RemoteLearner::training_losses() {
  std::vector<double> losses;
  for (const std::string& answer : ask_all(Ask::kTrainingLoss, "", kComputes))
    losses.push_back(value_of<double>(answer));
  return losses;
}

Learner::Disagreement RemoteLearner::update_around(double, const AroundStep&,
                                                   const std::vector<double>&) {
  apply({});
  return {};
}

void RemoteLearner::update(double rate) {
  (void)ask_all(Ask::kUpdate, bytes_of_value(rate), kComputes);
}

std::vector<double> RemoteLearner::losses(const std::vector<std::uint8_t>& tokens) {
  std::vector<double> losses;
  for (const std::string& answer : ask_all(Ask::kLosses, bytes_of_values(tokens), kComputes))
    losses.push_back(value_of<double>(answer));
  return losses;
}

std::vector<std::vector<float>> RemoteLearner::models() {
  std::vector<std::vector<float>> models;
  for (const std::string& answer : ask_all(Ask::kModel, "", kComputes)) {
    models.push_back(values_of<float>(answer));
    if (std::int64_t(models.back().size()) != parameters())
      throw std::runtime_error("a model of another size came back");
  }
  return models;
}

std::vector<float> RemoteLearner::mean_of(const std::vector<std::vector<float>>& models,
                                          const std::vector<double>& shares) {
  COTILLION_CHECK(!models.empty() && models.size() == shares.size());
  std::vector<float> mean(models[0].size());
  for (std::size_t e = 0; e < mean.size(); ++e) {
    double sum = 0;
    for (std::size_t i = 0; i < models.size(); ++i) sum += shares[i] * double(models[i][e]);
    mean[e] = float(sum);
  }
  return mean;
}

double RemoteLearner::loss_of_mean(const std::vector<double>& shares,
                                   const std::vector<std::uint8_t>& tokens) {
  local_->set_row(Buffer::kModel, 0, mean_of(models(), shares));
  return local_->losses(tokens)[0];
}

Learner::Disagreement RemoteLearner::disagreement(const std::vector<double>& shares) {
  const std::vector<std::vector<float>> all = models();
  const std::vector<float> mean = mean_of(all, shares);
  double squares = 0, norm = 0;
  for (std::size_t e = 0; e < mean.size(); ++e) {
    norm += double(mean[e]) * double(mean[e]);
    for (const std::vector<float>& model : all) {
      const double apart = double(model[e]) - double(mean[e]);
      squares += apart * apart;
    }
  }
  return {std::sqrt(squares / double(all.size())), std::sqrt(norm)};
}

std::vector<float> RemoteLearner::row(Buffer buffer, int island) {
  if (buffer != Buffer::kModel) throw std::runtime_error("only models can be looked at from here");
  return models()[std::size_t(island)];
}

void RemoteLearner::set_row(Buffer, int, const std::vector<float>&) {
  apply({});
}

void RemoteLearner::read(int, std::int64_t, std::span<float>) {
  apply({});
}

void RemoteLearner::merge(int, std::int64_t, double, std::span<const float>) {
  apply({});
}

Learner::Memory RemoteLearner::memory() {
  Memory most;
  for (const std::string& answer : ask_all(Ask::kAccount, "", kComputes)) {
    const auto account = value_of<LabAccount>(answer);
    most.kept = std::max(most.kept, std::int64_t(account.kept));
    most.moving = std::max(most.moving, std::int64_t(account.moving));
  }
  const auto islands = std::int64_t(links_.size());
  return {most.kept * islands, most.moving * islands};
}

void RemoteLearner::save(const std::string&) {
  throw std::runtime_error("a lab has packets in flight, and cannot be taken up again");
}

void RemoteLearner::load(const std::string& path) {
  save(path);
}

}  // namespace cotillion
