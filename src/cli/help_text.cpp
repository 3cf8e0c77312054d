#include "cli/help_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/table.hpp"

namespace cotillion::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kColumn = 28;  // where descriptions begin

// The word for an option's value where the option's name tells what it is.
struct ValueWord {
  std::string_view word;
  std::string_view options;  // with a space on either side of each
};
constexpr std::array kValueWords{
    ValueWord{"SIZE", " memory payload egress-cap "},
    ValueWord{"TIME",
              " slack step-time grace start-in join-within latency queue budget target-time "},
    ValueWord{"RATE", " access rate "},
    ValueWord{"FILE",
              " output schedule resume pin svg simulated faults trace pcap checkpoint "
              "export-recipes from socket lock "},
    ValueWord{"FOLDER", " figures "},
    ValueWord{"ISLAND", " island tree without-island "},
    ValueWord{"ISLANDS", " to together apart islands ring rest "},
    ValueWord{"PLACE", " at "},
    ValueWord{"LINK", " without "},
    ValueWord{"LINKS", " pcap-on "},
    ValueWord{"ADDRESS", " listen metrics coordinator interface "},
    ValueWord{"NAME", " name source format model data technology objective policy "},
    ValueWord{"PLAN", " plan "},
    ValueWord{"WEIGHTS", " island-weights "},
    ValueWord{"LIST", " relax "},
    ValueWord{"SHARE", " headroom "},
    ValueWord{"COUNT", " steps "},
    ValueWord{"INTERFACE", " edge "},
};

std::string value_word(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string kind = type.substr(0, type.find(':'));
  if (const std::size_t choices = type.find('{'); choices != std::string::npos) {
    std::string words = type.substr(choices + 1, type.find('}', choices) - choices - 1);
    for (char& c : words)
      if (c == ',') c = '|';
    return words;
  }
  if (kind == "TEXT")
    for (const ValueWord& known : kValueWords)
      if (known.options.find(fmt::format(" {} ", option.get_single_name())) != std::string::npos)
        return std::string(known.word);
  return kind == "INT" || kind == "UINT" || kind == "FLOAT" ? "N" : kind;
}

std::string names_of(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += fmt::format("-{}, ", name);
  for (const std::string& name : option.get_lnames()) text += fmt::format("--{}, ", name);
  text.resize(text.size() - 2);
  return option.get_type_size() == 0 ? text : text + " " + value_word(option);
}

// Of a line in a list, "  name   what it is", where the words begin; else where the line begins.
std::size_t hanging_indent(const std::string& line, std::size_t inner) {
  if (inner == 0 || inner == line.size()) return inner;
  const std::size_t gap = line.find("  ", inner);
  return gap == std::string::npos ? inner : line.find_first_not_of(' ', gap);
}

// Lines of their own stay lines of their own; what is indented stays indented.
std::string indented(const std::string& text, std::size_t column, std::size_t width) {
  std::string result;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t inner = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t hanging = hanging_indent(line, inner);
    std::string margin = std::string(column, ' ') + line.substr(0, hanging);
    std::string lines = wrapped(line.substr(hanging), width - column - hanging);
    while (lines.ends_with('\n')) lines.pop_back();
    for (std::size_t from = 0; from <= lines.size();) {
      const std::size_t to = std::min(lines.find('\n', from), lines.size());
      result += to == from ? "\n" : margin + lines.substr(from, to - from) + "\n";
      margin.assign(column + hanging, ' ');
      from = to + 1;
    }
    at = end + 1;
  }
  return result;
}

// A name on the left and sentences on the right, which begin below a name that is too long.
std::string two_columns(const std::string& left, const std::string& right) {
  const std::string name = "  " + left;
  std::string text = right.empty() ? "\n" : indented(right, kColumn, kWidth);
  const std::size_t width = display_width(name);
  if (width + 2 > kColumn) return name + "\n" + (right.empty() ? "" : text);
  return right.empty() ? name + "\n"
                       : name + std::string(kColumn - width, ' ') + text.substr(kColumn);
}

std::string first_sentence(const std::string& text) {
  std::string sentence = text.substr(0, text.find(". "));
  sentence = sentence.substr(0, sentence.find('\n'));
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string text = indented(app->get_description(), 0, kWidth) + "\n" + make_usage(app, name);
  const bool is_verb = app->get_parent() != nullptr;
  const std::string footer = app->get_footer();
  if (is_verb)
    text += std::string("\n") + (footer.find('\n') == std::string::npos ? "Example" : "Examples") +
            ":\n" + indented(footer, 2, kWidth);
  text += make_positionals(app);
  std::string groups = make_groups(app, mode);
  const std::string verbs = make_subcommands(app, mode);
  text += is_verb ? groups + verbs : verbs + groups;
  while (text.ends_with("\n\n")) text.pop_back();
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return is_verb ? text : text + "\n" + indented(footer, 0, kWidth);
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string text = "Usage: " + name;
  const auto all = [](const CLI::App*) { return true; };
  if (!app->get_subcommands(all).empty())
    text += app->get_require_subcommand_min() > 0 ? " VERB" : " [VERB]";
  for (const CLI::Option* option : app->get_options()) {
    if (!option->get_positional()) continue;
    const std::string more = option->get_expected_max() > 1 ? " ..." : "";
    const std::string word = option->get_name(true, false) + more;
    text += option->get_required() ? " " + word : fmt::format(" [{}]", word);
  }
  return text + " [options]\n";
}

std::string HelpFormatter::make_group(std::string group, bool is_positional,
                                      std::vector<const CLI::Option*> options) const {
  std::string text = fmt::format("\n{}:\n", is_positional ? "Arguments" : group);
  for (const CLI::Option* option : options) text += make_option(option, is_positional);
  return text;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string sentences = option->get_description();
  for (const CLI::Option* needed : option->get_needs())
    sentences += fmt::format(" (needs {})", needed->get_name());
  if (option->get_required() && !is_positional) sentences += " (required)";
  return two_columns(is_positional ? option->get_name(true, false) : names_of(*option), sentences);
}

std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
  return two_columns(verb->get_name(), first_sentence(verb->get_description()));
}

}  // namespace cotillion::cli
