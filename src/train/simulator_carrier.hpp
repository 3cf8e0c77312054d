// A carrier whose packets pass through the simulator. The simulator runs on a thread of its own and
// waits before it copies what training has not reached yet; training waits for what it merges next.
// Both go by the recipe's steps, and one of them can always go on. In the simulated islands there
// is no model but what is being copied.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim/simulation.hpp"
#include "train/fragment_places.hpp"
#include "train/packet_carrier.hpp"

namespace cotillion {

// `Place` is what an island's agent and its training code have between them, of one fragment. The
// most derived class ends the simulation in its destructor, while it can still be called.
template <class Place>
class SimulatorCarrier : public PacketCarrier, protected SimulationObserver {
 public:
  SimulatorCarrier(const PacketisedPlan& played, SimulationSettings settings, const JobSpec& job)
      : PacketCarrier(played, settings.rounds),
        job_(job),
        settings_(std::move(settings)),
        places_(job, rotation().grain, islands_) {
    settings_.observers = {this};
    settings_.progress = [this](Duration, Duration) { return over_.load(); };
  }
  ~SimulatorCarrier() override { COTILLION_CHECK(!player_.joinable()); }

 protected:
  void begin() {
    player_ = std::thread([this] { play(); });
  }
  void end() {
    {
      const std::lock_guard lock(lock_);
      over_ = true;
      changed_.notify_all();
    }
    if (player_.joinable()) player_.join();
  }

  // Training's side: throws where the simulation has ended, or stands still.
  template <class Condition>
  void wait_for_simulator(std::unique_lock<std::mutex>& lock, Condition condition) {
    constexpr auto kGrace = std::chrono::minutes(10);  // a computation never stands still so long
    if (!changed_.wait_for(lock, kGrace, [&] { return !failure_.empty() || condition(); }))
      throw std::runtime_error("the simulation stands still");
    if (!condition()) throw std::runtime_error(failure_);
  }
  // The simulator's side: false where training is over.
  template <class Condition>
  [[nodiscard]] bool wait_for_training(std::unique_lock<std::mutex>& lock, Condition condition) {
    changed_.wait(lock, [&] { return over_.load() || condition(); });
    return !over_;
  }
  // Called with the lock held, when a simulation has come to its end.
  virtual void on_end() {}

  void on_copied(SimulatedIsland& island, RoundId, std::uint64_t first,
                 std::span<const float> values) override {
    std::fill_n(island.model().begin() + std::ptrdiff_t(first), values.size(), 0.0F);
  }
  // The fragment that these elements are in, and where in it they begin.
  [[nodiscard]] std::pair<int, std::size_t> within(std::uint64_t first) const {
    const int fragment = fragment_of(job_, ChunkId(first / elements_per_chunk(job_)));
    const auto begin = std::uint64_t(places_.span(fragment).first);
    COTILLION_CHECK(first >= begin);
    return {fragment, std::size_t(first - begin)};
  }
  // What a merge has made of a model of zeros.
  [[nodiscard]] std::vector<float> taken_from(SimulatedIsland& island, int fragment) const {
    const std::span<float> here = places_.part(island.model(), fragment);
    std::vector<float> values(here.begin(), here.end());
    std::fill(here.begin(), here.end(), 0.0F);
    return values;
  }

  const JobSpec job_;
  SimulationSettings settings_;
  std::mutex lock_;  // of what follows
  std::condition_variable changed_;
  FragmentPlaces<Place> places_;  // by island, then fragment

 private:
  void play() {
    const auto outcome = simulate(played_.plan, settings_);
    const std::lock_guard lock(lock_);
    failure_ = outcome ? "the simulation ended before the training" : outcome.error().message;
    if (outcome) on_end();
    changed_.notify_all();
  }

  std::string failure_;
  std::atomic<bool> over_ = false;
  std::thread player_;
};

}  // namespace cotillion
