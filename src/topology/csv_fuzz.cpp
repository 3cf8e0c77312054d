// Any bytes as a table of links.
#include "tests/support/topology/fuzz_import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cotillion;
  testing::check_import(testing::text_of(data, size), ImportFormat::kCsv);
  return 0;
}
