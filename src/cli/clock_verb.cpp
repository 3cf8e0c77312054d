#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/verbs.hpp"
#include "cli/world.hpp"
#include "daemon/clock_trust.hpp"

namespace cotillion::cli {
namespace {

void run_clock(bool json, Outcome& outcome) {
  const ClockTrust trust = ask_clock_trust();
  const bool known = trust.estimate.known();
  if (json)
    print_json({{"source", trust.source},
                {"known", known},
                {"error_ms", known ? Json(double(trust.estimate.error_ns) / 1e6) : Json(nullptr)},
                {"detail", trust.detail}});
  else
    print(fmt::format("clock: {}\n", to_text(trust)) +
          (known ? "" : "The coordinator's pings will have to tell: to half of a round trip.\n"));
  outcome.code = known ? kDone : kAnswerIsNo;
}

}  // namespace

void add_clock(CLI::App& app, Outcome& outcome) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand(
      "clock",
      "Say how exact this machine's clock is, and who says so: PTP, chrony or the kernel.");
  verb->add_flag("--json", *json, "Print one JSON object instead of text");
  verb->callback([json, &outcome] { run_clock(*json, outcome); });
}

}  // namespace cotillion::cli
