// Reads in the order of dependence: what made it, the islands, then all that names them.
#include "job/outcome_loader.hpp"

#include <fmt/format.h>

#include <climits>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "plan/file/plan_members.hpp"
#include "plan/file/plan_numbers.hpp"
#include "plan/file/plan_provenance.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr FileWords kOutcomeWords{"an outcome",
                                  "give the file that cotillion simulate -o wrote, as it is"};
constexpr const char* kNamesOfIslands = "name islands as the list of islands does";
constexpr std::size_t kRoundsMax = 1'000'000;
constexpr std::size_t kLanesMax = 2 * (kLinksMax + kPlacesMax);
constexpr double kTimeMostMs = 9e9;  // as picoseconds it fits 63 bits
// Rows of Ŵ are sums over up to millions of chunks.
constexpr double kRowRounding = 1e-6;
// A time in picoseconds that is not below this one need not be told from its neighbours.
constexpr double kWholeBelow = 4503599627370496.0;  // 2^52

constexpr std::string_view kRead =
    "absences added_slack_ms arrivals at bytes chunks clamped cliques commit complete counters "
    "edges emulator_ms exact first_chunk forged from inputs island islands kind lane late_max_ms "
    "late_ms late_p50_ms late_p99_ms late_packets links lived_ms lived_squared_ms loss lost map "
    "measured_ms memory_peak_bytes memory_planned_bytes mixing packet_hops packet_ms packets "
    "period planned planned_bytes planned_ms planned_squared_ms played_ms queue_longest_ms resent "
    "round rounds rounds_needed schedule seed sent settings slipped_ms slot_bytes steps "
    "store_and_forward_ms streams to unexpected version withheld zero "
    // A plan has these; told apart, it can be said what it is.
    "network "
    // Counters.
    "accepted results timeouts conflicts completed_partials late duplicates overlaps unknown_boot "
    "stale_round not_finite over_rate outputs resends resends_spared gone repairs_asked repaired "
    "placed whole too_late malformed asked restarts unmerged overtaken";

class OutcomeLoader {
 public:
  explicit OutcomeLoader(const PlanField& root)
      : root_(root), names_(names_of(root)), members_(names_, kNamesOfIslands) {
    file_.made_by = read_provenance(root);
    if (root.is_faultless() && file_.plan().empty())
      root.at("inputs").problem("no plan among them", "an outcome says which plan was played");
    read_kind();
    file_.map = root.at("map").text().value_or("");
    file_.schedule = root.at("schedule").text().value_or("");
    file_.period = std::size_t(root.at("period").integer(1, kPlannedRoundsMax).value_or(1));
    read_settings();
    outcome_.added_slack = duration(root, "added_slack_ms");
    outcome_.played = duration(root, "played_ms");
    outcome_.hops = count(root, "packet_hops");
    if (names_.islands.empty()) return;  // reported; whatever names one has nothing to name
    file_.islands = island_names(names_);
    read_islands();
    read_rounds();
    read_edges();
    read_lanes();
    const PlanField loss = root.at("loss");
    if (loss.is_object())
      file_.outcome.planned_loss = loss.at("planned").number(0, 1e290).value_or(0);
    read_exact(root.at("exact"));
  }

  OutcomeFile take_file() { return std::move(file_); }

 private:
  // The islands, as a map that has nothing else: whoever reads members needs their names only.
  static Map names_of(const PlanField& root) {
    Map names;
    const PlanField list = root.at("islands");
    const auto size = list.list("island", 1, kPlacesMax);
    std::set<std::string> seen;
    bool sound = size.has_value();
    for (std::size_t i = 0; i < size.value_or(0) && !root.full(); ++i) {
      const PlanField field = list[i].at("island");
      const auto name = field.text();
      sound = sound && name && !name->empty();
      if (name && name->empty()) field.problem("no name");
      if (!name || name->empty()) continue;
      if (!seen.insert(*name).second) {
        field.problem(fmt::format("duplicate name '{}'", shown(*name)), "give each its own");
        sound = false;
      }
      names.islands.push_back({*name, "", "", std::nullopt, {}, {}});
    }
    if (!sound) names.islands.clear();
    return names;
  }

  void read_kind() {
    const PlanField field = root_.at("kind");
    const auto name = field.text();
    if (!name) return;
    for (const OutcomeKind kind : kOutcomeKinds) {
      if (to_name(kind) != *name) continue;
      file_.kind = kind;
      return;
    }
    field.problem(fmt::format("unknown kind '{}'", shown(*name)), "use simulated or measured");
  }

  void read_settings() {
    const PlanField field = root_.at("settings");
    if (!field.is_object()) return;
    if (field.json().size() > kInputsMax) return field.problem("more than 64 settings");
    for (const auto& [name, value] : field.json().items()) {
      const auto text = value.is_string() ? value.get<std::string>() : "";
      if (text.empty() || shown(name) != name || shown(text) != text)
        return field.problem("not names with a short text for each");
      outcome_.settings.emplace_back(name, text);
    }
  }

