// Learner on libtorch. All that an island holds is one row of a matrix [islands, parameters]; the
// model's parameters are views into it.
#include <torch/torch.h>

#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

#include "learn/torch_graph.hpp"
#include "learn/torch_memory.hpp"
#include "learn/torch_model.hpp"
#include "learn/torch_vectors.hpp"

// OpenBLAS has threads of its own, which libtorch does not know; null with other libraries.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace cotillion {
namespace {

using torch::Tensor;

constexpr double kEpsilon = 1e-8;
// Below it threads wait for each other longer than they work, all the more on a busy machine.
constexpr std::int64_t kWorthThreads = 1'000'000;
constexpr std::int64_t kWindowsAtOnce = 64;  // of an evaluation, to bound memory
constexpr std::int64_t kFileVersion = 4;     // of what a checkpoint's vectors mean

torch::Device device_named(const std::string& name) {
  const bool there = torch::cuda::is_available();
  if (name == "cuda" && !there)
    throw std::runtime_error("there is no GPU that libtorch can use; leave --device cuda out");
  return (name == "cuda" || (name == "auto" && there)) ? torch::kCUDA : torch::kCPU;
}

std::int64_t elements_of(const std::vector<ParameterSpec>& specs) {
  std::int64_t elements = 0;
  for (const ParameterSpec& spec : specs) elements += spec.elements();
  return elements;
}

class TorchLearner final : public Learner {
 public:
  explicit TorchLearner(const LearnerSettings& settings)
      : settings_(settings),
        device_(device_named(settings.device)),
        specs_(parameters_of(settings.model)),
        elements_(elements_of(specs_)),
        vectors_(settings.islands, elements_, device_) {
    count_tensors();
    bytes_before_ = tensor_bytes(device_);
    if (settings.bf16 && !device_.is_cuda())
      throw std::runtime_error("bf16 steps are for GPUs; a CPU computes in f32: leave --bf16 out");
    at::globalContext().setAllowTF32CuBLAS(!settings.exact);
    if (device_.is_cuda()) {
      StepGraph::use_own_stream();
      repeat_exactly();
    }
    set_threads();
    draw_first_values();
    show_parameters();
    loss_sum_ = torch::zeros({settings_.islands}, model().options());
  }

  [[nodiscard]] std::int64_t parameters() const override { return elements_; }
  [[nodiscard]] std::string device() const override { return device_.is_cuda() ? "cuda" : "cpu"; }

  [[nodiscard]] Memory memory() override {
    return {tensor_bytes(device_) - bytes_before_, moving_};
  }

  void apply(const VectorMove& move) override {
    const TensorPeak peak(device_);
    vectors_.apply(move);
    moving_ = std::max(moving_, peak.beyond());
  }

  void backward(const std::vector<std::uint8_t>& tokens) override {
    const Tensor now = on_device(tokens, settings_.islands);
    if (!tokens_.defined() || tokens_.sizes() != now.sizes()) {
      tokens_ = now.clone();
      graph_ = std::make_unique<StepGraph>(device_.is_cuda() && !settings_.eager);
    }
    tokens_.copy_(now);
    graph_->play([this] { differentiate(); });
    ++losses_summed_;
  }

  [[nodiscard]] std::vector<double> training_losses() override {
    std::vector<double> means = numbers_of(loss_sum_);
    for (double& mean : means) mean /= double(std::max<std::int64_t>(1, losses_summed_));
    loss_sum_.zero_();
    losses_summed_ = 0;
    return means;
  }

  void update(double rate) override { (void)update_around(rate, {}, {}); }

  Disagreement update_around(double rate, const AroundStep& around,
                             const std::vector<double>& shares) override {
    const torch::NoGradGuard no_gradients;
    const ExactProducts exact;
    Tensor& gradient = vectors_.at(Buffer::kGradient);
    const Tensor norm = gradient.norm(2, 1, true);
    gradient.mul_((settings_.clip / (norm + 1e-6)).clamp_max(1));
    ++updates_;
    (void)vectors_.at(Buffer::kMomentOne), (void)vectors_.at(Buffer::kMomentTwo);
    const TensorPeak peak(device_);
    if (around.empty() && shares.empty() && device_.is_cuda()) {
      step({0, elements_}, rate);
      return {};
    }
    TorchVectors::Apart apart;
    vectors_.each_slice({0, elements_}, [&](const Span& part) {
      if (!around.empty()) vectors_.hold(part);
      for (const VectorMove& move : around.before) vectors_.apply_to(move, part);
      step(part, rate);
      if (!shares.empty()) vectors_.look(apart, shares, part);
      for (const VectorMove& move : around.after) vectors_.apply_to(move, part);
      vectors_.release();
    });
    moving_ = std::max(moving_, peak.beyond());
    return shares.empty() ? Disagreement{} : vectors_.seen(apart);
  }

