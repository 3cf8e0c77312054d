// Numbers that name things on the wire and between an island's agent and training code.
#pragma once

#include <cstdint>

namespace cotillion {

using RoundId = std::uint32_t;  // never reused within a job
using ChunkId = std::uint32_t;  // which run of elements of the model

}  // namespace cotillion
