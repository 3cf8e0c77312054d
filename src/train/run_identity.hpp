// What makes two trainings the same run: policy, islands, text, model and every setting that a loss
// depends on. Checkpoints, studies built up in pieces and tables all go by it.
#pragma once

#include <string>

#include "train/trainer.hpp"

namespace cotillion {

// The first thing that a record has and the other not, as words; empty where they are the same run.
// Lines of results are shortened: numbers are compared to four digits. What a record does not say
// is not compared.
[[nodiscard]] std::string what_differs(const Training& record, const Training& run);

// The same but for seed and setting: what makes a row of a table.
[[nodiscard]] std::string what_differs_in_policy(const Training& record, const Training& run);

// The same but for policy and seed: what may be compared with each other.
[[nodiscard]] std::string what_differs_in_setting(const Training& record, const Training& run);

}  // namespace cotillion