  [[nodiscard]] std::vector<double> losses(const std::vector<std::uint8_t>& tokens) override {
    return evaluated(model(), tokens);
  }

  [[nodiscard]] double loss_of_mean(const std::vector<double>& shares,
                                    const std::vector<std::uint8_t>& tokens) override {
    return evaluated(mean(shares), tokens)[0];
  }

  [[nodiscard]] Disagreement disagreement(const std::vector<double>& shares) override {
    const torch::NoGradGuard no_gradients;
    const ExactProducts exact;
    TorchVectors::Apart apart;
    vectors_.each_slice({0, elements_},
                        [&](const Span& part) { vectors_.look(apart, shares, part); });
    return vectors_.seen(apart);
  }

  [[nodiscard]] std::vector<float> row(Buffer buffer, int island) override {
    return vectors_.row(buffer, island);
  }
  void set_row(Buffer buffer, int island, const std::vector<float>& values) override {
    vectors_.set_row(buffer, island, values);
  }
  void read(int island, std::int64_t first, std::span<float> to) override {
    vectors_.read(island, first, to);
  }
  void merge(int island, std::int64_t first, double scale, std::span<const float> values) override {
    vectors_.merge(island, first, scale, values);
  }

  void save(const std::string& path) override {
    std::vector<Tensor> all = {torch::tensor(kFileVersion), torch::tensor(updates_), loss_sum_,
                               torch::tensor(losses_summed_)};
    for (const Tensor& buffer : vectors_.all())
      all.push_back(buffer.defined() ? buffer.detach() : torch::empty({0}));
    torch::save(all, path);
  }

  void load(const std::string& path) override {
    std::vector<Tensor> all;
    try {
      torch::load(all, path, device_);
    } catch (const c10::Error& problem) {
      // The library's own words are pages long.
      const std::string text = problem.what_without_backtrace();
      throw std::runtime_error(path + ": " + text.substr(0, text.find('\n')));
    }
    if (all.size() != 4 + kBufferCount || all[0].item<std::int64_t>() != kFileVersion)
      throw std::runtime_error(path + ": written by another version of this program");
    if (all[4].sizes() != model().sizes())
      throw std::runtime_error(path + ": of another model, or of other islands");
    const torch::NoGradGuard no_gradients;
    updates_ = all[1].item<std::int64_t>();
    loss_sum_.copy_(all[2]);
    losses_summed_ = all[3].item<std::int64_t>();
    for (std::size_t b = 0; b < kBufferCount; ++b)
      if (all[4 + b].numel() > 0) vectors_.at(Buffer(b)).copy_(all[4 + b]);
  }

 private:
  Tensor& model() { return vectors_.at(Buffer::kModel); }

  void set_threads() const {
    int threads = settings_.threads;
    if (threads == 0 && device_.is_cpu() && elements_ < kWorthThreads) threads = 1;
    if (threads == 0) return;
    at::set_num_threads(threads);
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(threads);
  }

  // The same for all islands, and the same on every device.
  void draw_first_values() {
    torch::manual_seed(std::int64_t(settings_.seed));
    std::vector<Tensor> parts;
    for (const ParameterSpec& spec : specs_)
      parts.push_back(spec.spread > 0 ? torch::randn({spec.elements()}) * spec.spread
                                      : torch::full({spec.elements()}, spec.start));
    const Tensor one = torch::cat(parts).unsqueeze(0);
    vectors_.begin(one.expand({settings_.islands, elements_}).contiguous().to(device_));
  }

