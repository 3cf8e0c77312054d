// What islands' agents and their training code have between them, in a place for each fragment of
// each island; and which elements of a model a fragment is.
#pragma once

#include <span>
#include <vector>

#include "base/check.hpp"
#include "protocol/job.hpp"
#include "protocol/move.hpp"

namespace cotillion {

template <class Place>
class FragmentPlaces {
 public:
  FragmentPlaces(const JobSpec& job, std::int64_t grain, int islands)
      : fragments_(job.fragments),
        elements_(std::int64_t(job.elements)),
        grain_(grain),
        places_(std::size_t(islands) * std::size_t(job.fragments)) {}

  [[nodiscard]] Place& at(int island, int fragment) {
    COTILLION_CHECK(island >= 0 && fragment >= 0 && fragment < fragments_);
    return places_[std::size_t(island) * std::size_t(fragments_) + std::size_t(fragment)];
  }
  [[nodiscard]] Span span(int fragment) const {
    COTILLION_CHECK(fragment >= 0 && fragment < fragments_);
    return span_of(fragment, fragments_, elements_, grain_);
  }
  [[nodiscard]] std::span<float> part(std::vector<float>& model, int fragment) const {
    const Span here = span(fragment);
    return std::span(model).subspan(std::size_t(here.first), std::size_t(here.count));
  }

 private:
  int fragments_;
  std::int64_t elements_, grain_;
  std::vector<Place> places_;  // by island, then fragment
};

}  // namespace cotillion
