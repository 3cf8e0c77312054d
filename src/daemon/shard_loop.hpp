// The event loop of a shard, the same for edges and islands: read mail from other threads, receive
// a batch of packets, do what is due, and sleep until the next deadline or until something comes.
// No lock is taken while packets come; mail is looked for by one atomic word.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/wakeup.hpp"
#include "exchange/clock.hpp"

namespace cotillion {

// What a shard does in each turn of its loop, always in its own thread.
class ShardWork {
 public:
  virtual void read_mail() = 0;
  // One batch of packets; whether more are waiting.
  virtual bool receive() = 0;
  // Everything that is due, and a slice of what takes long; whether there is more to do at once.
  virtual bool on_time() = 0;
  // When on_time() has something to do again. At `now` or before it: the loop does not sleep.
  [[nodiscard]] virtual Instant next_deadline(Instant now) const = 0;
  // The socket of requests can be read. It is looked at between batches, not in every turn.
  virtual void receive_requests() {}

 protected:
  ~ShardWork() = default;
};

// Descriptors that end a sleep; −1: none.
struct ShardSockets {
  int packets = -1;
  int direct = -1;
  int requests = -1;
};

class ShardLoop {
 public:
  // `name` is the thread's, for people who look at it with top; core −1: anywhere.
  ShardLoop(const RunClock& clock, const char* name, int core)
      : clock_(clock), name_(name), core_(core) {}

  // Returns after stop(); mail that came with it may be left.
  void run(ShardWork& work, const ShardSockets& sockets);

  // From any thread.
  void tell_of_mail();
  void stop();

 private:
  void place_thread() const;
  void wait(ShardWork& work, const ShardSockets& sockets, bool busy);

  const RunClock clock_;
  const char* const name_;
  const int core_;
  Wakeup wakeup_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> has_mail_{false};
};

// What one thread hands to another, in order.
template <class Letter>
class Mailbox {
 public:
  void put(Letter letter) {
    const std::lock_guard lock(lock_);
    letters_.push_back(std::move(letter));
  }
  // Appends all that is there.
  void take(std::vector<Letter>& into) {
    const std::lock_guard lock(lock_);
    for (Letter& letter : letters_) into.push_back(std::move(letter));
    letters_.clear();
  }

 private:
  std::mutex lock_;
  std::vector<Letter> letters_;
};

// The shards of a host, each with a thread of its own.
template <class Shard>
class ShardThreads {
 public:
  void add(std::unique_ptr<Shard> shard) { shards_.push_back(std::move(shard)); }
  void start() {
    for (const auto& shard : shards_) threads_.emplace_back([&worker = *shard] { worker.run(); });
  }
  // Returns when all threads are done. Once is enough.
  void stop() {
    for (const auto& shard : shards_) shard->stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  [[nodiscard]] std::size_t size() const { return shards_.size(); }
  [[nodiscard]] Shard& operator[](std::size_t i) const { return *shards_[i]; }
  [[nodiscard]] auto begin() const { return shards_.begin(); }
  [[nodiscard]] auto end() const { return shards_.end(); }

 private:
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<std::thread> threads_;
};

}  // namespace cotillion
