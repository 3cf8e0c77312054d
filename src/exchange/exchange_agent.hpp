// The agent's side of the exchange region, for the fragments of one shard: takes copies into
// flight, adds corrections to pending ones and to copies piece by piece, and hands them over.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "exchange/exchange_region.hpp"

namespace cotillion {

class ExchangeAgent {
 public:
  // Fragments [first, first + count) of the region are its own, and so are as many rooms for
  // pending corrections.
  ExchangeAgent(const ExchangeRegion& region, int first, int count);

  // Whether somebody has offered it, and the agent has it in its hands from now on: no piece is
  // written to by training code until let_go. False: try again.
  [[nodiscard]] bool take_hold(int fragment);
  void let_go(int fragment);

  // By the holder: the newest copy is in flight for that round from now on, and stays as it is
  // until its average is merged, or the round after the next one flies.
  void fly(int fragment, RoundId round);
  [[nodiscard]] bool flies(int fragment, RoundId round) const;
  [[nodiscard]] std::span<const float> flying(int fragment, RoundId round) const;

  // One merge at a time: begin (which takes hold), every piece, end (which lets go). A piece of
  // what was in flight may be written over by the newest copy once its correction is added. What
  // the correction is added to is scaled before.
  [[nodiscard]] bool begin(int fragment, RoundId round);
  void scale(float by) { scale_ = by; }  // before the first piece
  void add(std::uint64_t offset, std::span<const float> correction);
  void end(const CorrectionAccount& account);
  void give_up();  // after begin, before any piece: there is nothing to add
  [[nodiscard]] bool merging() const { return merging_ >= 0; }
  // The same for what came late: nothing in flight changes.
  [[nodiscard]] bool begin_late(int fragment);

 private:
  struct Flight {
    RoundId round = 0;  // 0: none
    unsigned place = 0;
  };
  struct Place {
    std::array<Flight, 2> flights;  // by the round's parity
    std::uint32_t pending = 0;
    bool held = false;
  };
  [[nodiscard]] Place& of(int fragment) { return places_[std::size_t(fragment)]; }
  [[nodiscard]] const Place& of(int fragment) const { return places_[std::size_t(fragment)]; }
  [[nodiscard]] RegionFragment& in_region(int fragment) const {
    return region_.fragment(first_ + fragment);
  }
  void choose_pending(int fragment);
  void show_flights(int fragment);

  const ExchangeRegion& region_;
  const int first_;
  std::vector<Place> places_;
  int merging_ = -1;
  RoundId round_ = 0;  // that is being merged
  float scale_ = 1;
  unsigned fresh_before_ = 0;
  std::uint32_t waiting_ = 0;  // rounds in the pending correction already
  float waiting_scale_ = 1;    // and what they do to the model before
  std::span<float> pending_;
  std::span<const float> base_;  // the newest copy as it was
  std::span<float> copy_;        // as it will be
};

}  // namespace cotillion