  static Duration duration(const PlanField& object, const char* key) {
    const PlanField field = object.at(key);
    const auto written = field.number(0, kTimeMostMs);
    if (!written) return {};
    const double ps = from_billionth(*written);
    if (ps < kWholeBelow && ps != std::floor(ps)) field.problem("no whole number of picoseconds");
    return {std::llround(ps)};
  }

  static std::uint64_t count(const PlanField& object, const char* key,
                             std::int64_t most = INT64_MAX) {
    return std::uint64_t(object.at(key).integer(0, most).value_or(0));
  }

  static Bytes bytes(const PlanField& object, const char* key) {
    return {std::int64_t(count(object, key))};
  }

  template <class Which, std::size_t kSize>
  static void read_counters(const PlanField& field, Counters<Which, kSize>& counters) {
    if (!field.is_object()) return;
    for (std::size_t i = 0; i < kSize; ++i) counters.add(Which(i), count(field, name_of(Which(i))));
  }

  void read_islands() {
    const PlanField list = root_.at("islands");
    outcome_.receivers.resize(file_.islands.size());
    outcome_.senders.resize(file_.islands.size());
    outcome_.steps.resize(file_.islands.size());
    for (const IslandId i : outcome_.senders.ids()) {
      if (root_.full()) break;
      SenderCounters& sender = outcome_.senders[i];
      sender.sent = count(list[i], "sent");
      sender.resent = count(list[i], "resent");
      sender.zero = count(list[i], "zero");
      sender.clamped = count(list[i], "clamped");
      sender.withheld = count(list[i], "withheld");
      sender.forged = count(list[i], "forged");
      sender.unexpected = count(list[i], "unexpected");
      sender.slipped_ps = std::uint64_t(duration(list[i], "slipped_ms").ps);
      sender.late_ps = std::uint64_t(duration(list[i], "late_ms").ps);
      outcome_.steps[i] = count(list[i], "steps");
      read_counters(list[i].at("counters"), outcome_.receivers[i]);
    }
  }

  void read_rounds() {
    const PlanField list = root_.at("rounds");
    const auto size = list.list("round", 0, kRoundsMax);
    for (std::size_t k = 0; k < size.value_or(0) && !root_.full(); ++k) {
      if (!list[k].is_object()) continue;
      RoundOutcome round = read_round(list[k]);
      if (!outcome_.rounds.empty() && round.round <= outcome_.rounds.back().round &&
          root_.is_faultless())
        list[k].at("round").problem(
            fmt::format("{} after {}", round.round, outcome_.rounds.back().round),
            "list rounds in the order in which they were played");
      outcome_.rounds.push_back(std::move(round));
    }
  }

  RoundOutcome read_round(const PlanField& field) {
    RoundOutcome round;
    round.round = RoundId(field.at("round").integer(1, UINT32_MAX).value_or(1));
    round.planned = duration(field, "planned_ms");
    round.measured = duration(field, "measured_ms");
    MemberReader::Members members = members_.read_round(field);
    for (std::size_t c = 0; c < members.cliques.size() && !field.full(); ++c)
      if (members.cliques[c])
        round.cliques.push_back(
            read_clique(field.at("cliques")[c], std::move(members.cliques[c]->islands)));
    const PlanField list = field.at("absences");
    const auto size = list.list();
    for (std::size_t i = 0; i < size.value_or(0) && !field.full(); ++i) {
      AbsenceOutcome absence;
      absence.receiver = island(list[i], "at");
      absence.contributor = island(list[i], "from");
      absence.chunks = ChunkId(count(list[i], "chunks", UINT32_MAX));
      absence.first_chunk = ChunkId(count(list[i], "first_chunk", UINT32_MAX));
      round.absences.push_back(absence);
    }
    read_mixing(field.at("mixing"), round.mixing);
    return round;
  }

  CliqueOutcome read_clique(const PlanField& field, std::vector<IslandId> islands) {
    CliqueOutcome clique;
    clique.islands = std::move(islands);
    clique.planned = duration(field, "planned_ms");
    clique.measured = duration(field, "measured_ms");
    clique.complete = field.at("complete").flag().value_or(true);
    clique.store_and_forward = duration(field, "store_and_forward_ms");
    clique.emulator = duration(field, "emulator_ms");
    const PlanField list = field.at("arrivals");
    const auto size = list.list();
    for (std::size_t i = 0; i < size.value_or(0) && !field.full(); ++i)
      clique.arrivals.push_back({island(list[i], "from"), island(list[i], "at"),
                                 duration(list[i], "planned_ms"),
                                 duration(list[i], "measured_ms")});
    return clique;
  }

