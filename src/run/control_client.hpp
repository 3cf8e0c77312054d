// A member's stream to the coordinator. Nothing blocks on the other side: what is sent is queued,
// what comes waits until it is asked for, and closing has its time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "coordinate/messages.hpp"

namespace cotillion {

class ControlClient {
 public:
  // Tries for so long, because daemons are started in any order.
  [[nodiscard]] static Result<ControlClient> connect(const std::string& address, Duration patience);
  ControlClient(ControlClient&&) noexcept;
  ~ControlClient();

  struct Event {
    std::optional<Message> message;  // none: the connection is lost
    std::string lost;                // and why
  };
  // What came next; nothing when nothing did for so long.
  [[nodiscard]] std::optional<Event> next(Duration wait);
  void send(const Message& message);

 private:
  struct State;
  explicit ControlClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cotillion
