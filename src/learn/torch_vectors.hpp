// All that islands hold of vectors as long as their model, on a device: each a matrix with a row
// for each island, so that moves are sums of rows. They are made a slice of elements at a time,
// because a sum must lie somewhere until it is complete.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include "learn/learner.hpp"

namespace cotillion {

class TorchVectors {
 public:
  using Tensor = torch::Tensor;

  TorchVectors(int islands, std::int64_t elements, const torch::Device& device);

  // Most policies need few of them. The first is the model, and is given by whoever makes it.
  void begin(Tensor models);
  [[nodiscard]] Tensor& at(Buffer which);
  [[nodiscard]] std::array<Tensor, kBufferCount>& all() { return buffers_; }

  void apply(const VectorMove& move);
  // What of a move is in a part of the vector.
  void apply_to(const VectorMove& move, const Span& part);
  template <class Work>
  void each_slice(const Span& span, Work work) const {
    const std::int64_t end = span.first + span.count;
    for (std::int64_t first = span.first; first < end; first += slice_)
      work(Span{first, std::min(slice_, end - first)});
  }
  // Room for what is held of one slice, as far as it is needed; of none.
  void hold(const Span& part) { held_span_ = part; }
  void release() { held_.fill(Tensor()); }

  // How far models are apart, added up slice by slice.
  struct Apart {
    Tensor squares, norm;  // on the device, in double
  };
  void look(Apart& apart, const std::vector<double>& shares, const Span& part);
  [[nodiscard]] Learner::Disagreement seen(const Apart& apart) const;

  // A row of weights for each of some islands, on the device. Schedules repeat themselves.
  [[nodiscard]] const Tensor& matrix(const std::vector<double>& weights);

  [[nodiscard]] std::vector<float> row(Buffer buffer, int island);
  void set_row(Buffer buffer, int island, std::span<const float> values);
  void read(int island, std::int64_t first, std::span<float> to);
  void merge(int island, std::int64_t first, double scale, std::span<const float> values);

 private:
  // Those of a move's islands, from the `first`-th up to the `end`-th, that are a slice of rows.
  struct Rows {
    std::size_t first, end;
    int island;
    [[nodiscard]] std::int64_t count() const { return std::int64_t(end - first); }
  };
  [[nodiscard]] Tensor slice(Buffer buffer, const Rows& rows, const Span& span);
  void add(Tensor& sum, const Term& term, const Rows& rows, const Span& span);

  const int islands_;
  const std::int64_t elements_;
  const torch::Device device_;
  const std::int64_t slice_;
  std::array<Tensor, kBufferCount> buffers_;
  std::array<Tensor, kHeldCount> held_;  // of that slice
  Span held_span_;
  std::map<std::vector<double>, Tensor> matrices_;
};

// While it lives products are exact: TF32 would round what is sent.
class ExactProducts {
 public:
  ExactProducts();
  ~ExactProducts();
  ExactProducts(const ExactProducts&) = delete;
  ExactProducts& operator=(const ExactProducts&) = delete;

 private:
  const bool before_;
};

[[nodiscard]] std::vector<double> numbers_of(const torch::Tensor& tensor);

}  // namespace cotillion
