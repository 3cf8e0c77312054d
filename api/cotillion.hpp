// cotillion.h for C++: a job that leaves by itself, corrections that are done by themselves, and
// errors that are thrown. Header only; link with libcotillion.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cotillion.h"

namespace cotillion::api {

// The job has failed, or could not be joined; what() says why.
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Nothing came within the time given; what() says who is late, and for how long.
struct Late : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Source = std::function<void(std::uint64_t first, std::span<float> values)>;

class Job {
 public:
  explicit Job(const std::string& socket, std::uint64_t elements = 0, double seconds = 60) {
    std::array<char, 1024> why{};
    job_.reset(cotillion_join(socket.c_str(), elements, seconds, why.data(), why.size()));
    if (job_ == nullptr) throw Failed(why.data());
  }

  [[nodiscard]] std::uint64_t elements() const { return cotillion_elements(job_.get()); }
  [[nodiscard]] std::uint32_t round() const { return cotillion_round(job_.get()); }
  [[nodiscard]] std::string island(int number) const {
    return cotillion_island_name(job_.get(), number);
  }
  [[nodiscard]] int self() const { return cotillion_self(job_.get()); }

  void offer(Source source) {
    source_ = std::make_unique<Source>(std::move(source));
    expect(cotillion_offer(
        job_.get(),
        [](void* user, std::uint64_t first, std::uint64_t count, float* values) {
          (*static_cast<Source*>(user))(first, {values, count});
        },
        source_.get()));
  }
  // Between two optimizer steps. False when the job has ended.
  bool step() { return expect(cotillion_step(job_.get())); }

  // Merges everything that has come into the model, and says how many corrections that was.
  int merge(std::span<float> model) {
    int merged = 0;
    cotillion_correction correction{};
    while (cotillion_poll(job_.get(), &correction) == COTILLION_OK) {
      apply(correction, model);
      ++merged;
    }
    return merged;
  }
  // The same with the next one, waiting for it. Nothing: the job has ended. Its `values` are gone.
  std::optional<cotillion_correction> merge_next(std::span<float> model, double seconds) {
    cotillion_correction correction{};
    if (!expect(cotillion_wait(job_.get(), seconds, &correction))) return {};
    apply(correction, model);
    return correction;
  }
  // Who is missing from the last correction, in words.
  [[nodiscard]] std::string missing() const { return cotillion_describe(job_.get(), nullptr); }

 private:
  struct Leave {
    void operator()(cotillion_job* job) const { cotillion_leave(job); }
  };
  void apply(cotillion_correction& correction, std::span<float> model) {
    cotillion_apply(&correction, model.data());
    cotillion_done(job_.get(), &correction);
    correction.values = nullptr;
  }
  bool expect(cotillion_status status) const {
    if (status == COTILLION_FAILED) throw Failed(cotillion_message(job_.get()));
    if (status == COTILLION_LATE) throw Late(cotillion_message(job_.get()));
    return status != COTILLION_ENDED;
  }

  std::unique_ptr<cotillion_job, Leave> job_;
  std::unique_ptr<Source> source_;
};

}  // namespace cotillion::api
