#include "cli/report_outcomes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "cli/settings.hpp"
#include "job/outcome_loader.hpp"
#include "report/side_by_side_report.hpp"
#include "report/side_by_side_study.hpp"

namespace cotillion::cli {
namespace {

// Every mistake in every file, before anything is drawn.
std::vector<NamedOutcome> read_outcomes(const std::vector<InputFile>& files) {
  std::vector<NamedOutcome> outcomes;
  Diagnostics wrong;
  for (const InputFile& file : files) {
    auto outcome = read_outcome(file.text, file.path);
    if (outcome)
      outcomes.push_back({file.path, std::move(*outcome)});
    else
      wrong.insert(wrong.end(), outcome.error().begin(), outcome.error().end());
  }
  if (!wrong.empty()) throw Stop{kUsedWrongly, to_text(wrong)};
  return outcomes;
}

}  // namespace

void report_outcomes(const std::vector<InputFile>& files, const PageOptions& options, bool json) {
  const std::vector<NamedOutcome> outcomes = read_outcomes(files);
  const auto plans = side_by_side(outcomes);
  if (!plans) throw Stop{kUsedWrongly, to_text(plans.error())};
  Provenance made_by = provenance();
  for (std::size_t i = 0; i < files.size(); ++i)
    made_by.inputs.emplace_back(i == 0 ? "outcome" : fmt::format("outcome {}", i + 1),
                                fingerprint(files[i].text));
  Json written = Json::array();
  std::string text;
  for (const SideBySide& sides : *plans)
    text += (text.empty() ? "" : "\n") + side_by_side_text(sides, options.output.empty());
  if (!options.output.empty()) {
    make_folder(options.output);
    const IllustratedPage page =
        study_outcomes(*plans, fmt::format("Cotillion {} ({}).", made_by.version, made_by.commit));
    written = write_page(options, page, progress_line());
    end_progress();
    text += "\n" + written_text(options, page);
  }
  if (!json) return print(text);
  Json all = cotillion::to_json(made_by);
  Json& list = all["plans"] = Json::array();
  for (const SideBySide& sides : *plans) list.push_back(cotillion::to_json(sides));
  all["files"] = std::move(written);
  print_json(all);
}

}  // namespace cotillion::cli
