// tidy ROOT: says what in a source tree breaks the rules of the house, one `file:line: reason`
// for each, and exits with 1 if anything does.
#include <fmt/format.h>

#include <exception>

#include "tests/tidy/rules.hpp"

int main(int argc, char** argv) {
  using namespace cotillion::tidy;
  if (argc != 2) {
    fmt::print(stderr, "usage: tidy ROOT\n");
    return 2;
  }
  try {
    const std::vector<Source> tree = read_tree(argv[1]);
    const Findings mistakes = check(tree);
    for (const Finding& mistake : mistakes) fmt::print("{}\n", to_text(mistake));
    fmt::print("tidy: {} files, {} mistakes\n", tree.size(), mistakes.size());
    return mistakes.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tidy: {}\n", error.what());
    return 3;
  }
}
