// Learner on libtorch. All that an island holds is one row of a matrix [islands, parameters], so
// that moves are sums of rows; the model's parameters are views into it.
#include <torch/torch.h>

#include <array>
#include <cmath>
#include <stdexcept>

#include "base/check.hpp"
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
    at::globalContext().setFloat32MatmulPrecision(settings.exact ? "highest" : "high");
    for (const ParameterSpec& spec : specs_) elements_ += spec.elements();
    set_threads();
    draw_first_values();
    first_moment_ = torch::zeros_like(model());
    second_moment_ = torch::zeros_like(model());
    at(Buffer::kGradient) = torch::zeros_like(model());
    show_parameters();
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
    const Span span = span_of(move.fragment, move.fragments, elements_, move.grain);
    const auto rows = std::int64_t(move.islands.size());
    const bool all = rows == settings_.islands;
    const Tensor which = all ? Tensor() : index(move.islands);
    Tensor sum;
    const auto add = [&](const Tensor& part) {
      if (sum.defined())
        sum.add_(part);
      else
        sum = part;
    };
    for (const Term& term : move.terms) {
      const Tensor source = at(term.from).narrow(1, span.first, span.count);
      if (term.mixing.empty())
        add((all ? source : source.index_select(0, which)) * term.own);
      else
        add(mixed(source, term.mixing, rows));
    }
    if (!sum.defined()) sum = torch::zeros({rows, span.count}, model().options());
    Tensor target = at(move.into).narrow(1, span.first, span.count);
    if (all)
      target.copy_(sum);
    else
      target.index_copy_(0, which, sum);
  }

  [[nodiscard]] std::vector<double> backward(const std::vector<std::uint8_t>& tokens) override {
    const Tensor losses = losses_of(settings_.model, leaves_, on_device(tokens, settings_.islands));
    const std::vector<Tensor> gradients = torch::autograd::grad({losses.sum()}, leaves_);
    for (std::size_t p = 0; p < gradients.size(); ++p) gradient_views_[p].copy_(gradients[p]);
    return numbers(losses.detach());
  }

  void update(double rate) override {
    const torch::NoGradGuard no_gradients;
    Tensor& gradient = at(Buffer::kGradient);
    const Tensor norm = gradient.norm(2, 1, true);
    gradient.mul_((settings_.clip / (norm + 1e-6)).clamp_max(1));
    ++updates_;
    first_moment_.mul_(settings_.beta1).add_(gradient, 1 - settings_.beta1);
    second_moment_.mul_(settings_.beta2).addcmul_(gradient, gradient, 1 - settings_.beta2);
    const double first = 1 - std::pow(settings_.beta1, double(updates_));
    const double second = 1 - std::pow(settings_.beta2, double(updates_));
    Tensor root = second_moment_.sqrt();
    root.mul_(1 / std::sqrt(second)).add_(kEpsilon);
    std::int64_t at_element = 0;
    for (const ParameterSpec& spec : specs_) {
      if (spec.decays)
        model().narrow(1, at_element, spec.elements()).mul_(1 - rate * settings_.decay);
      at_element += spec.elements();
    }
    model().addcdiv_(first_moment_, root, -rate / first);
  }

  [[nodiscard]] std::vector<double> losses(const std::vector<std::uint8_t>& tokens) override {
    std::vector<double> each;
    for (int island = 0; island < settings_.islands; ++island)
      each.push_back(evaluated(model().narrow(0, island, 1), tokens));
    return each;
  }

  [[nodiscard]] double loss_of_mean(const std::vector<double>& shares,
                                    const std::vector<std::uint8_t>& tokens) override {
    return evaluated(mean(shares), tokens);
  }

  [[nodiscard]] Disagreement disagreement(const std::vector<double>& shares) override {
    const torch::NoGradGuard no_gradients;
    const Tensor middle = mean(shares);
    double squares = 0;
    for (int i = 0; i < settings_.islands; ++i)
      squares += (model().narrow(0, i, 1) - middle).pow(2).sum().item<double>();
    return {std::sqrt(squares / settings_.islands), middle.norm().item<double>()};
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
    std::vector<Tensor> all = {first_moment_, second_moment_, torch::tensor(updates_)};
    for (const Tensor& buffer : buffers_)
      all.push_back(buffer.defined() ? buffer.detach() : torch::empty({0}));
    torch::save(all, path);
  }

  void load(const std::string& path) override {
    std::vector<Tensor> all;
    torch::load(all, path, device_);
    if (all.size() != 3 + buffers_.size() || all[0].sizes() != first_moment_.sizes())
      throw std::runtime_error(path + ": of another model");
    const torch::NoGradGuard no_gradients;
    first_moment_.copy_(all[0]);
    second_moment_.copy_(all[1]);
    updates_ = all[2].item<std::int64_t>();
    for (std::size_t b = 0; b < buffers_.size(); ++b)
      if (all[3 + b].numel() > 0) at(Buffer(b)).copy_(all[3 + b]);
  }

 private:
  Tensor& model() { return buffers_[std::size_t(Buffer::kModel)]; }
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

  // Leaves that share memory with the matrix.
  void show_parameters() {
    leaves_ = views(model());
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

  [[nodiscard]] Tensor index(const std::vector<int>& islands) const {
    return torch::tensor(std::vector<std::int64_t>(islands.begin(), islands.end()), torch::kInt64)
        .to(device_);
  }

  // Rows that are alike (those of a clique) are added up once. No matrix product: sums of rows are
  // rounded as float, never as TF32.
  [[nodiscard]] Tensor mixed(const Tensor& source, const std::vector<double>& mixing,
                             std::int64_t rows) const {
    const auto n = std::size_t(settings_.islands);
    std::vector<Tensor> distinct;
    std::vector<std::size_t> first_of;
    std::vector<int> same_as;
    for (std::size_t row = 0; row < std::size_t(rows); ++row) {
      int found = -1;
      for (std::size_t d = 0; d < distinct.size() && found < 0; ++d)
        if (std::equal(mixing.begin() + std::ptrdiff_t(row * n),
                       mixing.begin() + std::ptrdiff_t((row + 1) * n),
                       mixing.begin() + std::ptrdiff_t(first_of[d] * n)))
          found = int(d);
      if (found < 0) {
        Tensor sum;
        for (std::size_t j = 0; j < n; ++j) {
          const double weight = mixing[row * n + j];
          if (weight == 0) continue;
          const Tensor part = source.select(0, std::int64_t(j));
          sum = sum.defined() ? sum.add_(part, weight) : part * weight;
        }
        if (!sum.defined()) sum = torch::zeros_like(source.select(0, 0));
        found = int(distinct.size());
        distinct.push_back(sum);
        first_of.push_back(row);
      }
      same_as.push_back(found);
    }
    if (distinct.size() == 1) return distinct[0].unsqueeze(0).repeat({rows, 1});
    return torch::stack(distinct).index_select(0, index(same_as));
  }

  [[nodiscard]] Tensor mean(const std::vector<double>& shares) const {
    const torch::NoGradGuard no_gradients;
    return mixed(buffers_[std::size_t(Buffer::kModel)], shares, 1);
  }

  [[nodiscard]] Tensor on_device(const std::vector<std::uint8_t>& tokens, int islands) const {
    const std::int64_t window = settings_.model.context + 1;
    return torch::tensor(at::ArrayRef<std::uint8_t>(tokens), torch::kUInt8)
        .view({islands, -1, window})
        .to(device_)
        .to(torch::kInt64);
  }

  // Of one model on windows that are everybody's.
  [[nodiscard]] double evaluated(const Tensor& row, const std::vector<std::uint8_t>& tokens) const {
    const torch::NoGradGuard no_gradients;
    const std::vector<Tensor> parameters = views(row);
    const Tensor all = on_device(tokens, 1);
    double sum = 0;
    for (std::int64_t first = 0; first < all.size(1); first += kWindowsAtOnce) {
      const Tensor some = all.narrow(1, first, std::min(kWindowsAtOnce, all.size(1) - first));
      sum += losses_of(settings_.model, parameters, some).item<double>() * double(some.size(1));
    }
    return sum / double(all.size(1));
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
  Tensor first_moment_, second_moment_;
  std::int64_t updates_ = 0;
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
