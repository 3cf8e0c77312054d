// The final account of a round: whose contributions did not come, and to how many chunks.
#pragma once

#include <span>
#include <vector>

#include "protocol/received_rounds.hpp"

namespace cotillion {

// One contributor's absence from a round.
struct Absence {
  int member = 0;      // its bit
  ChunkId chunks = 0;  // that lack it
  ChunkId first_chunk = 0;
};

class AbsenceAccount {
 public:
  // By bit, those alone who are missing somewhere. Valid until the next call.
  [[nodiscard]] std::span<const Absence> of(const ReceivedRound& round, ChunkId chunks);

 private:
  std::vector<Absence> absences_ = std::vector<Absence>(kCliqueMembersMax);
};

}  // namespace cotillion