  // No rows: nobody knows.
  void read_mixing(const PlanField& rows, std::vector<double>& mixing) const {
    const std::size_t n = file_.islands.size();
    const auto size = rows.list();
    if (!size || *size == 0) return;
    if (*size != n)
      return rows.problem(counted(*size, "row"), fmt::format("there must be {}, or none", n));
    for (std::size_t i = 0; i < n && !rows.full(); ++i) {
      if (!rows[i].list("number", n, n)) continue;
      double sum = 0;
      for (std::size_t j = 0; j < n && !rows.full(); ++j) {
        mixing.push_back(rows[i][j].number(0, 1 + kRowRounding).value_or(0));
        sum += mixing.back();
      }
      if (std::fabs(sum - 1) > kRowRounding && rows.is_faultless())
        rows[i].problem(fmt::format("the row adds up to {:.10g}, not to 1", sum),
                        "all of an island's state comes from somewhere");
    }
  }

  void read_edges() {
    const PlanField list = root_.at("edges");
    const auto size = list.list("edge", 0, file_.islands.size());
    for (std::size_t i = 0; i < size.value_or(0) && !root_.full(); ++i) {
      EdgeOutcome edge;
      edge.island = island(list[i], "island");
      edge.memory_peak = bytes(list[i], "memory_peak_bytes");
      edge.memory_planned = bytes(list[i], "memory_planned_bytes");
      edge.slot = bytes(list[i], "slot_bytes");
      edge.streams = int(count(list[i], "streams", kPlacesMax));
      edge.late = duration(list[i], "late_ms");
      edge.late_packets = list[i].at("late_packets").number(0, 1e290).value_or(0);
      read_counters(list[i].at("counters"), edge.counters);
      if (!outcome_.edges.empty() && edge.island <= outcome_.edges.back().island &&
          root_.is_faultless())
        list[i].at("island").problem("out of order", "list edges in the order of islands");
      outcome_.edges.push_back(edge);
    }
  }

  void read_lanes() {
    const PlanField list = root_.at("links");
    const auto size = list.list("lane", 0, kLanesMax);
    for (std::size_t i = 0; i < size.value_or(0) && !root_.full(); ++i) {
      LaneOutcome lane;
      lane.lane = LaneId(count(list[i], "lane", std::int64_t(kLanesMax) - 1));
      lane.bytes = bytes(list[i], "bytes");
      lane.bytes_planned = bytes(list[i], "planned_bytes");
      lane.packets = count(list[i], "packets");
      lane.lost = count(list[i], "lost");
      lane.queue_longest = duration(list[i], "queue_longest_ms");
      lane.packet = duration(list[i], "packet_ms");
      lane.late_median = duration(list[i], "late_p50_ms");
      lane.late_p99 = duration(list[i], "late_p99_ms");
      lane.late_most = duration(list[i], "late_max_ms");
      if (!outcome_.lanes.empty() && lane.lane <= outcome_.lanes.back().lane &&
          root_.is_faultless())
        list[i].at("lane").problem("out of order", "list lanes in the order of their numbers");
      file_.lanes.push_back(
          {list[i].at("from").text().value_or(""), list[i].at("to").text().value_or("")});
      outcome_.lanes.push_back(lane);
    }
  }

  static RealDuration staleness(const PlanField& object, const char* key) {
    return RealDuration::from_ps(from_billionth(object.at(key).number(0, kTimeMostMs).value_or(0)));
  }

  // Nothing: islands never connect, or nobody counted.
  void read_exact(const PlanField& field) {
    if (field.is_null() || !field.is_object()) return;
    ExactOutcome& exact = outcome_.exact.emplace();
    exact.planned = {staleness(field, "planned_ms"), staleness(field, "planned_squared_ms")};
    if (field.at("lived_ms").is_null())
      (void)field.at("lived_squared_ms").expect_null("where lived_ms is null");
    else
      exact.lived = {staleness(field, "lived_ms"), staleness(field, "lived_squared_ms")};
    exact.rounds_needed = std::size_t(count(field, "rounds_needed", std::int64_t(kRoundsMax)));
  }

  IslandId island(const PlanField& object, const char* key) {
    return members_.island(object.at(key)).value_or(0);
  }

  const PlanField& root_;
  Map names_;
  MemberReader members_;
  OutcomeFile file_;
  Outcome& outcome_ = file_.outcome;
};

// Whatever has no kind is something else; one message says it.
bool is_outcome(const Json& root, Problems& problems) {
  if (root.contains("kind")) return true;
  if (root.contains("network"))
    problems.add({}, "", "a plan, not an outcome",
                 "play it first: cotillion simulate PLAN.json -o OUTCOME.json");
  else
    problems.add({}, "kind", "missing: not an outcome", kOutcomeWords.remedy);
  return false;
}

}  // namespace

Expected<OutcomeFile, Diagnostics> read_outcome(std::string_view text, const std::string& file) {
  Problems problems(file);
  OutcomeFile outcome;
  const auto root = parse_plan(text, NamedFields(kRead), problems, kOutcomeWords);
  if (root && is_outcome(*root, problems))
    outcome = OutcomeLoader(PlanField(*root, problems, kOutcomeWords)).take_file();
  if (problems.empty()) return outcome;
  return Unexpected{problems.take()};
}

}  // namespace cotillion
