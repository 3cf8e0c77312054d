#include <array>

#include "learn/learner.hpp"

namespace cotillion {

Result<ModelSpec> model_named(const std::string& name) {
  struct Named {
    const char* name;
    ModelSpec spec;
  };
  using Kind = ModelSpec::Kind;
  static const std::array<Named, 8> kModels = {{{"gpt:0.5M", {Kind::kGpt, 2, 128, 4, 64}},
                                                {"gpt:2M", {Kind::kGpt, 4, 192, 6, 128}},
                                                {"gpt:7M", {Kind::kGpt, 6, 320, 5, 256}},
                                                {"gpt:10M", {Kind::kGpt, 6, 384, 6, 256}},
                                                {"gpt:25M", {Kind::kGpt, 8, 512, 8, 256}},
                                                {"gpt:50M", {Kind::kGpt, 10, 640, 10, 256}},
                                                {"gpt:125M", {Kind::kGpt, 13, 896, 14, 256}},
                                                {"mlp", {Kind::kMlp, 1, 64, 1, 16}}}};
  std::string known;
  for (const Named& model : kModels) {
    if (name == model.name) return model.spec;
    known += (known.empty() ? "" : ", ") + std::string(model.name);
  }
  return failure("no model is called '" + name + "'; known: " + known);
}

}  // namespace cotillion
