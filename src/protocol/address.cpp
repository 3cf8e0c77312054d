#include "protocol/address.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace cotillion {

Ipv4Address island_address(int island) {
  COTILLION_CHECK(island >= 0 && island <= 0xffff);
  return 0x0a00'0000u | std::uint32_t(island);
}

Ipv4Address edge_address(int edge) {
  COTILLION_CHECK(edge >= 0 && edge <= 0xffff);
  return 0x0a01'0000u | std::uint32_t(edge);
}

Ipv4Address group_address(int sender, int number) {
  COTILLION_CHECK(sender >= 0 && sender < 4096 && number >= 0 && number < 4096);
  return 0xef00'0000u | std::uint32_t(sender) << 12 | std::uint32_t(number);
}

std::string to_text(Ipv4Address address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 0xff, address >> 8 & 0xff,
                     address & 0xff);
}

}  // namespace cotillion
