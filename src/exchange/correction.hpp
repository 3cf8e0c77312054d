// A correction, as the merge rule (protocol/merge_rule) leaves it to whoever has the model:
//
//   x ← scale · x + values
//
// Agents work out scale and values. They add them to copies and to corrections that nobody has
// taken yet, regions to what is offered late, training code to its model: all of them here.
#pragma once

#include <cstddef>
#include <span>

namespace cotillion {

// What `from` becomes by a correction; `to` may be the same elements.
template <class Scale>
void correct(std::span<float> to, Scale scale, std::span<const float> from,
             std::span<const float> values) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = float(scale * from[i]) + values[i];
}

}  // namespace cotillion
