#include "tests/tidy/rooms.hpp"

#include <algorithm>

namespace cotillion::tidy {

RoomGraph RoomGraph::from_build(const std::vector<Source>& tree) {
  RoomGraph graph;
  const auto build = std::find_if(tree.begin(), tree.end(), [](const Source& source) {
    return source.path == "CMakeLists.txt";
  });
  if (build == tree.end()) return graph;
  const auto lines = lines_of(build->text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with("room(") && !lines[i].starts_with("door(")) continue;
    const std::vector<Token> words = words_of(lines[i]);
    if (words.size() < 2) continue;
    const std::string& room = words[1].text;
    std::set<std::string>& reach = graph.reach_[room];
    reach.insert(room);
    bool uses = false;
    const auto ends = [](const Token& word) {
      return word.text == "LIBRARIES" || word.text == "LABELS";
    };
    for (std::size_t w = 2; w < words.size() && !ends(words[w]); ++w) {
      if (uses) {
        graph.edges_.push_back({room, words[w].text, int(i) + 1});
        // A room stands below the rooms it uses, so theirs are known here. One that does not is
        // reachable by its name alone, and CMake refuses to link it.
        const auto known = graph.reach_.find(words[w].text);
        reach.insert(words[w].text);
        if (known != graph.reach_.end()) reach.insert(known->second.begin(), known->second.end());
      }
      uses = uses || words[w].text == "USES";
    }
  }
  return graph;
}

}  // namespace cotillion::tidy
