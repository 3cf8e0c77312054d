// A member's stream to the coordinator. Nothing blocks on the other side: what is sent is queued,
// what comes waits until it is asked for, and closing has its time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "daemon/control_channel.hpp"

namespace cotillion {

class ControlClient final : public ControlChannel {
 public:
  // Tries for so long, because daemons are started in any order, or until it is told to give up.
  [[nodiscard]] static Result<ControlClient> connect(const std::string& address, Duration timeout,
                                                     const std::function<bool()>& give_up = {});
  ControlClient(ControlClient&&) noexcept;
  ~ControlClient() override;

  [[nodiscard]] std::optional<ChannelEvent> next(Duration wait) override;
  void send(const Message& message) override;

 private:
  struct State;
  explicit ControlClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cotillion
