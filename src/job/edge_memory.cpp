#include "job/edge_memory.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cotillion {
namespace {

constexpr double kPacketsAStream = 2;  // whole packets come one by one: the plan's own allowance
constexpr const char* kNone = "–";

using Inputs = std::vector<std::pair<std::string, std::string>>;
const Inputs& inputs_of(const OutcomeColumn& column) {
  return column.outcomes.front()->file.made_by.inputs;
}

OutcomeKind kind_of(const OutcomeColumn& column) {
  return column.outcomes.front()->file.kind;
}

std::string verdict_text(const EdgeRow& edge, const EdgeSeen& seen, MemoryVerdict verdict) {
  if (verdict == MemoryVerdict::kWithin) return "within two";
  return fmt::format("packets came up to {} late: {:.1f} a stream, which {} it", to_text(seen.late),
                     seen.late_packets / edge.streams,
                     verdict == MemoryVerdict::kExplained ? "can explain" : "cannot explain");
}

}  // namespace

std::string_view to_name(MemoryVerdict verdict) {
  switch (verdict) {
    case MemoryVerdict::kWithin:
      return "within";
    case MemoryVerdict::kExplained:
      return "explained";
    case MemoryVerdict::kNotExplained:
      return "not explained";
  }
  return "";
}

std::optional<std::size_t> simulated_beside(const SideBySide& sides, std::size_t column) {
  if (kind_of(sides.columns[column]) == OutcomeKind::kSimulated) return std::nullopt;
  std::optional<std::size_t> first;
  for (std::size_t c = 0; c < sides.columns.size(); ++c) {
    if (kind_of(sides.columns[c]) != OutcomeKind::kSimulated) continue;
    if (inputs_of(sides.columns[c]) == inputs_of(sides.columns[column])) return c;
    if (!first) first = c;
  }
  return first;
}

std::optional<BeyondSimulated> beyond_simulated(const SideBySide& sides, const EdgeRow& edge,
                                                std::size_t column) {
  const auto beside = simulated_beside(sides, column);
  if (!beside || !edge.seen[*beside].known || !edge.seen[column].known) return std::nullopt;
  if (edge.streams == 0 || edge.slot.count == 0) return std::nullopt;
  BeyondSimulated beyond;
  const EdgeSeen& seen = edge.seen[column];
  beyond.packets = double(seen.memory_peak.count - edge.seen[*beside].memory_peak.count) /
                   double(edge.slot.count);
  beyond.a_stream = beyond.packets / edge.streams;
  const double left = (beyond.packets - seen.late_packets) / edge.streams;
  if (beyond.a_stream > kPacketsAStream)
    beyond.verdict =
        left <= kPacketsAStream ? MemoryVerdict::kExplained : MemoryVerdict::kNotExplained;
  return beyond;
}

Rows memory_table(const SideBySide& sides) {
  Rows rows{{"memory at", "planned"}};
  for (std::size_t c = 0; c < sides.columns.size(); ++c) {
    rows[0].push_back(sides.columns[c].title + " peak");
    if (const auto beside = simulated_beside(sides, c))
      rows[0].insert(rows[0].end(),
                     {fmt::format("packets a stream beyond {}", sides.columns[*beside].title), ""});
  }
  for (const EdgeRow& edge : sides.edges) {
    rows.push_back({sides.islands[edge.island], to_text(edge.memory_planned)});
    std::vector<std::string>& cells = rows.back();
    for (std::size_t c = 0; c < sides.columns.size(); ++c) {
      const EdgeSeen& seen = edge.seen[c];
      cells.push_back(seen.known ? to_text(seen.memory_peak) : kNone);
      if (!simulated_beside(sides, c)) continue;
      const auto beyond = beyond_simulated(sides, edge, c);
      cells.push_back(beyond ? fmt::format("{:+.1f}", beyond->a_stream) : kNone);
      cells.push_back(beyond ? verdict_text(edge, seen, beyond->verdict) : "");
    }
  }
  return rows;
}

}  // namespace cotillion
