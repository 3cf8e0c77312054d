// The link between a training in a lab and the process of one of its islands: questions and answers
// over a Unix socket, one at a time. Models travel between islands by the daemons alone; this
// carries batches, losses and what is looked at.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "lab/descriptor.hpp"

namespace cotillion {

enum class Ask : std::uint32_t {
  kSetUp,         // JSON; nothing comes back
  kBackward,      // tokens; nothing
  kTrainingLoss,  // nothing; the mean of its backward passes since it was last asked
  kUpdate,        // the learning rate; nothing
  kBetween,       // how many steps have been taken; nothing
  kLosses,        // tokens; the loss of its model
  kModel,         // nothing; its elements
  kAccount,       // nothing; LabAccount
  kLeave,         // nothing, and no answer
};

// What an island's process has seen.
struct LabAccount {
  std::uint64_t copies = 0, corrections = 0;
  std::uint64_t late_copies = 0;       // that were renewed after they had left
  std::uint64_t latest_ns = 0;         // by how much, the worst
  std::uint64_t together = 0;          // corrections that came with another one
  std::uint64_t absent = 0;            // contributions that were missing in corrections
  std::uint64_t resident = 0;          // bytes of this process's own, without libraries
  std::uint64_t kept = 0, moving = 0;  // of its learner (Learner::Memory) and its ExchangeMerge
};

class IslandLink {
 public:
  explicit IslandLink(Descriptor socket);

  [[nodiscard]] Result<void> ask(Ask what, std::string_view body);
  struct Question {
    Ask what = Ask::kLeave;
    std::string body;
  };
  [[nodiscard]] Result<Question> receive(Duration timeout);
  [[nodiscard]] Result<void> answer(std::string_view body);
  [[nodiscard]] Result<void> refuse(std::string_view reason);
  // An Error is the other side's reason, or that it said nothing for so long.
  [[nodiscard]] Result<std::string> answered(Duration timeout);

 private:
  [[nodiscard]] Result<void> write(std::uint32_t word, std::string_view body);
  [[nodiscard]] Result<void> read(char* to, std::size_t bytes, std::int64_t until_ns);
  struct Piece {
    std::uint32_t word = 0;
    std::string body;
  };
  [[nodiscard]] Result<Piece> piece(Duration timeout);

  Descriptor socket_;
};

template <class Value>
[[nodiscard]] std::string_view bytes_of_value(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <class Value>
[[nodiscard]] std::string_view bytes_of_values(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}
// Zero where the text has another size.
template <class Value>
[[nodiscard]] Value value_of(std::string_view text) {
  Value value{};
  if (text.size() == sizeof value) std::memcpy(&value, text.data(), sizeof value);
  return value;
}
template <class Value>
[[nodiscard]] std::vector<Value> values_of(std::string_view text) {
  std::vector<Value> values(text.size() / sizeof(Value));
  if (!values.empty()) std::memcpy(values.data(), text.data(), values.size() * sizeof(Value));
  return values;
}

// At this path, which must not exist; and whoever comes there within that time.
[[nodiscard]] Result<Descriptor> listen_at(const std::string& path);
[[nodiscard]] Result<IslandLink> accept_at(const Descriptor& listener, Duration timeout);
[[nodiscard]] Result<IslandLink> connect_to(const std::string& path);

}  // namespace cotillion
