// Learner on libtorch. All that an island holds is one row of a matrix [islands, parameters], so
// that moves are sums of rows; the model's parameters are views into it.
#include <torch/torch.h>

#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

#include "base/check.hpp"
#include "train/torch_graph.hpp"
#include "train/torch_model.hpp"

// OpenBLAS has threads of its own, which libtorch does not know; null with other libraries.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace cotillion {
namespace {

using torch::Tensor;

constexpr double kEpsilon = 1e-8;
// Below it threads wait for each other longer than they work, all the more on a busy machine.
constexpr std::int64_t kWorthThreads = 1'000'000;
constexpr std::int64_t kWindowsAtOnce = 64;  // of an evaluation, to bound memory
constexpr std::size_t kMatricesKept = 4096;

torch::Device device_named(const std::string& name) {
  const bool there = torch::cuda::is_available();
  if (name == "cuda" && !there) throw std::runtime_error("there is no GPU that libtorch can use");
  return (name == "cuda" || (name == "auto" && there)) ? torch::kCUDA : torch::kCPU;
}

class TorchLearner final : public Learner {
 public:
  explicit TorchLearner(const LearnerSettings& settings)
      : settings_(settings),
        device_(device_named(settings.device)),
        specs_(parameters_of(settings.model)) {
    if (settings.bf16 && !device_.is_cuda())
      throw std::runtime_error("bf16 steps are for GPUs; a CPU computes in f32");
    at::globalContext().setAllowTF32CuBLAS(!settings.exact);
    if (device_.is_cuda()) {
      StepGraph::use_own_stream();
      repeat_exactly();
    }
    for (const ParameterSpec& spec : specs_) elements_ += spec.elements();
    set_threads();
    draw_first_values();
    show_parameters();
    loss_sum_ = torch::zeros({settings_.islands}, model().options());
  }

  [[nodiscard]] std::int64_t parameters() const override { return elements_; }
  [[nodiscard]] std::string device() const override { return device_.is_cuda() ? "cuda" : "cpu"; }

  [[nodiscard]] int vectors() const override {
    int count = 2;  // moments
    for (const Tensor& buffer : buffers_) count += buffer.defined() ? 1 : 0;
    return count;
  }

  void apply(const VectorMove& move) override {
    const torch::NoGradGuard no_gradients;
    const ExactProducts exact;
    const Span span = span_of(move, elements_);
    // Islands in runs, so that rows are slices; all sums are complete before anything is written.
    std::vector<std::pair<Tensor, Tensor>> results;
    for (std::size_t first = 0, end = 0; first < move.islands.size(); first = end) {
      for (end = first + 1; end < move.islands.size(); ++end)
        if (move.islands[end] != move.islands[end - 1] + 1) break;
      const Rows rows = {first, end, move.islands[first]};
      Tensor sum;
      for (const Term& term : move.terms) add(sum, term, rows, span);
      const Tensor target = slice(move.into, rows, span);
      if (!sum.defined()) sum = torch::zeros_like(target);
      results.emplace_back(target, on_wire(sum, move.wire));
    }
    for (auto& [target, sum] : results) target.copy_(sum);
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
    std::vector<double> means = numbers(loss_sum_);
    for (double& mean : means) mean /= double(std::max<std::int64_t>(1, losses_summed_));
    loss_sum_.zero_();
    losses_summed_ = 0;
    return means;
  }

  void update(double rate) override {
    const torch::NoGradGuard no_gradients;
    Tensor& gradient = at(Buffer::kGradient);
    const Tensor norm = gradient.norm(2, 1, true);
    gradient.mul_((settings_.clip / (norm + 1e-6)).clamp_max(1));
    ++updates_;
    Tensor &m = at(Buffer::kMomentOne), &v = at(Buffer::kMomentTwo);
#if TORCH_VERSION_MAJOR >= 2
    if (device_.is_cuda()) return fused_update(rate);
#endif
    model().mul_(decays_ * (-rate * settings_.decay) + 1);
    m.mul_(settings_.beta1).add_(gradient, 1 - settings_.beta1);
    v.mul_(settings_.beta2).addcmul_(gradient, gradient, 1 - settings_.beta2);
    const double first = 1 - std::pow(settings_.beta1, double(updates_));
    const double second = 1 - std::pow(settings_.beta2, double(updates_));
    Tensor root = v.sqrt();
    root.mul_(1 / std::sqrt(second)).add_(kEpsilon);
    model().addcdiv_(m, root, -rate / first);
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
    const Tensor middle = mean(shares);
    const Tensor apart = (model() - middle).norm() / std::sqrt(double(settings_.islands));
    const std::vector<double> both = numbers(torch::stack({apart, middle.norm()}));
    return {both[0], both[1]};
  }

