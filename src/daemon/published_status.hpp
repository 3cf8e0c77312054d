// What a daemon shows of itself, laid out by the thread that knows and read by those that serve it.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "daemon/metric.hpp"

namespace cotillion {

class PublishedStatus {
 public:
  void publish(Metrics metrics, std::string json) {
    const std::lock_guard lock(changing_);
    metrics_ = std::move(metrics);
    json_ = std::move(json);
  }
  [[nodiscard]] Metrics metrics() const {
    const std::lock_guard lock(changing_);
    return metrics_;
  }
  [[nodiscard]] std::string json() const {
    const std::lock_guard lock(changing_);
    return json_;
  }

 private:
  mutable std::mutex changing_;
  Metrics metrics_;
  std::string json_ = "{}";
};

}  // namespace cotillion
