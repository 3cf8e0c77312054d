// 128-bit integers, for products of quantities that are exact in 64 bits.
#pragma once

namespace cotillion {

__extension__ using Int128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

}  // namespace cotillion
