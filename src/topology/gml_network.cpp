#include "topology/gml_network.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "topology/gml_text.hpp"
#include "topology/map_check.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr double kDistanceMaxKm = 100'000;  // two and a half times round the Earth

class GmlNetwork {
 public:
  GmlNetwork(const GmlGraph& graph, const ImportOptions& options, Problems& problems)
      : options_(options), problems_(problems) {
    network_.parallel_rates_add = false;
    for (const std::string_view key : {"Network", "label"})
      if (const GmlAttribute* name = graph.self.find(key)) network_.name = decode_gml(name->value);
    for (const GmlRecord& record : graph.records)
      if (record.key == "node") read_node(record);
    for (const GmlRecord& record : graph.records)
      if (record.key == "edge") read_edge(record);
    say_what_was_assumed();
  }

  ImportedNetwork take() { return std::move(network_); }

 private:
  const GmlAttribute* need(const GmlRecord& record, std::string_view key) {
    const GmlAttribute* found = record.find(key);
    if (found == nullptr)
      problems_.add(
          record.at, fmt::format("{}.{}", record.key, key),
          fmt::format("{} {} without {}", record.key == "edge" ? "an" : "a", record.key, key),
          fmt::format("write for example {} 3", key));
    return found;
  }

  std::optional<double> number(const GmlAttribute& attribute, const std::string& field) {
    const auto value = parse_number(attribute.value);
    if (!value || !std::isfinite(*value)) {
      problems_.add(attribute.at, field,
                    fmt::format("'{}' is not a number", shown(attribute.value)),
                    "give a decimal number");
      return std::nullopt;
    }
    return value;
  }

  void read_node(const GmlRecord& record) {
    const GmlAttribute* id = need(record, "id");
    if (id == nullptr) return;
    const auto [known, fresh] = ids_.emplace(std::string(id->value), int(network_.places.size()));
    if (!fresh) {
      problems_.add(id->at, "node.id", fmt::format("duplicate id {}", shown(id->value)),
                    "give every node an id of its own");
      return;
    }
    const GmlAttribute* label = record.find("label");
    ImportedPlace place{decode_gml(label != nullptr ? label->value : id->value), {}};
    const GmlAttribute* latitude = record.find("Latitude");
    const GmlAttribute* longitude = record.find("Longitude");
    if (latitude != nullptr && longitude != nullptr) {
      const auto north = number(*latitude, "node.Latitude");
      const auto east = number(*longitude, "node.Longitude");
      if (north && (*north < -90 || *north > 90))
        problems_.add(latitude->at, "node.Latitude", "not a point on the Earth",
                      "latitude is within ±90 degrees");
      if (east && (*east < -180 || *east > 180))
        problems_.add(longitude->at, "node.Longitude", "not a point on the Earth",
                      "longitude is within ±180 degrees");
      if (north && east) place.coordinates = Coordinates{*north, *east};
    }
    network_.places.push_back(std::move(place));
  }

  std::optional<int> read_end(const GmlRecord& record, std::string_view key) {
    const GmlAttribute* end = need(record, key);
    if (end == nullptr) return std::nullopt;
    const auto known = ids_.find(std::string(end->value));
    if (known != ids_.end()) return known->second;
    problems_.add(end->at, fmt::format("edge.{}", key),
                  fmt::format("no node has the id {}", shown(end->value)),
                  "add the node, or correct the id");
    return std::nullopt;
  }

  void read_edge(const GmlRecord& record) {
    const auto source = read_end(record, "source");
    const auto target = read_end(record, "target");
    if (!source || !target) return;
    capacities_ += record.find("capacity") != nullptr || record.find("LinkSpeedRaw") != nullptr;
    if (*source == *target) {  // its length matters to nobody
      network_.links.push_back({{*source, *target}, {}, options_.rate, record.at});
      return;
    }
    const auto km = read_distance(record, *source, *target);
    if (!km) return;
    const GmlAttribute* distance = record.find("distance");
    const auto latency =
        latency_of_ms(options_.ms_per_km * *km + options_.fixed_ms,
                      distance != nullptr ? distance->at : record.at, "edge.distance", problems_);
    if (latency) network_.links.push_back({{*source, *target}, *latency, options_.rate, record.at});
  }

  std::optional<double> read_distance(const GmlRecord& record, int source, int target) {
    if (const GmlAttribute* distance = record.find("distance")) {
      const auto km = number(*distance, "edge.distance");
      if (km && (*km < 0 || *km > kDistanceMaxKm)) {
        problems_.add(distance->at, "edge.distance",
                      fmt::format("{} distance of {:g} km", *km < 0 ? "negative" : "absurd", *km),
                      "give kilometres; half round the Earth is 20,000");
        return std::nullopt;
      }
      return km;
    }
    const auto& a = network_.places[source].coordinates;
    const auto& b = network_.places[target].coordinates;
    if (a && b) {
      ++measured_;
      return distance_km(*a, *b);
    }
    problems_.add(record.at, "edge.distance",
                  "an edge without distance, between nodes without coordinates",
                  "add distance in km to the edge, or Longitude and Latitude to its nodes");
    return std::nullopt;
  }

  void say_what_was_assumed() {
    auto& notes = network_.notes;
    notes.push_back(
        fmt::format("latency = {} ms/km × distance + {} ms, as the authors of "
                    "omarfoq/communication-in-cross-silo-fl take it",
                    options_.ms_per_km, options_.fixed_ms));
    if (measured_ > 0)
      notes.push_back(
          fmt::format("{} without distance: the great circle between the coordinates "
                      "of the ends was taken",
                      counted(std::size_t(measured_), "edge")));
    std::string rates = fmt::format("every link has {} (--rate)", to_text(options_.rate));
    if (capacities_ > 0)
      rates += fmt::format("; {} of {} edges state a capacity, which is not used", capacities_,
                           network_.links.size());
    notes.push_back(std::move(rates));
  }

  const ImportOptions& options_;
  Problems& problems_;
  ImportedNetwork network_;
  std::map<std::string, int> ids_;
  int measured_ = 0, capacities_ = 0;
};

}  // namespace

ImportedNetwork read_gml_network(std::string_view text, const ImportOptions& options,
                                 Problems& problems) {
  const auto graph = parse_gml(text, problems);
  if (!graph) return {};
  return GmlNetwork(*graph, options, problems).take();
}

}  // namespace cotillion
