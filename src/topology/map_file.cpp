// Reads in the order of dependence: defaults, places, links, aggregators; then what only the
// whole map can show (map_check). A table with a mistake is left out of what follows, so one
// mistake is reported once.
#include "topology/map_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/suggestion.hpp"
#include "topology/map_check.hpp"
#include "topology/map_fields.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr std::string_view kIslandExample = R"(islands = [{ name = "LON", access = "20Gbps" }])";
constexpr std::string_view kLinkExample =
    R"(links = [{ ends = ["LON", "NYC"], latency = "32.2ms", rate = "100Gbps" }])";

class MapReader {
 public:
  MapReader(std::string_view text, const std::string& file) : problems_(file) {
    if (const auto root = parse_toml(text, problems_)) read(*root);
  }

  Expected<Map, Diagnostics> result() {
    if (problems_.empty()) return std::move(map_);
    return Unexpected{problems_.take()};
  }

 private:
  void read(const toml::table& root) {
    Fields top(root, "", problems_);
    map_.name = plain_text(top, "name", Need::kOptional, "name = \"Nine cities\"").value_or("");
    map_.source = plain_text(top, "source", Need::kOptional, "source = \"…\"").value_or("");
    if (const auto payload = top.bytes("payload", Need::kRequired)) {
      map_.payload = *payload;
      if (payload->count == 0)
        top.problem("payload", "zero payload",
                    "give the bytes of model state, for example \"1GB\"");
    }
    read_defaults(top);
    read_edge(top);
    auto islands = top.tables("islands", Need::kRequired, kIslandExample);
    auto routers = top.tables("routers", Need::kOptional, "routers = [{ name = \"MRS\" }]");
    auto links = top.tables("links", Need::kOptional, kLinkExample);
    places_known_ = islands.size() == top.elements("islands") &&
                    routers.size() == top.elements("routers") &&
                    links.size() == top.elements("links");
    for (Fields& fields : islands) read_island(fields);
    for (Fields& fields : routers) read_router(fields);
    number_places(top);
    for (Fields& fields : links) read_link(fields);
    for (Fields& fields : top.tables("aggregators", Need::kOptional,
                                     R"(aggregators = [{ at = "LON", serves = ["LON"] }])"))
      read_aggregator(fields);
    top.finish();
    // A place or an end that was refused may be what joins the rest: then silence is better.
    if (places_known_) check_connected(map_, joints_, places_, problems_);
    check_light(map_, links_, problems_);
    if (!problems_.empty()) return;
    if (map_.links.size() > kLinksMax)
      top.problem("links", fmt::format("{} links", map_.links.size()),
                  fmt::format("Cotillion plans for at most {}", kLinksMax));
    add_default_edges();
    if (problems_.empty()) check_size(map_, problems_);
  }

  void read_defaults(Fields& top) {
    auto defaults = top.table("defaults", Need::kOptional, "[defaults]");
    if (!defaults) return;
    access_ = read_access(*defaults, Need::kOptional);
    rate_ = positive_rate(*defaults, "rate", Need::kOptional);
    // A default that is there but wrong is reported once, not again for everyone who needs it.
    if (defaults->has("access") && !access_) access_ = AccessRates{};
    if (defaults->has("rate") && !rate_) rate_ = BitsPerSecond{};
    defaults->finish();
  }

  void read_edge(Fields& top) {
    auto edge = top.table("edge", Need::kOptional, "[edge]");
    if (!edge) return;
    EdgeSpec& spec = map_.edge;
    spec.memory = edge->bytes("memory", Need::kOptional).value_or(spec.memory);
    const auto chunk = edge->bytes("chunk", Need::kOptional);
    const auto slot = edge->bytes("slot", Need::kOptional);
    spec.chunk = chunk.value_or(spec.chunk);
    spec.slot = slot.value_or(spec.chunk);
    if (edge->has("chunk") && !chunk) spec.slot = spec.chunk;  // reported already
    spec.framing = edge->bytes("framing", Need::kOptional).value_or(spec.framing);
    spec.resend = edge->bytes("resend", Need::kOptional).value_or(spec.resend);
    if (spec.chunk.count == 0)
      edge->problem("chunk", "zero chunk", "a packet carries at least one byte: \"8KiB\"");
    if (spec.slot < spec.chunk)
      edge->problem("slot",
                    fmt::format("a slot of {} cannot hold a chunk of {}", to_text(spec.slot),
                                to_text(spec.chunk)),
                    "make the slot at least as wide as the chunk");
    constexpr Bytes kPacketMax{1 << 24};
    if (spec.chunk > kPacketMax || spec.slot > kPacketMax || spec.framing > kPacketMax)
      edge->problem("", "a packet larger than 16 MiB", "check the unit of chunk, slot and framing");
    edge->finish();
  }

