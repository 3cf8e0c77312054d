#include "cli/played_exchange.hpp"

#include "plan/overlap.hpp"

namespace cotillion::cli {

void add_played_exchange(CLI::App& verb, PlayedExchange& said) {
  verb.add_option(
          "--exchange", said.exchange,
          "whole: the model is copied when a round starts and merged when it ends; streamed: in "
          "fragments (default: streamed where the plan's rounds overlap, else whole)")
      ->check(CLI::IsMember({"whole", "streamed"}));
  verb.add_option("--fragments", said.fragments,
                  "Number of fragments in a streamed exchange (default: as many as the plan has "
                  "where its rounds overlap, else 8)")
      ->check(CLI::Range(1, 4096));
}

PlayedExchange exchange_of(const Plan& plan, PlayedExchange said) {
  constexpr int kFragmentsUsual = 8;
  if (said.exchange.empty()) said.exchange = plan.overlapped ? "streamed" : "whole";
  if (said.fragments == 0)
    said.fragments = plan.overlapped ? overlap_fragments(plan.settings) : kFragmentsUsual;
  return said;
}

}  // namespace cotillion::cli
