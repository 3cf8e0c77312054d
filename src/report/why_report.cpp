#include "report/why_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/table.hpp"
#include "base/text.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kRowsMax = 6;  // of a list; JSON has them all
constexpr double kNothing = 0.05;    // ms: prints as 0.0

double change_ms(const SearchResult& result, RealDuration staleness) {
  return (staleness - result.plan.staleness()).ms();
}

// "+3.2 ms", "−12.0 ms".
std::string change_text(double ms) {
  return fmt::format("{}{:.1f} ms", ms <= -0.05 ? "−" : "+", std::fabs(ms));
}

std::string certificate_rounds_text(const SearchResult& result, const Why& why) {
  if (result.plan.round.ps == 0) return "Nobody has to meet anybody.";
  if (result.plan.settings.relax.any()) return "";
  std::string binding, spare;
  for (std::size_t r = 0; r < why.spare.size(); ++r) {
    if (why.spare[r] < result.plan.round * 1e-9)
      binding += fmt::format("{}{}", binding.empty() ? "" : ", ", r + 1);
    else
      spare +=
          fmt::format("; round {} could take {} longer for nothing", r + 1, to_text(why.spare[r]));
  }
  const bool one = binding.find(',') == std::string::npos;
  return fmt::format("T is set by round{} {}{}.", one ? "" : "s", binding, spare);
}

std::string alternatives_text(const SearchResult& result, const Why& why) {
  if (why.alternatives.best.empty())
    return why.alternatives.looked_at > 0 ? "No schedule one step away can be stepped." : "";
  std::string text = "One step away: ";
  for (std::size_t k = 0; k < why.alternatives.best.size(); ++k) {
    const Neighbour& neighbour = why.alternatives.best[k];
    text += fmt::format(
        "{}{} {}", k == 0 ? "" : "; ", neighbour.change,
        change_text(change_ms(result, RealDuration::from_ps(neighbour.standing.value))));
  }
  return text + fmt::format(" ({} of {} looked at).",
                            why.alternatives.all ? "best of each kind, all" : "best of each kind",
                            counted(std::size_t(why.alternatives.looked_at), "neighbour"));
}

// A search that was cut short finds more when it goes on, whatever is changed.
std::string baseline_text(const SearchResult& result, const Why& why) {
  const double gain = -change_ms(result, why.baseline);
  if (gain < kNothing) return "";
  return fmt::format("Searching on from here already gains {:.1f} ms; what follows is beyond that.",
                     gain);
}

// The links without which nothing is lost, beside those that were named.
std::string spared_text(std::size_t links, bool others_named) {
  const char* other = others_named ? "other " : "";
  return links == 0 ? ""
         : links == 1
             ? fmt::format("Removing one {}link changes nothing.", other)
             : fmt::format("Removing any one of {} {}links changes nothing.", links, other);
}

// What is gained by more of something, or lost without it.
std::string worths_text(const Why& why, bool absence) {
  std::string text;
  std::size_t shown = 0, silent = 0;
  for (const Worth& worth : why.worths) {
    if ((worth.kind == Worth::Kind::kAbsence) != absence) continue;
    const double change = (worth.replanned - why.baseline).ms();
    if (!worth.splits && std::fabs(change) < kNothing) {
      ++silent;
      continue;
    }
    if (++shown > kRowsMax) continue;
    text += fmt::format("{}{} {}", shown == 1 ? "" : "; ", worth.what,
                        worth.splits ? "the map falls apart" : change_text(change));
  }
  if (shown > kRowsMax) text += fmt::format("; {} more (--json)", shown - kRowsMax);
  if (absence) {
    if (shown == 0 && silent == 0) return "";
    if (shown > 0) text += silent > 0 ? ". " : ".";
    return fmt::format("Planned again without a link, {}: {}{}",
                       why.proven ? "proven again" : "by annealing", text,
                       spared_text(silent, shown > 0));
  }
  if (shown == 0)
    return why.complete
               ? "A little more memory, access or link rate in one place is worth nothing by "
                 "itself, as far as annealing found."
               : "A little more of what binds is worth nothing by itself: several bind at once.";
  return fmt::format("A little more is worth: {}{}.", text,
                     why.complete ? "; annealing found no use for more of anything else" : "");
}

}  // namespace

std::string why_text(const SearchResult& result, const Why& why) {
  std::string text = "\nWhy this one\n";
  const std::string worths =
      why.asked ? worths_text(why, false) : "What more would be worth was not asked: stopped.";
  for (const std::string& part :
       {certificate_rounds_text(result, why), alternatives_text(result, why),
        baseline_text(result, why), worths, worths_text(why, true)})
    if (!part.empty()) text += wrapped(part, 96);
  return text;
}

Json why_json(const Why& why) {
  Json spare = Json::array();
  for (const RealDuration time : why.spare) spare.push_back(time.ms());
  Json alternatives = Json::array();
  for (const Neighbour& neighbour : why.alternatives.best)
    alternatives.push_back(
        {{"change", neighbour.change},
         {"staleness_ms", number_or_null(RealDuration::from_ps(neighbour.standing.value).ms())}});
  Json worths = Json::array();
  constexpr const char* kKinds[] = {"nothing", "memory", "access", "rate", "absence"};
  for (const Worth& worth : why.worths)
    worths.push_back({{"kind", kKinds[std::size_t(worth.kind)]},
                      {"change", worth.what},
                      {"splits_the_map", worth.splits},
                      {"kept_ms", number_or_null(worth.kept.ms())},
                      {"replanned_ms", number_or_null(worth.replanned.ms())},
                      {"difference_ms", number_or_null((worth.replanned - why.baseline).ms())}});
  return {{"spare_ms", spare},
          {"alternatives", alternatives},
          {"neighbours_looked_at", why.alternatives.looked_at},
          {"neighbours_all", why.alternatives.all},
          {"asked", why.asked},
          {"baseline_ms", number_or_null(why.baseline.ms())},
          {"proven", why.proven},
          {"worths", worths},
          {"complete", why.complete}};
}

}  // namespace cotillion