  void read_island(Fields& fields) {
    Island island;
    const auto name = read_name(fields);
    island.label = plain_text(fields, "label", Need::kOptional, "label = \"London\"").value_or("");
    island.region =
        plain_text(fields, "region", Need::kOptional, "region = \"Europe\"").value_or("");
    island.coordinates = read_coordinates(fields);
    const auto access = read_access(fields, access_ ? Need::kOptional : Need::kRequired);
    const auto edge = fields.boolean("edge", Need::kOptional, "edge = false");
    fields.finish();
    places_known_ = places_known_ && name;
    if (!name) return;
    island.name = *name;
    if (edge == false) edgeless_.insert(*name);
    const AccessRates rates = access.value_or(access_.value_or(AccessRates{}));
    island.up = rates.up;
    island.down = rates.down;
    map_.islands.push_back(std::move(island));
    island_positions_.push_back(fields.at("name"));
  }

  void read_router(Fields& fields) {
    const auto name = read_name(fields);
    const auto coordinates = read_coordinates(fields);
    fields.finish();
    places_known_ = places_known_ && name;
    if (!name) return;
    map_.routers.push_back({*name, coordinates});
    router_positions_.push_back(fields.at("name"));
  }

  // Ids are only known once all islands are: an island's place has the island's own id.
  void number_places(Fields& top) {
    places_ = island_positions_;
    places_.insert(places_.end(), router_positions_.begin(), router_positions_.end());
    for (PlaceId place = 0; place < map_.place_count(); ++place)
      ids_.emplace(place_name(map_, place), place);
    if (map_.islands.empty() && problems_.empty())
      top.problem("islands", "a map without islands",
                  fmt::format("write for example {}", kIslandExample));
    if (places_.size() > kPlacesMax) {
      top.problem("islands", fmt::format("{} islands and routers", places_.size()),
                  fmt::format("Cotillion plans for at most {}", kPlacesMax));
      places_known_ = false;
    }
  }

  void read_link(Fields& fields) {
    const auto ends = fields.names("ends", Need::kRequired, R"(ends = ["LON", "NYC"])");
    const auto latency = read_latency(fields);
    const auto rate = read_link_rate(fields);
    fields.finish();
    places_known_ = places_known_ && ends && ends->size() == 2;
    if (!ends) return;
    if (ends->size() != 2) {
      fields.problem("ends", fmt::format("a link has two ends, not {}", ends->size()),
                     R"(write for example ends = ["LON", "NYC"])");
      return;
    }
    const auto a = find_place(fields, "ends", ends->at(0));
    const auto b = find_place(fields, "ends", ends->at(1));
    places_known_ = places_known_ && a && b;
    if (!a || !b) return;
    joints_.emplace_back(*a, *b);
    if (*a == *b) {
      fields.problem("ends", fmt::format("a link from {} to itself", ends->at(0)),
                     "give two different ends, or remove the link");
      return;
    }
    const auto [known, fresh] = link_lines_.emplace(std::minmax(*a, *b), fields.at().line);
    if (!fresh) {
      fields.problem("ends",
                     fmt::format("duplicate link {}–{}, first given on line {}", ends->at(0),
                                 ends->at(1), known->second),
                     "remove one of them; add their rates if they are parallel fibres");
      return;
    }
    if (!latency || !rate) return;
    map_.links.push_back({{*a, *b}, {latency->there, latency->back}, {rate->there, rate->back}});
    links_.push_back(fields.at());
  }

