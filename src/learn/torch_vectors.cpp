#include "learn/torch_vectors.hpp"

#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

using torch::Tensor;

// On a GPU a slice is more work for the CPU: there are eight or more of them, as of fragments.
constexpr std::int64_t kSlice = 1 << 14, kSliceOnGpu = 1 << 20, kSlicesOnGpu = 8;
constexpr std::size_t kMatricesKept = 4096;

Tensor on_wire(const Tensor& values, WireFormat wire) {
  if (wire == WireFormat::kBf16) return values.to(torch::kBFloat16).to(torch::kFloat32);
  if (wire == WireFormat::kI32)
    return (values * std::ldexp(1.0, -kGridExponent)).round_().mul_(std::ldexp(1.0, kGridExponent));
  return values;
}

// The same memory; it must outlive what comes back.
Tensor shown(std::span<const float> values) {
  return torch::from_blob(const_cast<float*>(values.data()), {std::int64_t(values.size())});
}

}  // namespace

TorchVectors::TorchVectors(int islands, std::int64_t elements, const torch::Device& device)
    : islands_(islands),
      elements_(elements),
      device_(device),
      slice_(device.is_cuda() ? std::clamp(elements / kSlicesOnGpu, kSlice, kSliceOnGpu) : kSlice) {
}

void TorchVectors::begin(Tensor models) {
  buffers_[std::size_t(Buffer::kModel)] = std::move(models);
}

Tensor& TorchVectors::at(Buffer which) {
  COTILLION_CHECK(!is_held(which));
  Tensor& buffer = buffers_[std::size_t(which)];
  if (!buffer.defined()) buffer = torch::zeros_like(buffers_[std::size_t(Buffer::kModel)]);
  return buffer;
}

Tensor TorchVectors::slice(Buffer buffer, const Rows& rows, const Span& span) {
  if (!is_held(buffer))
    return at(buffer).narrow(0, rows.island, rows.count()).narrow(1, span.first, span.count);
  Tensor& held = held_[std::size_t(buffer) - std::size_t(Buffer::kHeld)];
  if (!held.defined())
    held = torch::empty({islands_, held_span_.count}, at(Buffer::kModel).options());
  return held.narrow(0, rows.island, rows.count())
      .narrow(1, span.first - held_span_.first, span.count);
}

void TorchVectors::apply(const VectorMove& move) {
  const torch::NoGradGuard no_gradients;
  const ExactProducts exact;
  each_slice(span_of(move, elements_), [&](const Span& part) { apply_to(move, part); });
}

void TorchVectors::apply_to(const VectorMove& move, const Span& part) {
  const Span whole = span_of(move, elements_);
  const std::int64_t from = std::max(whole.first, part.first);
  const std::int64_t to = std::min(whole.first + whole.count, part.first + part.count);
  if (from >= to) return;
  const Span span = {from, to - from};
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
    results.emplace_back(target, sum);
  }
  for (auto& [target, sum] : results) target.copy_(sum);
}

void TorchVectors::add(Tensor& sum, const Term& term, const Rows& rows, const Span& span) {
  if (term.mixing.empty()) {
    if (term.own == 0) return;
    Tensor own = slice(term.from, rows, span);
    if (term.wire != WireFormat::kF32) own = own - on_wire(own, term.wire);
    sum = sum.defined() ? sum.add_(own, term.own) : own * term.own;
    return;
  }
  const auto n = std::ptrdiff_t(islands_);
  const std::vector<double> weights(term.mixing.begin() + std::ptrdiff_t(rows.first) * n,
                                    term.mixing.begin() + std::ptrdiff_t(rows.end) * n);
  const Tensor all = on_wire(at(term.from).narrow(1, span.first, span.count), term.wire);
  if (term.wire == WireFormat::kBf16) {
    // An edge has summed the others'.
    std::vector<double> own(weights.size(), 0.0), others = weights;
    for (std::ptrdiff_t row = 0; row < rows.count(); ++row)
      std::swap(own[std::size_t(row * n + rows.island + row)],
                others[std::size_t(row * n + rows.island + row)]);
    const Tensor counts = matrix(weights).ne(0).sum(1, true).clamp_min(1).to(torch::kFloat32);
    Tensor added = on_wire(torch::mm(matrix(others) * counts, all), WireFormat::kBf16) / counts;
    added.addmm_(matrix(own), all);
    sum = sum.defined() ? sum.add_(added) : added;
  } else {
    sum = sum.defined() ? sum.addmm_(matrix(weights), all) : torch::mm(matrix(weights), all);
  }
}

const Tensor& TorchVectors::matrix(const std::vector<double>& weights) {
  if (matrices_.size() > kMatricesKept) matrices_.clear();
  Tensor& known = matrices_[weights];
  if (!known.defined())
    known = torch::tensor(at::ArrayRef<double>(weights), torch::kFloat64)
                .view({-1, islands_})
                .to(torch::kFloat32)
                .to(device_);
  return known;
}

void TorchVectors::look(Apart& apart, const std::vector<double>& shares, const Span& part) {
  const Tensor some = at(Buffer::kModel).narrow(1, part.first, part.count);
  const Tensor middle = torch::mm(matrix(shares), some);
  const Tensor squares = (some - middle).square_().sum(torch::kFloat64);
  const Tensor norm = middle.square().sum(torch::kFloat64);
  apart.squares = apart.squares.defined() ? apart.squares.add_(squares) : squares;
  apart.norm = apart.norm.defined() ? apart.norm.add_(norm) : norm;
}

Learner::Disagreement TorchVectors::seen(const Apart& apart) const {
  const std::vector<double> both = numbers_of(torch::stack({apart.squares, apart.norm}));
  return {std::sqrt(both[0] / islands_), std::sqrt(both[1])};
}

std::vector<float> TorchVectors::row(Buffer buffer, int island) {
  const Tensor here = at(buffer)[island].detach().to(torch::kCPU).contiguous();
  return {here.data_ptr<float>(), here.data_ptr<float>() + here.numel()};
}

void TorchVectors::set_row(Buffer buffer, int island, std::span<const float> values) {
  COTILLION_CHECK(std::int64_t(values.size()) == elements_);
  const torch::NoGradGuard no_gradients;
  at(buffer)[island].copy_(shown(values));
}

void TorchVectors::read(int island, std::int64_t first, std::span<float> to) {
  const torch::NoGradGuard no_gradients;
  const auto count = std::int64_t(to.size());
  torch::from_blob(to.data(), {count}).copy_(at(Buffer::kModel)[island].narrow(0, first, count));
}

void TorchVectors::merge(int island, std::int64_t first, double scale,
                         std::span<const float> values) {
  const torch::NoGradGuard no_gradients;
  Tensor x = at(Buffer::kModel)[island].narrow(0, first, std::int64_t(values.size()));
  if (scale != 1) x.mul_(scale);
  x.add_(shown(values).to(device_));
}

ExactProducts::ExactProducts() : before_(at::globalContext().allowTF32CuBLAS()) {
  at::globalContext().setAllowTF32CuBLAS(false);
}

ExactProducts::~ExactProducts() {
  at::globalContext().setAllowTF32CuBLAS(before_);
}

std::vector<double> numbers_of(const Tensor& tensor) {
  const Tensor here = tensor.to(torch::kCPU, torch::kFloat64).contiguous();
  return {here.data_ptr<double>(), here.data_ptr<double>() + here.numel()};
}

}  // namespace cotillion