  // Of the tokens that are in place: gradients, and losses added up.
  void differentiate() {
    if (settings_.bf16) {
      const torch::NoGradGuard no_gradients;
      brief_.copy_(model());
    }
    const Tensor losses = losses_of(settings_.model, leaves_, tokens_);
    const std::vector<Tensor> gradients = torch::autograd::grad({losses.sum()}, leaves_);
    for (std::size_t p = 0; p < gradients.size(); ++p) gradient_views_[p].copy_(gradients[p]);
    loss_sum_.add_(losses.detach());
  }

  // AdamW on these elements of all islands. Gradients are clipped by now.
  void step(const Span& part, double rate) {
#if TORCH_VERSION_MAJOR >= 2
    if (device_.is_cuda()) return fused_step(part, rate);
#endif
    const auto some = [&](Buffer buffer) {
      return vectors_.at(buffer).narrow(1, part.first, part.count);
    };
    Tensor x = some(Buffer::kModel), g = some(Buffer::kGradient), m = some(Buffer::kMomentOne),
           v = some(Buffer::kMomentTwo);
    const float kept = float(-rate * settings_.decay) + 1.0F;
    for (const Stretch& stretch : stretches(part))
      if (stretch.decays)
        x.narrow(1, stretch.span.first - part.first, stretch.span.count).mul_(kept);
    m.mul_(settings_.beta1).add_(g, 1 - settings_.beta1);
    v.mul_(settings_.beta2).addcmul_(g, g, 1 - settings_.beta2);
    const double first = 1 - std::pow(settings_.beta1, double(updates_));
    const double second = 1 - std::pow(settings_.beta2, double(updates_));
    Tensor root = v.sqrt();
    root.mul_(1 / std::sqrt(second)).add_(kEpsilon);
    x.addcdiv_(m, root, -rate / first);
  }

  // Elements next to each other that decay, or that do not.
  struct Stretch {
    Span span;
    bool decays = false;
  };
  [[nodiscard]] std::vector<Stretch> stretches(const Span& part) const {
    std::vector<Stretch> all;
    std::int64_t first = 0;
    for (const ParameterSpec& spec : specs_) {
      const std::int64_t from = std::max(first, part.first);
      const std::int64_t end = std::min(first + spec.elements(), part.first + part.count);
      first += spec.elements();
      if (from >= end) continue;
      if (!all.empty() && all.back().decays == spec.decays)
        all.back().span.count += end - from;
      else
        all.push_back({{from, end - from}, spec.decays});
    }
    return all;
  }

#if TORCH_VERSION_MAJOR >= 2
  // AdamW in one pass, over what decays and over what does not.
  void fused_step(const Span& part, double rate) {
    auto& parts = fused_[{part.first, part.count}];
    if (parts.empty())
      for (const Buffer buffer :
           {Buffer::kModel, Buffer::kGradient, Buffer::kMomentOne, Buffer::kMomentTwo})
        parts.push_back(by_decay(vectors_.at(buffer), part));
    const Tensor steps = torch::full({}, double(updates_), model().options());
    for (std::size_t decays = 0; decays < 2; ++decays) {
      if (parts[0][decays].empty()) continue;
      const std::vector<Tensor> all_steps(parts[0][decays].size(), steps);
      at::_fused_adamw_(parts[0][decays], parts[1][decays], parts[2][decays], parts[3][decays], {},
                        all_steps, rate, settings_.beta1, settings_.beta2,
                        decays == 1 ? settings_.decay : 0.0, kEpsilon, false, false);
    }
  }
  // Stretches of rows that do not decay, and those that do.
  using ByDecay = std::array<std::vector<Tensor>, 2>;
  [[nodiscard]] ByDecay by_decay(const Tensor& matrix, const Span& part) const {
    ByDecay parts;
    for (std::int64_t row = 0; row < matrix.size(0); ++row)
      for (const Stretch& stretch : stretches(part))
        parts[stretch.decays ? 1 : 0].push_back(
            matrix[row].narrow(0, stretch.span.first, stretch.span.count));
    return parts;
  }
#endif

  // Attention then adds its gradients up in one order. Memory need not be filled for that.
  static void repeat_exactly() {
    at::globalContext().setDeterministicAlgorithms(true, false);
#if TORCH_VERSION_MAJOR >= 2
    at::globalContext().setSDPUseCuDNN(false);  // adds up in any order
    at::globalContext().setDeterministicFillUninitializedMemory(false);
#endif
  }

