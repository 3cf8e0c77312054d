// Where members call: one gRPC stream for each, whose messages wait here until the coordinator's
// host asks for them. Nothing blocks on a peer: what is sent is queued, a stream that says nothing,
// or takes nothing when it is closed, is cut off. Streams are in the clear for now; whoever adds
// mutual TLS gives both sides other credentials and changes nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "job/coordinator.hpp"

namespace cotillion {

struct ControlEvent {
  ConnectionId connection = kNoConnection;
  std::optional<Message> message;  // none: the connection is lost
  std::string lost;                // and why
};

class ControlServer {
 public:
  // "127.0.0.1:29800"; port 0 takes any that is free.
  [[nodiscard]] static Result<ControlServer> listen(const std::string& address);
  ControlServer(ControlServer&&) noexcept;
  ~ControlServer();  // says goodbye to everyone, within seconds

  [[nodiscard]] int port() const;
  // What happened next; nothing when nothing did for so long.
  [[nodiscard]] std::optional<ControlEvent> next(Duration wait);
  void send(ConnectionId to, const Message& message);
  // When what was sent before is on its way. Nothing comes from there any more.
  void close(ConnectionId connection);

 private:
  struct State;
  explicit ControlServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cotillion
