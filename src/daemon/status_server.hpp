// Where a daemon can be looked at: GET /metrics for Prometheus, GET /status as JSON. It has threads
// of its own, and nothing a client does can hold them: requests are small, a connection has a
// second in all, and connections that find every thread busy wait in the kernel's short queue.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "daemon/metric.hpp"

namespace cotillion {

// Both are called by the server's threads, at any time until it is gone.
struct StatusPages {
  std::string daemon;                   // "edge of TYO", for the page of help
  std::function<Metrics()> metrics;     // for /metrics
  std::function<std::string()> status;  // for /status: JSON
};

class StatusServer {
 public:
  // "127.0.0.1:9464", "[::1]:9464"; port 0 takes any that is free.
  [[nodiscard]] static Result<StatusServer> listen(const std::string& address, StatusPages pages);
  StatusServer(StatusServer&&) noexcept;
  ~StatusServer();  // within milliseconds, whoever is connected

  [[nodiscard]] int port() const;

 private:
  struct State;
  explicit StatusServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cotillion
