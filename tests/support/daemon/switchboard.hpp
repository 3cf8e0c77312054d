// The coordinator's conversation inside one process: queues instead of gRPC, so that sanitizers see
// every thread of a whole job.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "daemon/control_channel.hpp"
#include "job/coordinator.hpp"

namespace cotillion::testing {

class Switchboard final : private CoordinatorOutbox {
 public:
  Switchboard(const PlanFile& plan, const std::string& text, const CoordinatorSettings& settings)
      : zero_(settings.zero),
        coordinator_(
            std::move(*Coordinator::make(instant_now(settings.zero), plan, text, settings))) {
    thread_ = std::thread([this] { live(); });
  }
  ~Switchboard() { wait(); }
  void wait() {
    if (thread_.joinable()) thread_.join();
  }
  // After wait().
  [[nodiscard]] const Coordinator& coordinator() const { return coordinator_; }
  [[nodiscard]] const std::string& said() const { return said_; }
  [[nodiscard]] int hasty() const { return hasty_; }  // turns of members that did not wait at all

  // A member's end. It must not outlive the switchboard; what breaks it is cut().
  class End final : public ControlChannel {
   public:
    End(Switchboard& board, ConnectionId number) : board_(board), number_(number) {}
    [[nodiscard]] std::optional<ChannelEvent> next(Duration wait) override {
      std::unique_lock lock(board_.lock_);
      if (wait.ps <= 0) ++board_.hasty_;
      auto& queue = board_.to_member_[number_];
      board_.news_.wait_for(lock, std::chrono::nanoseconds(wait.ps / 1000),
                            [&] { return !queue.empty(); });
      if (queue.empty()) return {};
      ChannelEvent event = std::move(queue.front());
      queue.pop_front();
      return event;
    }
    void send(const Message& message) override { board_.post({number_, message, {}}); }
    void cut() { board_.post({number_, std::nullopt, "cut"}); }

   private:
    Switchboard& board_;
    ConnectionId number_;
  };
  [[nodiscard]] End plug_in() {
    const std::lock_guard lock(lock_);
    to_member_[++connections_];
    return {*this, connections_};
  }

 private:
  struct Event {
    ConnectionId from = 0;
    std::optional<Message> message;
    std::string lost;
  };

  void post(Event event) {
    {
      const std::lock_guard lock(lock_);
      to_coordinator_.push_back(std::move(event));
    }
    news_.notify_all();
  }
  void live() {
    while (!coordinator_.ended()) {
      std::optional<Event> event;
      {
        std::unique_lock lock(lock_);
        news_.wait_for(lock, std::chrono::milliseconds(5),
                       [&] { return !to_coordinator_.empty(); });
        if (!to_coordinator_.empty()) {
          event = std::move(to_coordinator_.front());
          to_coordinator_.pop_front();
        }
      }
      const Instant now = instant_now(zero_);
      if (event && event->message)
        coordinator_.on_message(now, event->from, *event->message, *this);
      else if (event)
        coordinator_.on_lost(now, event->from, event->lost, *this);
      if (coordinator_.next_deadline() <= now) coordinator_.on_time(now, *this);
    }
  }

  void deliver(ConnectionId to, ChannelEvent event) {
    {
      const std::lock_guard lock(lock_);
      to_member_[to].push_back(std::move(event));
    }
    news_.notify_all();
  }
  void send(ConnectionId to, const Message& message) override { deliver(to, {message, {}}); }
  void close(ConnectionId connection) override {
    deliver(connection, {std::nullopt, "the coordinator hung up"});
  }
  void note(const std::string& line) override { said_ += line + "\n"; }

  WallClock zero_;
  Coordinator coordinator_;
  std::string said_;
  std::mutex lock_;
  std::condition_variable news_;
  std::deque<Event> to_coordinator_;
  std::map<ConnectionId, std::deque<ChannelEvent>> to_member_;
  ConnectionId connections_ = 0;
  int hasty_ = 0;
  std::thread thread_;
};

}  // namespace cotillion::testing