  [[nodiscard]] std::vector<float> row(Buffer buffer, int island) override {
    const Tensor here = at(buffer)[island].detach().to(torch::kCPU).contiguous();
    return {here.data_ptr<float>(), here.data_ptr<float>() + here.numel()};
  }
  void set_row(Buffer buffer, int island, const std::vector<float>& values) override {
    COTILLION_CHECK(std::int64_t(values.size()) == elements_);
    const torch::NoGradGuard no_gradients;
    at(buffer)[island].copy_(torch::tensor(at::ArrayRef<float>(values)));
  }

  void save(const std::string& path) override {
    std::vector<Tensor> all = {torch::tensor(updates_), loss_sum_, torch::tensor(losses_summed_)};
    for (const Tensor& buffer : buffers_)
      all.push_back(buffer.defined() ? buffer.detach() : torch::empty({0}));
    torch::save(all, path);
  }

  void load(const std::string& path) override {
    std::vector<Tensor> all;
    torch::load(all, path, device_);
    if (all.size() != 3 + buffers_.size() || all[3].sizes() != model().sizes())
      throw std::runtime_error(path + ": of another model");
    const torch::NoGradGuard no_gradients;
    updates_ = all[0].item<std::int64_t>();
    loss_sum_.copy_(all[1]);
    losses_summed_ = all[2].item<std::int64_t>();
    for (std::size_t b = 0; b < buffers_.size(); ++b)
      if (all[3 + b].numel() > 0) at(Buffer(b)).copy_(all[3 + b]);
  }

