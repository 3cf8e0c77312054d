// What happens next, and where. Every place where something can happen (a lane, an island) has at
// most one next instant, so the queue holds a few dozen entries whatever the number of packets in
// flight, and moving one costs a few comparisons. Ties go to the lower number: the same run always.
#pragma once

#include <vector>

#include "base/units.hpp"

namespace cotillion {

class Agenda {
 public:
  explicit Agenda(int places) : when_(std::size_t(places), kNever), at_(std::size_t(places), -1) {}

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] int next_place() const { return heap_.front(); }
  [[nodiscard]] Instant next_time() const { return heap_.empty() ? kNever : when_[heap_.front()]; }

  // kNever takes the place off.
  void set(int place, Instant when) {
    if (when_[place] == when) return;
    when_[place] = when;
    if (at_[place] < 0) {
      at_[place] = int(heap_.size());
      heap_.push_back(place);
      rise(at_[place]);
    } else if (when == kNever) {
      remove(at_[place]);
    } else {
      rise(at_[place]);
      sink(at_[place]);
    }
  }

 private:
  [[nodiscard]] bool before(int a, int b) const {
    return when_[a] != when_[b] ? when_[a] < when_[b] : a < b;
  }
  void put(int index, int place) {
    heap_[index] = place;
    at_[place] = index;
  }
  void rise(int index) {
    const int place = heap_[index];
    while (index > 0 && before(place, heap_[(index - 1) / 2])) {
      put(index, heap_[(index - 1) / 2]);
      index = (index - 1) / 2;
    }
    put(index, place);
  }
  void sink(int index) {
    const int place = heap_[index];
    for (int child = 2 * index + 1; child < int(heap_.size()); child = 2 * index + 1) {
      if (child + 1 < int(heap_.size()) && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], place)) break;
      put(index, heap_[child]);
      index = child;
    }
    put(index, place);
  }
  void remove(int index) {
    at_[heap_[index]] = -1;
    const int last = heap_.back();
    heap_.pop_back();
    if (index == int(heap_.size())) return;
    put(index, last);
    rise(index);
    sink(at_[last]);
  }

  std::vector<Instant> when_;
  std::vector<int> at_;    // by place: index in the heap, −1 when absent
  std::vector<int> heap_;  // places
};

}  // namespace cotillion
