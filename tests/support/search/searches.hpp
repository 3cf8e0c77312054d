// Searches as tests run them: by one worker, which is all that an answer may depend on.
#pragma once

#include "search/search.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion::testing {

[[nodiscard]] inline SearchResult alone(const MapFixture& fixture, const SearchSettings& settings) {
  Alone workers;
  return search(fixture.network, settings, workers);
}

}  // namespace cotillion::testing