 private:
  Tensor& model() {
    return buffers_[std::size_t(Buffer::kModel)];
  }
  // Most policies need few of them.
  Tensor& at(Buffer which) {
    Tensor& buffer = buffers_[std::size_t(which)];
    if (!buffer.defined()) buffer = torch::zeros_like(model());
    return buffer;
  }

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
    model() = one.expand({settings_.islands, elements_}).contiguous().to(device_);
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

#if TORCH_VERSION_MAJOR >= 2
  // AdamW in one pass, over what decays and over what does not.
  void fused_update(double rate) {
    if (fused_.empty())
      for (const Buffer buffer :
           {Buffer::kModel, Buffer::kGradient, Buffer::kMomentOne, Buffer::kMomentTwo})
        fused_.push_back(by_decay(at(buffer)));
    const Tensor steps = torch::full({}, double(updates_), model().options());
    for (std::size_t decays = 0; decays < 2; ++decays) {
      const std::vector<Tensor> all_steps(fused_[0][decays].size(), steps);
      at::_fused_adamw_(fused_[0][decays], fused_[1][decays], fused_[2][decays], fused_[3][decays],
                        {}, all_steps, rate, settings_.beta1, settings_.beta2,
                        decays == 1 ? settings_.decay : 0.0, kEpsilon, false, false);
    }
  }
  // Stretches of rows that do not decay, and those that do.
  [[nodiscard]] std::array<std::vector<Tensor>, 2> by_decay(const Tensor& matrix) const {
    std::array<std::vector<Tensor>, 2> parts;
    for (std::int64_t row = 0; row < matrix.size(0); ++row) {
      std::int64_t first = 0, end = 0;
      for (std::size_t s = 0; s < specs_.size(); ++s) {
        end += specs_[s].elements();
        if (s + 1 < specs_.size() && specs_[s + 1].decays == specs_[s].decays) continue;
        parts[specs_[s].decays ? 1 : 0].push_back(matrix[row].narrow(0, first, end - first));
        first = end;
      }
    }
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
    std::vector<Tensor> decays;
    for (const ParameterSpec& spec : specs_)
      decays.push_back(torch::full({spec.elements()}, spec.decays ? 1.0 : 0.0));
    decays_ = torch::cat(decays).unsqueeze(0).to(device_);
    if (settings_.bf16) brief_ = model().to(torch::kBFloat16);
    leaves_ = views(settings_.bf16 ? brief_ : model());
    for (Tensor& leaf : leaves_) leaf = leaf.detach().requires_grad_(true);
    gradient_views_ = views(at(Buffer::kGradient));
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

  // TF32 would round what is sent.
  class ExactProducts {
   public:
    ExactProducts() : before_(at::globalContext().allowTF32CuBLAS()) {
      at::globalContext().setAllowTF32CuBLAS(false);
    }
    ~ExactProducts() { at::globalContext().setAllowTF32CuBLAS(before_); }
    ExactProducts(const ExactProducts&) = delete;
    ExactProducts& operator=(const ExactProducts&) = delete;

   private:
    const bool before_;
  };

  // Those of a move's islands, from the `first`-th up to the `end`-th, that are a slice of rows.
  struct Rows {
    std::size_t first, end;
    int island;
    [[nodiscard]] std::int64_t count() const { return std::int64_t(end - first); }
  };
  [[nodiscard]] Tensor slice(Buffer buffer, const Rows& rows, const Span& span) {
    return at(buffer).narrow(0, rows.island, rows.count()).narrow(1, span.first, span.count);
  }

  void add(Tensor& sum, const Term& term, const Rows& rows, const Span& span) {
    if (term.mixing.empty()) {
      if (term.own == 0) return;
      const Tensor own = slice(term.from, rows, span);
      sum = sum.defined() ? sum.add_(own, term.own) : own * term.own;
      return;
    }
    const auto n = std::ptrdiff_t(settings_.islands);
    const std::vector<double> weights(term.mixing.begin() + std::ptrdiff_t(rows.first) * n,
                                      term.mixing.begin() + std::ptrdiff_t(rows.end) * n);
    const Tensor all = at(term.from).narrow(1, span.first, span.count);
    if (term.wire == WireFormat::kBf16) {
      const Tensor counts = matrix(weights).ne(0).sum(1, true).to(torch::kFloat32);
      const Tensor added =
          on_wire(torch::mm(matrix(weights) * counts, all), WireFormat::kBf16) / counts;
      sum = sum.defined() ? sum.add_(added) : added;
    } else {
      sum = sum.defined() ? sum.addmm_(matrix(weights), all) : torch::mm(matrix(weights), all);
    }
  }

  static Tensor on_wire(const Tensor& values, WireFormat wire) {
    if (wire == WireFormat::kBf16) return values.to(torch::kBFloat16).to(torch::kFloat32);
    if (wire == WireFormat::kI32)
      return (values * std::ldexp(1.0, -kGridExponent))
          .round_()
          .mul_(std::ldexp(1.0, kGridExponent));
    return values;
  }

  // A row of weights for each of some islands, on the device. Schedules repeat themselves.
  [[nodiscard]] const Tensor& matrix(const std::vector<double>& weights) {
    if (matrices_.size() > kMatricesKept) matrices_.clear();
    Tensor& known = matrices_[weights];
    if (!known.defined())
      known = torch::tensor(at::ArrayRef<double>(weights), torch::kFloat64)
                  .view({-1, settings_.islands})
                  .to(torch::kFloat32)
                  .to(device_);
    return known;
  }

  [[nodiscard]] Tensor mean(const std::vector<double>& shares) {
    const torch::NoGradGuard no_gradients;
    const ExactProducts exact;
    return torch::mm(matrix(shares), model());
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
    return numbers(sum / double(all.size(1)));
  }

  static std::vector<double> numbers(const Tensor& tensor) {
    const Tensor here = tensor.to(torch::kCPU, torch::kFloat64).contiguous();
    return {here.data_ptr<double>(), here.data_ptr<double>() + here.numel()};
  }

  const LearnerSettings settings_;
  const torch::Device device_;
  const std::vector<ParameterSpec> specs_;
  std::int64_t elements_ = 0;
  std::array<Tensor, kBufferCount> buffers_;
  Tensor brief_;   // the models in bf16, of the step being taken
  Tensor decays_;  // 1 for parameters that decay
  std::int64_t updates_ = 0;
  Tensor loss_sum_;
  std::int64_t losses_summed_ = 0;
  std::map<std::vector<double>, Tensor> matrices_;
  Tensor tokens_;  // of the step being taken, always in the same place
  std::unique_ptr<StepGraph> graph_;
#if TORCH_VERSION_MAJOR >= 2
  std::vector<std::array<std::vector<Tensor>, 2>> fused_;  // model, gradient, m, v
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
