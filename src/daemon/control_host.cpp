#include "daemon/control_host.hpp"

#include <algorithm>

namespace cotillion {
namespace {

constexpr Duration kHostLook{100'000'000'000};  // signals are noticed this late

class Carrier final : public CoordinatorOutbox {
 public:
  Carrier(ControlServer& server, const CoordinatorHooks& hooks) : server_(server), hooks_(hooks) {}
  void send(ConnectionId to, const Message& message) override { server_.send(to, message); }
  void close(ConnectionId connection) override { server_.close(connection); }
  void note(const std::string& channel) override {
    if (hooks_.note) hooks_.note(channel);
  }

 private:
  ControlServer& server_;
  const CoordinatorHooks& hooks_;
};

}  // namespace

void host(ControlServer& server, Coordinator& coordinator, WallClock zero,
          const CoordinatorHooks& hooks) {
  Carrier carrier(server, hooks);
  while (!coordinator.ended()) {
    const Duration until = coordinator.next_deadline() - instant_now(zero);
    const auto event = server.next(std::min(until, kHostLook));
    const Instant now = instant_now(zero);
    if (event && event->message)
      coordinator.on_message(now, event->connection, *event->message, carrier);
    else if (event)
      coordinator.on_lost(now, event->connection, event->lost, carrier);
    if (coordinator.next_deadline() <= now) coordinator.on_time(now, carrier);
    if (hooks.asked_to_stop)
      if (const std::string why = hooks.asked_to_stop(); !why.empty())
        coordinator.stop(now, why, carrier);
    if (hooks.look) hooks.look();
  }
}

}  // namespace cotillion
