// Islands that learn in processes of their own, seen as one learner. What is asked of all of them
// is asked at once, so that they compute at the same time. Their exchange is not its business:
// vectors cannot be moved from here.
#pragma once

#include "learn/learner.hpp"
#include "train/island_link.hpp"

namespace cotillion {

class RemoteLearner final : public Learner {
 public:
  // `local` is one island's learner in this process: it evaluates averaged models.
  explicit RemoteLearner(std::unique_ptr<Learner> local) : local_(std::move(local)) {}

  // By island, each set up already.
  void attach(std::vector<IslandLink> links, std::vector<std::string> names);
  // Tells everyone to leave; nobody is attached any more.
  void leave();
  // One question to everyone, and the answers. Throws std::exception: who does not answer, or what
  // it has to say.
  std::vector<std::string> ask_all(Ask what, const std::vector<std::string_view>& bodies,
                                   Duration timeout);
  std::vector<std::string> ask_all(Ask what, std::string_view body, Duration timeout);

  [[nodiscard]] std::int64_t parameters() const override { return local_->parameters(); }
  [[nodiscard]] std::string device() const override;
  // The most that one of them has, times their number.
  [[nodiscard]] Memory memory() override;
  void apply(const VectorMove& move) override;
  void backward(const std::vector<std::uint8_t>& tokens) override;
  [[nodiscard]] std::vector<double> training_losses() override;
  void update(double rate) override;
  [[nodiscard]] std::vector<double> losses(const std::vector<std::uint8_t>& tokens) override;
  [[nodiscard]] double loss_of_mean(const std::vector<double>& shares,
                                    const std::vector<std::uint8_t>& tokens) override;
  [[nodiscard]] Disagreement disagreement(const std::vector<double>& shares) override;
  Disagreement update_around(double rate, const AroundStep& around,
                             const std::vector<double>& shares) override;
  [[nodiscard]] std::vector<float> row(Buffer buffer, int island) override;
  void set_row(Buffer buffer, int island, const std::vector<float>& values) override;
  void read(int island, std::int64_t first, std::span<float> to) override;
  void merge(int island, std::int64_t first, double scale, std::span<const float> values) override;
  void save(const std::string& path) override;
  void load(const std::string& path) override;

 private:
  [[nodiscard]] std::vector<std::vector<float>> models();
  [[nodiscard]] static std::vector<float> mean_of(const std::vector<std::vector<float>>& models,
                                                  const std::vector<double>& shares);

  std::unique_ptr<Learner> local_;
  std::vector<IslandLink> links_;
  std::vector<std::string> names_;
};

}  // namespace cotillion
