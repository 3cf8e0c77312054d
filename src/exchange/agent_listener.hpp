// Where training code comes in: a Unix socket beside the agent. One at a time sits at the region;
// its connection tells when it has gone, whatever became of it.
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
  // Whether somebody came or went since; never waits. Without a region those who knock wait.
  [[nodiscard]] Visit look(const ExchangeRegion* region);
  [[nodiscard]] bool seated() const { return guest_ >= 0 && seated_; }
  [[nodiscard]] int process() const { return process_; }  // of the last one who sat here
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  AgentListener(int fd, int lock, std::string path)
      : fd_(fd), lock_(lock), path_(std::move(path)) {}
  void turn_away(int guest);
  void answer(int guest, const ExchangeRegion* region, const std::string& refusal) const;

  int fd_, lock_;
  int guest_ = -1;
  bool seated_ = false;
  std::vector<int> turned_away_;  // and not gone yet: hanging up first would swallow the answer
  std::optional<AttachRequest> knock_;
  int process_ = 0;
  std::string path_;
};

}  // namespace cotillion
