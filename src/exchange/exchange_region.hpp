// The region between an island's agent and its training code: shared memory, and who may touch
// what. Training code puts copies of fragments into it and takes corrections out, between its own
// steps; the agent sends the copies when the plan says so and puts corrections in when they come.
//
// A correction says what becomes of the model: x ← scale · x + values. (The scale is one, unless
// merges keep only a share of progress.)
//
// Pending corrections are also applied to the copy. What is sent next therefore holds everything
// that was merged until then, however rarely training code looks in.
// Nobody waits for training code: a copy that is old is sent as it is.
//
// What is in flight is the copy itself: it stays where it lies until its average has come. Training
// code that offers a fragment meanwhile writes to the second of its two places; most never do, and
// a place that was never written to takes no memory.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/absence.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

namespace cotillion {

// A run of the model's elements that is copied and merged at once.
struct RegionRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

struct RegionSpec {
  std::uint64_t elements = 0;
  std::vector<RegionRun> fragments;  // in order, without gaps
  std::vector<std::string> islands;  // their names
  int self = 0;
};

// Words that one process writes now and then while another reads them.
template <std::size_t kWords>
class SharedText {
 public:
  void write(const std::string& text);
  [[nodiscard]] std::string read() const;

 private:
  std::atomic<std::uint32_t> version_;  // odd: being written
  std::array<std::atomic<std::uint64_t>, kWords> words_;
};

enum class ExchangeState : std::uint32_t {
  kWaiting,  // for round one
  kPlaying,
  kEnded,   // as it should
  kFailed,  // see `reason`
};

inline constexpr std::size_t kCorrectionAbsences = 63;  // cliques have at most 64 members

// What a correction is made of.
struct CorrectionAccount {
  RoundId round = 0;          // the newest in it
  float scale = 1;            // of the model, before it is added
  std::uint32_t rounds = 0;   // in it; more than one when training code did not look in for long
  std::uint32_t members = 0;  // of the clique
  std::uint32_t chunks = 0;   // in the fragment
  std::uint32_t absent = 0;   // of `absences`, of the newest round
  std::array<Absence, kCorrectionAbsences> absences{};
};

struct RegionHeader {
  std::uint64_t magic, bytes, elements;
  std::uint64_t largest;  // fragment, in elements
  std::uint32_t fragments, islands, self;
  std::atomic<std::uint32_t> news;  // a futex: changes whenever training code should look
  std::atomic<ExchangeState> state;
  std::atomic<std::uint32_t> round;              // in play
  std::atomic<std::int64_t> begins_ns, ends_ns;  // of that round, on this machine's clock
  std::atomic<std::uint64_t> steps;              // that training code has taken
  SharedText<128> late;                          // who is late, in words
  SharedText<128> reason;                        // why it ended
};

struct alignas(64) RegionFragment {
  RegionRun run;
  std::atomic<std::uint32_t> holder;    // what else is here, and both tables, are the holder's
  std::atomic<std::int64_t> wanted_ns;  // when the agent copies next; 0: not before a round opens
  std::atomic<std::uint32_t> copied;    // the round whose copy was taken last
  std::atomic<std::uint64_t> made, taken;  // corrections; changed by the holder, read by all
  std::atomic<std::uint64_t> offers;
  std::int64_t offered_ns;
  std::uint32_t fresh;        // the place of the newest copy, 0 or 1
  std::uint32_t flying;       // bit p: place p is in flight
  std::uint32_t pending;      // the room of its correction
  CorrectionAccount account;  // of that correction
};

class ExchangeRegion {
 public:
  enum class Holder : std::uint32_t { kNobody, kTraining, kAgent };

  [[nodiscard]] static Result<ExchangeRegion> make(const RegionSpec& spec);
  // Somebody else's, by the descriptor that came from there; it is closed with the region.
  [[nodiscard]] static Result<ExchangeRegion> open(int fd);
  ExchangeRegion(ExchangeRegion&& other) noexcept;
  ExchangeRegion& operator=(ExchangeRegion&&) = delete;
  ~ExchangeRegion();

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] RegionHeader& words() const { return *words_; }
  [[nodiscard]] int fragments() const { return int(runs_.size()); }
  [[nodiscard]] const RegionRun& run(int f) const { return runs_[std::size_t(f)]; }
  [[nodiscard]] RegionFragment& fragment(int f) const { return fragments_[f]; }
  [[nodiscard]] std::string island(int number) const;
  [[nodiscard]] std::span<float> place(int f, unsigned place) const;
  // The newest that training code offered, kept up to date.
  [[nodiscard]] std::span<float> copy(int f) const;
  // What it has not taken yet. There is room for as many corrections as fragments; who puts
  // one in chooses where.
  [[nodiscard]] std::span<float> pending(int f) const { return pending(f, fragments_[f].pending); }
  [[nodiscard]] std::span<float> pending(int f, std::uint32_t pending) const;
  // A wait of the other side is short: holders copy a fragment and let go.
  [[nodiscard]] bool try_hold(int f, Holder who) const;
  void let_go(int f) const;

  // The agent's, beside what ExchangeAgent does.
  void tell(ExchangeState state, const std::string& reason) const;
  void announce() const;  // wakes training code

  // Training code's, by the holder: where to write a copy, none when both places are in flight; and
  // then that it was written, which does to it what the pending correction says.
  [[nodiscard]] std::span<float> room(int f) const;
  void offered(int f, std::int64_t now_ns) const;
  // Until something may have changed since `news` was read, or so long.
  void wait(std::uint32_t news, Duration most) const;

 private:
  ExchangeRegion(int fd, std::byte* memory, std::size_t bytes);

  int fd_;
  std::byte* memory_;
  std::size_t bytes_;
  RegionHeader* words_;
  std::vector<RegionRun>
      runs_;  // our own: what the other process does to its memory is its business
  RegionFragment* fragments_;
  char* names_;
  float* copies_;
  float* pending_;
  std::size_t elements_;
  std::size_t pending_elements_;  // of each
};

template <std::size_t kWords>
void SharedText<kWords>::write(const std::string& text) {
  version_.fetch_add(1, std::memory_order_acq_rel);
  for (std::size_t w = 0; w < kWords; ++w) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8 && w * 8 + i + 1 < kWords * 8 && w * 8 + i < text.size(); ++i)
      word |= std::uint64_t(std::uint8_t(text[w * 8 + i])) << (8 * i);
    words_[w].store(word, std::memory_order_relaxed);
  }
  version_.fetch_add(1, std::memory_order_release);
}

template <std::size_t kWords>
std::string SharedText<kWords>::read() const {
  for (int tries = 0; tries < 1000; ++tries) {
    const std::uint32_t before = version_.load(std::memory_order_acquire);
    std::string text;
    for (std::size_t w = 0; w < kWords; ++w) {
      const std::uint64_t word = words_[w].load(std::memory_order_acquire);
      for (std::size_t i = 0; i < 8; ++i) {
        const char letter = char(word >> (8 * i));
        if (letter != 0) text += letter;
      }
    }
    if (before % 2 == 0 && version_.load(std::memory_order_acquire) == before) return text;
  }
  return {};  // its writer died over it
}

}  // namespace cotillion
