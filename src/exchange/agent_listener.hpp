// Where training code attaches to an agent's exchange region: a Unix socket. One process is
// attached at a time; its connection tells when it has gone, whatever became of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exchange/exchange_region.hpp"

namespace cotillion {

// What both sides say, one datagram each.
struct AttachRequest {
  std::uint64_t magic = 0;
  std::uint64_t elements = 0;  // of the model; 0: any number
};
struct AttachReply {
  std::uint64_t magic = 0;
  std::uint32_t welcome = 0;      // 1: the region's descriptor comes with it
  std::array<char, 500> words{};  // otherwise why not
};
inline constexpr std::uint64_t kAttachMagic = 0x31'726f'6f64'746f;

class AgentListener {
 public:
  // Refuses a path in use by another agent; a socket that a dead one left is replaced.
  [[nodiscard]] static Result<AgentListener> open(const std::string& path);
  AgentListener(AgentListener&& other) noexcept;
  AgentListener& operator=(AgentListener&&) = delete;
  ~AgentListener();  // and removes the socket

  enum class Visit : std::uint8_t { kNothing, kAttached, kLeft };
  // Whether training code has attached or left since; never waits. While there is no region,
  // requests wait for an answer.
  [[nodiscard]] Visit look(const ExchangeRegion* region);
  [[nodiscard]] bool attached() const { return connection_ >= 0 && attached_; }
  [[nodiscard]] int process() const { return process_; }  // that was the last to connect
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  AgentListener(int fd, int lock, std::string path)
      : fd_(fd), lock_(lock), path_(std::move(path)) {}
  void close_later(int connection);
  void answer(int connection, const ExchangeRegion* region, const std::string& refusal) const;

  int fd_, lock_;
  int connection_ = -1;
  bool attached_ = false;
  std::vector<int> closing_;  // when the other side has: a reply must not be cut off
  std::optional<AttachRequest> request_;
  int process_ = 0;
  std::string path_;
};

}  // namespace cotillion
