#include "policy/load.hpp"

#include <fmt/format.h>

#include "policy/payload_plan.hpp"

namespace cotillion {

Load read_load(PolicyText& policy) {
  const std::string wire = policy.word("wire", "f32", {"f32", "bf16", "i32"});
  const std::string moments = policy.word("moments", "none", {"none", "second", "both"});
  Load load;
  load.wire = wire == "bf16"  ? WireFormat::kBf16
              : wire == "i32" ? WireFormat::kI32
                              : WireFormat::kF32;
  load.moments = moments == "both" ? 2 : moments == "second" ? 1 : 0;
  load.moments_every = policy.whole("moments-every", 1, 1, 4096);
  const double sent =
      (load.wire == WireFormat::kBf16 ? 0.5 : 1) * (1 + double(load.moments) / load.moments_every);
  load.payload = policy.number("payload", sent, 0.001, 1000);
  return load;
}

std::string load_text(const Load& load) {
  std::string text;
  if (load.wire != WireFormat::kF32) text += load.wire == WireFormat::kBf16 ? ", bf16" : ", i32";
  if (load.moments > 0)
    text +=
        fmt::format(", {} every {} rounds", load.moments > 1 ? "m and v" : "v", load.moments_every);
  if (!is_full_payload(load.payload)) text += fmt::format(", payload × {:.3g}", load.payload);
  return text;
}

std::string why_not_carried(const Recipe& recipe, const Load& load) {
  const auto* const rotation = std::get_if<RotationRecipe>(&recipe.kind);
  if (load.wire != WireFormat::kF32 && rotation == nullptr && !is_a<StreamingRecipe>(recipe))
    return "wire= is for our policies and for streaming-diloco";
  if (load.moments == 0) return "";
  if (rotation == nullptr)
    return "moments= is for policies that train while they exchange in rounds";
  if (rotation->fragments % load.moments_every != 0)
    return fmt::format(
        "moments-every={}: of {} fragments not as many travel in every round, and the price would "
        "be wrong",
        load.moments_every, rotation->fragments);
  return "";
}

}  // namespace cotillion
