// Where training code comes in: a Unix socket beside the agent. One at a time sits at the desk; its
// connection tells when it has gone, whatever became of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exchange/desk.hpp"

namespace cotillion {

// What both sides say, one datagram each.
struct DoorKnock {
  std::uint64_t magic = 0;
  std::uint64_t elements = 0;  // of the model; 0: any number
};
struct DoorAnswer {
  std::uint64_t magic = 0;
  std::uint32_t welcome = 0;      // 1: the desk's descriptor comes with it
  std::array<char, 500> words{};  // otherwise why not
};
inline constexpr std::uint64_t kDoorMagic = 0x31'726f'6f64'746f;

class DeskDoor {
 public:
  // Refuses a path in use by another agent; a socket that a dead one left is replaced.
  [[nodiscard]] static Result<DeskDoor> open(const std::string& path);
  DeskDoor(DeskDoor&& other) noexcept;
  DeskDoor& operator=(DeskDoor&&) = delete;
  ~DeskDoor();  // and removes the socket

  enum class Visit : std::uint8_t { kNothing, kSeated, kLeft };
  // Whether somebody came or went since; never waits. Without a desk those who knock wait.
  [[nodiscard]] Visit look(const Desk* desk);
  [[nodiscard]] bool seated() const { return guest_ >= 0 && seated_; }
  [[nodiscard]] int process() const { return process_; }  // of the last one who sat here
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  DeskDoor(int fd, int lock, std::string path) : fd_(fd), lock_(lock), path_(std::move(path)) {}
  void turn_away(int guest);
  void answer(int guest, const Desk* desk, const std::string& refusal) const;

  int fd_, lock_;
  int guest_ = -1;
  bool seated_ = false;
  std::vector<int> turned_away_;  // and not gone yet: hanging up first would swallow the answer
  std::optional<DoorKnock> knock_;
  int process_ = 0;
  std::string path_;
};

}  // namespace cotillion
