#include "learn/torch_model.hpp"

#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

using torch::Tensor;

constexpr std::int64_t kBytes = 256;
constexpr std::int64_t kMlpBytes = 8;  // how far back the MLP looks
constexpr std::int64_t kMlpEmbedding = 16;

// [n, rows, in] × [n, in, out].
Tensor product(const Tensor& x, const Tensor& weights) {
  return torch::bmm(x, weights);
}

// Rows of a table by byte, as a product: its gradient needs no scattered sums, which on a GPU come
// in any order.
Tensor embedded(const Tensor& table, const Tensor& bytes) {
  const std::int64_t n = bytes.size(0);
  const Tensor hot = torch::one_hot(bytes.reshape({n, -1}), kBytes).to(table.scalar_type());
  return product(hot, table);
}

Tensor normalised(const Tensor& x, const Tensor& gain) {
  const std::int64_t width = x.size(2);
  return torch::layer_norm(x, {width}) * gain.unsqueeze(1);
}

// [n·batch, heads, length, head], causal. Newer libraries have it in one kernel.
Tensor heard_by(const Tensor& q, const Tensor& k, const Tensor& v) {
#if TORCH_VERSION_MAJOR >= 2
  return at::scaled_dot_product_attention(q, k, v, {}, 0.0, true);
#else
  const std::int64_t length = q.size(2), head = q.size(3);
  const Tensor mask =
      torch::full({length, length}, -1e9, q.options().requires_grad(false)).triu(1).unsqueeze(0);
  const auto flat = [&](const Tensor& t) { return t.reshape({-1, length, head}); };
  const Tensor scores =
      torch::baddbmm(mask, flat(q), flat(k).transpose(1, 2), 1, 1 / std::sqrt(double(head)));
  return torch::bmm(torch::softmax(scores, -1), flat(v)).view(q.sizes());
#endif
}

class Reader {
 public:
  explicit Reader(const std::vector<Tensor>& parameters) : parameters_(parameters) {}
  const Tensor& next() {
    COTILLION_CHECK(next_ < parameters_.size());
    return parameters_[next_++];
  }

 private:
  const std::vector<Tensor>& parameters_;
  std::size_t next_ = 0;
};

// [n, batch·length, width] in and out.
Tensor attention(const Tensor& x, Reader& parameters, const ModelSpec& model, std::int64_t batch) {
  const std::int64_t n = x.size(0), length = x.size(1) / batch;
  const std::int64_t head = model.width / model.heads;
  const Tensor all = product(x, parameters.next())
                         .view({n * batch, length, 3, model.heads, head})
                         .permute({2, 0, 3, 1, 4});
  const Tensor heard =
      heard_by(all[0], all[1], all[2]).transpose(1, 2).reshape({n, batch * length, model.width});
  return product(heard, parameters.next());
}

Tensor gpt_logits(const ModelSpec& model, const std::vector<Tensor>& all, const Tensor& bytes) {
  Reader parameters(all);
  const std::int64_t n = bytes.size(0), batch = bytes.size(1), length = bytes.size(2);
  Tensor x = embedded(parameters.next(), bytes).view({n, batch, length, model.width});
  x = (x + parameters.next().narrow(1, 0, length).unsqueeze(1)).view({n, batch * length, -1});
  for (int layer = 0; layer < model.layers; ++layer) {
    const Tensor before = normalised(x, parameters.next());
    x = x + attention(before, parameters, model, batch);
    Tensor wide = normalised(x, parameters.next());
    wide = torch::gelu(product(wide, parameters.next()));
    x = x + product(wide, parameters.next());
  }
  x = normalised(x, parameters.next());
  return product(x, parameters.next());
}

Tensor mlp_logits(const std::vector<Tensor>& all, const Tensor& bytes) {
  Reader parameters(all);
  const std::int64_t n = bytes.size(0), batch = bytes.size(1), length = bytes.size(2);
  const Tensor each = embedded(parameters.next(), bytes).view({n, batch, length, kMlpEmbedding});
  const Tensor padded = torch::constant_pad_nd(each, {0, 0, kMlpBytes - 1, 0});
  std::vector<Tensor> last;
  for (std::int64_t back = 0; back < kMlpBytes; ++back)
    last.push_back(padded.narrow(2, back, length));
  const Tensor x = torch::cat(last, 3).view({n, batch * length, kMlpBytes * kMlpEmbedding});
  const Tensor hidden = torch::gelu(product(x, parameters.next()));
  return product(hidden, parameters.next());
}

}  // namespace

std::int64_t ParameterSpec::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t side : shape) count *= side;
  return count;
}

std::vector<ParameterSpec> parameters_of(const ModelSpec& model) {
  const std::int64_t c = model.width;
  const auto matrix = [](std::int64_t in, std::int64_t out, double gain = 1) {
    return ParameterSpec{{in, out}, gain / std::sqrt(double(in)), 0, true};
  };
  if (model.kind == ModelSpec::Kind::kMlp)
    return {{{kBytes, kMlpEmbedding}, 0.3, 0, false},
            matrix(kMlpBytes * kMlpEmbedding, c),
            matrix(c, kBytes, 0.5)};
  std::vector<ParameterSpec> specs = {{{kBytes, c}, 0.02, 0, false},
                                      {{model.context, c}, 0.02, 0, false}};
  const double residual = 1 / std::sqrt(2.0 * model.layers);
  for (int layer = 0; layer < model.layers; ++layer) {
    specs.push_back({{c}, 0, 1, false});
    specs.push_back(matrix(c, 3 * c, 0.5));
    specs.push_back(matrix(c, c, 0.5 * residual));
    specs.push_back({{c}, 0, 1, false});
    specs.push_back(matrix(c, 4 * c, 0.5));
    specs.push_back(matrix(4 * c, c, residual));
  }
  specs.push_back({{c}, 0, 1, false});
  specs.push_back(matrix(c, kBytes, 0.2));
  return specs;
}

torch::Tensor losses_of(const ModelSpec& model, const std::vector<torch::Tensor>& parameters,
                        const torch::Tensor& tokens) {
  const std::int64_t n = tokens.size(0), length = tokens.size(2) - 1;
  const Tensor bytes = tokens.narrow(2, 0, length);
  const Tensor targets = tokens.narrow(2, 1, length).reshape({-1});
  const Tensor logits = model.kind == ModelSpec::Kind::kMlp ? mlp_logits(parameters, bytes)
                                                            : gpt_logits(model, parameters, bytes);
  const Tensor chances = torch::log_softmax(logits.to(torch::kFloat32), -1).view({-1, kBytes});
  return torch::nll_loss(chances, targets, {}, at::Reduction::None).view({n, -1}).mean(1);
}

}  // namespace cotillion
