// Training code's side of the region: joins, offers fragments when they are wanted, takes
// corrections. Everything happens inside the calls made here, in the caller's thread: nothing is
// read or written under a running step. Not safe to share between threads.
#pragma once

#include <functional>
#include <optional>

#include "exchange/exchange_region.hpp"

namespace cotillion {

// Fills `values` with elements [first, first + size) of the model as they are now.
using RegionSource = std::function<void(std::uint64_t first, std::span<float> values)>;

struct Correction {
  int fragment = 0;
  std::uint64_t first = 0;  // element
  std::span<float> values;  // x ← account.scale · x + value; then done()
  CorrectionAccount account;
};

class ExchangeClient {
 public:
  // Waits for the agent, and until it has its part in a job. `elements`: of the model; 0: any.
  [[nodiscard]] static Result<ExchangeClient> join(const std::string& path, std::uint64_t elements,
                                                   Duration timeout);
  ExchangeClient(ExchangeClient&& other) noexcept;
  ExchangeClient& operator=(ExchangeClient&&) = delete;
  ~ExchangeClient();  // leaves

  [[nodiscard]] std::uint64_t elements() const { return region_.words().elements; }
  [[nodiscard]] const ExchangeRegion& region() const { return region_; }

  // All fragments are offered at once, and again whenever they are wanted soon.
  [[nodiscard]] Result<void> offer(RegionSource source);
  // Between two optimizer steps: offers what is wanted before the next call, as far as earlier ones
  // tell when that will be. Fails when the job has failed or the agent is gone.
  [[nodiscard]] Result<void> step();
  // The next correction, if there is one. It is held until done(); holding it long delays copies.
  [[nodiscard]] Result<std::optional<Correction>> poll();
  // The same, waiting so long at most; fragments that are wanted meanwhile are offered. An Error
  // says who is late and for how long.
  [[nodiscard]] Result<Correction> wait(Duration most);
  void done(const Correction& correction);

  // For training code that keeps the plan's clock by itself, in place of step() and wait(): it says
  // when which fragment is copied, and for which correction it waits. Nothing else is offered.
  [[nodiscard]] Result<void> offer_fragment(int f, const RegionSource& source);
  // Until the agent has taken the copy of that round, or of a later one.
  [[nodiscard]] Result<void> wait_for_copy(int f, RoundId round, Duration most) const;
  [[nodiscard]] Result<Correction> wait_for(int f, Duration most);
  void count_step() const;
  // No more corrections will come: the job has ended as it should.
  [[nodiscard]] bool ended() const;
  // Whether the job has not failed and the agent is there; an Error says what happened.
  [[nodiscard]] Result<void> check() const;

  // "round 7: LON lacks in 468 of 512 chunks from chunk 12 on"; empty: everybody is in it.
  [[nodiscard]] std::string describe(const Correction& correction) const;

 private:
  ExchangeClient(int fd, ExchangeRegion region) : fd_(fd), region_(std::move(region)) {}
  [[nodiscard]] Result<void> offer_wanted(Duration ahead);
  [[nodiscard]] std::string lateness(Duration waited) const;

  int fd_;
  ExchangeRegion region_;
  RegionSource source_;
  int next_ = 0;  // fragment to look at first
  std::int64_t stepped_ns_ = 0;
  std::array<Duration, 8> intervals_{};  // between steps, the last ones
  std::size_t steps_ = 0;
  std::vector<std::size_t> offered_;  // by fragment: after which step
};

}  // namespace cotillion