  // Leaves that share memory with the matrix, or with its copy in bf16.
  void show_parameters() {
    if (settings_.bf16) brief_ = model().to(torch::kBFloat16);
    leaves_ = views(settings_.bf16 ? brief_ : model());
    for (Tensor& leaf : leaves_) leaf = leaf.detach().requires_grad_(true);
    gradient_views_ = views(vectors_.at(Buffer::kGradient));
  }
  [[nodiscard]] std::vector<Tensor> views(const Tensor& matrix) const {
    std::vector<Tensor> views;
    std::int64_t at_element = 0;
    for (const ParameterSpec& spec : specs_) {
      std::vector<std::int64_t> shape = {matrix.size(0)};
      shape.insert(shape.end(), spec.shape.begin(), spec.shape.end());
      const std::int64_t count = spec.elements();
      std::vector<std::int64_t> strides = {matrix.stride(0)};
      std::int64_t inner = count;
      for (const std::int64_t side : spec.shape) strides.push_back(inner /= side);
      views.push_back(matrix.as_strided(shape, strides, matrix.storage_offset() + at_element));
      at_element += count;
    }
    return views;
  }

  [[nodiscard]] Tensor mean(const std::vector<double>& shares) {
    const torch::NoGradGuard no_gradients;
    const ExactProducts exact;
    return torch::mm(vectors_.matrix(shares), model());
  }

  [[nodiscard]] Tensor on_device(const std::vector<std::uint8_t>& tokens, int islands) const {
    const std::int64_t window = settings_.model.context + 1;
    // From memory that the device reads by itself, so that nobody waits.
    const Tensor here = torch::empty({std::int64_t(tokens.size())},
                                     torch::dtype(torch::kUInt8).pinned_memory(device_.is_cuda()));
    std::copy(tokens.begin(), tokens.end(), here.data_ptr<std::uint8_t>());
    return here.view({islands, -1, window})
        .to(device_, torch::kUInt8, /*non_blocking=*/true)
        .to(torch::kInt64);
  }

  // Of each of these models on windows that are everybody's.
  [[nodiscard]] std::vector<double> evaluated(const Tensor& models,
                                              const std::vector<std::uint8_t>& tokens) const {
    const torch::NoGradGuard no_gradients;
    const std::vector<Tensor> parameters = views(models);
    const Tensor all = on_device(tokens, 1);
    Tensor sum = torch::zeros({models.size(0)}, models.options());
    for (std::int64_t first = 0; first < all.size(1); first += kWindowsAtOnce) {
      const Tensor some = all.narrow(1, first, std::min(kWindowsAtOnce, all.size(1) - first));
      sum.add_(losses_of(settings_.model, parameters, some.repeat({models.size(0), 1, 1})),
               double(some.size(1)));
    }
    return numbers_of(sum / double(all.size(1)));
  }

  const LearnerSettings settings_;
  const torch::Device device_;
  const std::vector<ParameterSpec> specs_;
  const std::int64_t elements_;
  TorchVectors vectors_;
  std::int64_t bytes_before_ = 0;  // tensors of others
  std::int64_t moving_ = 0;        // bytes at most beyond what is kept
  Tensor brief_;                   // the models in bf16, of the step being taken
  std::int64_t updates_ = 0;
  Tensor loss_sum_;
  std::int64_t losses_summed_ = 0;
  Tensor tokens_;  // of the step being taken, always in the same place
  std::unique_ptr<StepGraph> graph_;
#if TORCH_VERSION_MAJOR >= 2
  // By first element and number of elements: model, gradient, m, v.
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<ByDecay>> fused_;
#endif
  std::vector<Tensor> leaves_, gradient_views_;
};

}  // namespace

std::unique_ptr<Learner> make_learner(const LearnerSettings& settings) {
  return std::make_unique<TorchLearner>(settings);
}

}  // namespace cotillion

extern "C" __attribute__((visibility("default"))) cotillion::Learner* cotillion_make_learner(
    const cotillion::LearnerSettings* settings, std::string* error) {
  try {
    return cotillion::make_learner(*settings).release();
  } catch (const std::exception& problem) {
    *error = problem.what();
    return nullptr;
  }
}
