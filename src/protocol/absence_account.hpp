// The final account of a round: whose contributions did not come, and to how many chunks.
#pragma once

#include <span>
#include <vector>

#include "base/absence.hpp"
#include "protocol/received_rounds.hpp"

namespace cotillion {

class AbsenceAccount {
 public:
  // By bit, those alone who are missing somewhere. Valid until the next call.
  [[nodiscard]] std::span<const Absence> of(const ReceivedRound& round, ChunkId chunks);

 private:
  std::vector<Absence> absences_ = std::vector<Absence>(kCliqueMembersMax);
};

}  // namespace cotillion
