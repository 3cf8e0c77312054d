// What --help prints, for every verb alike: the verb's sentence, its usage, an example, its options
// in two columns. CLI11's own form repeats the types and bounds of the library
// ("INT:INT in [1 - 64]"), which say nothing that the sentences do not say better.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cotillion::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
};

}  // namespace cotillion::cli
