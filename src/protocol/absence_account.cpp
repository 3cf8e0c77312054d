#include "protocol/absence_account.hpp"

#include <bit>

namespace cotillion {

std::span<const Absence> AbsenceAccount::of(const ReceivedRound& round, ChunkId chunks) {
  const RoundSpec& spec = round.spec();
  if (round.incomplete == 0) return {};
  std::array<Absence, kCliqueMembersMax> all{};
  for (ChunkId chunk = 0; chunk < chunks; ++chunk)
    for (ContributorMask left = spec.expected & ~round.masks[chunk]; left != 0; left &= left - 1) {
      Absence& absence = all[std::size_t(std::countr_zero(left))];
      if (absence.chunks++ == 0) absence.first_chunk = chunk;
    }
  std::size_t absent = 0;
  for (int bit = 0; bit < spec.members; ++bit)
    if (all[std::size_t(bit)].chunks > 0) {
      absences_[absent] = all[std::size_t(bit)];
      absences_[absent++].contributor = bit;
    }
  return std::span(absences_).first(absent);
}

}  // namespace cotillion