  void read_aggregator(Fields& fields) {
    Aggregator aggregator;
    aggregator.spec = map_.edge;
    const auto at = fields.text("at", Need::kRequired, "at = \"LON\"");
    const auto serves = fields.names("serves", Need::kOptional, R"(serves = ["LON"])");
    const auto memory = fields.bytes("memory", Need::kOptional);
    fields.finish();
    if (!at || (fields.has("serves") && !serves)) return;
    const auto place = find_place(fields, "at", *at);
    if (!place) return;
    aggregator.place = *place;
    aggregator.spec.memory = memory.value_or(map_.edge.memory);
    if (!serves && *place >= map_.island_count()) {
      fields.problem("", fmt::format("the aggregator at router {} serves no island", *at),
                     R"(name them: serves = ["LON"])");
      return;
    }
    for (const std::string& name : serves.value_or(std::vector{*at})) {
      const auto found = find_place(fields, "serves", name);
      if (!found) continue;
      const IslandId island{int(*found)};  // if it is one
      if (island >= map_.island_count())
        fields.problem("serves", fmt::format("{} is a router, not an island", shown(name)),
                       "an aggregator serves islands only");
      else if (!served_.emplace(island).second)
        fields.problem("serves", fmt::format("{} is already served by an aggregator", name),
                       "each island has one edge; name it once");
      else if (edgeless_.contains(name))
        fields.problem("serves", fmt::format("{} says edge = false", name),
                       "remove that field or this island from the list");
      else
        aggregator.serves.push_back(island);
    }
    std::sort(aggregator.serves.begin(), aggregator.serves.end());
    if (serves && serves->empty())
      fields.problem("serves", "an aggregator that serves nobody",
                     "name at least one island, or remove the aggregator");
    if (!aggregator.serves.empty()) map_.aggregators.push_back(std::move(aggregator));
  }

  void add_default_edges() {
    for (IslandId i = 0; i < map_.island_count(); ++i)
      if (!served_.contains(i) && !edgeless_.contains(map_.islands[i].name))
        map_.aggregators.push_back({i, map_.edge, {i}});
  }

  std::optional<std::string> read_name(Fields& fields) {
    auto name = plain_text(fields, "name", Need::kRequired, "name = \"LON\"");
    if (!name) return name;
    if (name->empty() || name->size() > 40 ||
        name->find_first_of(" ,;:=<>\"'") != std::string::npos || *name == "net") {
      fields.problem("name", fmt::format("'{}' cannot be a name", shown(*name)),
                     "use 1 to 40 bytes without spaces, quotes or any of , ; : = < > (a long form "
                     "goes into 'label'); 'net' is taken");
      return std::nullopt;
    }
    const auto [known, fresh] = name_lines_.emplace(*name, fields.at("name").line);
    if (!fresh) {
      fields.problem(
          "name", fmt::format("duplicate name '{}', first given on line {}", *name, known->second),
          "give every island and router a name of its own");
      return std::nullopt;
    }
    return name;
  }

  std::optional<BothWays<BitsPerSecond>> read_link_rate(Fields& fields) {
    auto rate = read_rates(fields, rate_ ? Need::kOptional : Need::kRequired);
    if (!rate && rate_ && !fields.has("rate")) rate = BothWays<BitsPerSecond>{*rate_, *rate_};
    return rate;
  }

  std::optional<PlaceId> find_place(Fields& fields, std::string_view key, const std::string& name) {
    const auto known = ids_.find(name);
    if (known != ids_.end()) return known->second;
    // A name that was refused where it was defined is not reported again where it is used.
    if (name_lines_.contains(name)) return std::nullopt;
    std::vector<std::string> names;
    if (!problems_.full())
      for (const auto& [candidate, place] : ids_) names.push_back(candidate);
    fields.problem(
        key, fmt::format("unknown island or router '{}'", shown(name)),
        did_you_mean(name, names, "add it to 'islands' or 'routers', or correct the name"));
    return std::nullopt;
  }

  Map map_;
  Problems problems_;
  std::optional<AccessRates> access_;
  std::optional<BitsPerSecond> rate_;
  std::set<std::string> edgeless_;
  std::set<IslandId> served_;
  std::map<std::string, int> name_lines_;
  std::map<std::string, PlaceId> ids_;
  std::map<std::pair<PlaceId, PlaceId>, int> link_lines_;
  std::vector<std::pair<PlaceId, PlaceId>> joints_;  // ends of links, sound or not
  bool places_known_ = true;                         // every place and end could be read
  std::vector<Position> island_positions_, router_positions_, places_, links_;
};

}  // namespace

Expected<Map, Diagnostics> read_map(std::string_view text, const std::string& file) {
  return MapReader(text, file).result();
}

}  // namespace cotillion
