// Nothing here calls the mathematics library: its last bits differ between machines, and a last
// bit can decide which of two islands is nearer. Coordinates are whole hundredths of a degree,
// sines come from a series, and what is left are the operations that IEEE 754 fixes entirely.
#include "topology/generate_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "topology/map_check.hpp"

namespace cotillion {
namespace {

constexpr double kDetour = 1.5;               // fibre follows coasts and railways
constexpr double kFibreKmPerMs = 204.0;       // light in glass
constexpr double kEquipmentMs = 0.1;          // of one link
constexpr std::int64_t kTickPs = 10'000'000;  // latencies are multiples of 10 µs
constexpr int kLongHaulOneIn = 5;             // links after the first that leave the region
constexpr int kLongHaulTries = 6;             // of which the nearest is taken

// Where data centres are: a centre and how far islands scatter, in hundredths of a degree.
struct Cluster {
  const char* region;
  int latitude, longitude;
  int scatter_latitude, scatter_longitude;
  int weight;
};
constexpr Cluster kClusters[] = {
    {"North America", 3950, -7900, 500, 800, 5},   // east coast and Great Lakes
    {"North America", 3700, -11900, 700, 350, 3},  // west coast
    {"North America", 3300, -9700, 300, 400, 2},   // Texas
    {"Europe", 5000, 600, 500, 900, 6},            // west and middle
    {"Europe", 5900, 1700, 250, 600, 1},           // north
    {"Asia", 3550, 13600, 250, 450, 3},            // Japan and Korea
    {"Asia", 2250, 11400, 350, 500, 2},            // the Pearl River
    {"Asia", 200, 10400, 350, 400, 2},             // Singapore and Malaysia
    {"Asia", 1700, 7700, 600, 350, 2},             // India
    {"South America", -2350, -4700, 300, 400, 2},  // São Paulo
    {"Oceania", -3450, 14900, 350, 350, 1},        // Sydney, Melbourne
    {"Middle East", 2500, 5400, 250, 350, 1},      // the Gulf
    {"Africa", -2750, 2700, 350, 500, 1},          // Johannesburg
};

// For |x| <= π. Enough terms that the last is below a unit in the last place.
double sine(double x) {
  double term = x;
  double sum = x;
  for (int n = 1; n <= 14; ++n) {
    term *= -x * x / double(2 * n * (2 * n + 1));
    sum += term;
  }
  return sum;
}

double cosine(double x) {
  return sine(std::numbers::pi / 2 - (x < 0 ? -x : x));
}

struct Point {
  double x = 0, y = 0, z = 0;  // on the unit sphere
};

Point point_at(const Coordinates& at) {
  const double latitude = at.latitude * std::numbers::pi / 180;
  const double longitude = at.longitude * std::numbers::pi / 180;
  return {cosine(latitude) * cosine(longitude), cosine(latitude) * sine(longitude), sine(latitude)};
}

// Of the chord; ordered as distances are.
double chord_squared(const Point& a, const Point& b) {
  const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return x * x + y * y + z * z;
}

// Along the great circle, from the chord 2·sin(angle/2). By bisection: sqrt is exact, asin is not.
double kilometres(const Point& a, const Point& b) {
  const double half_chord = std::sqrt(chord_squared(a, b)) / 2;
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (sine(middle) < half_chord ? low : high) = middle;
  }
  return kEarthRadiusKm * (low + high);
}

Duration fibre_latency(double km) {
  const double ms = km * kDetour / kFibreKmPerMs + kEquipmentMs;
  return {std::int64_t(std::floor(ms * 100 + 0.5)) * kTickPs};
}

class MapGenerator {
 public:
  MapGenerator(int islands, std::uint64_t seed, const GenerateOptions& options)
      : options_(options), random_(seed) {
    map_.name =
        fmt::format("Generated, {}, seed {}", counted(std::size_t(islands), "island"), seed);
    map_.source = fmt::format("cotillion topology generate --islands {} --seed {}", islands, seed);
    map_.payload = options.payload;
    map_.edge.memory = options.memory;
    const int digits = std::max(3, int(fmt::to_string(islands).size()));
    for (int i = 1; i <= islands; ++i) add_island(fmt::format("I{:0{}}", i, digits));
    for (IslandId i = 0; i < islands; ++i) lay_links(i);
  }

  Map take() { return std::move(map_); }

 private:
  const Cluster& draw_cluster() {
    int total = 0;
    for (const Cluster& cluster : kClusters) total += cluster.weight;
    std::int64_t left = random_.between(1, total);
    for (const Cluster& cluster : kClusters)
      if ((left -= cluster.weight) <= 0) return cluster;
    return kClusters[0];
  }

  // Two throws make the middle of a cluster denser than its rim.
  double scattered(int centre, int scatter) {
    const std::int64_t throws =
        (random_.between(-scatter, scatter) + random_.between(-scatter, scatter)) / 2;
    return double(centre + throws) / 100;
  }

  void add_island(std::string name) {
    const Cluster& cluster = draw_cluster();
    const double latitude = scattered(cluster.latitude, cluster.scatter_latitude);
    const double longitude = scattered(cluster.longitude, cluster.scatter_longitude);
    const IslandId island = map_.islands.next_id();
    map_.islands.push_back({std::move(name), "", cluster.region, Coordinates{latitude, longitude},
                            options_.access, options_.access});
    map_.aggregators.push_back({island, map_.edge, {island}});
    points_.push_back(point_at(*map_.islands.back().coordinates));
  }

  [[nodiscard]] bool is_linked(IslandId a, IslandId b) const {
    return linked_.contains(std::minmax(a, b));
  }

  // The nearest island below `end` that has no link to `from` yet; -1 when there is none.
  [[nodiscard]] IslandId nearest(IslandId from, IslandId end) const {
    IslandId best = -1;
    double least = 5;  // more than any chord squared
    for (IslandId to = 0; to < end; ++to) {
      const double squared = chord_squared(points_[from], points_[to]);
      if (to == from || squared >= least || is_linked(from, to)) continue;
      best = to;
      least = squared;
    }
    return best;
  }

  // The nearest of a few islands in other regions; -1 when all throws miss.
  IslandId far_away(IslandId from) {
    IslandId best = -1;
    double least = 5;
    for (int i = 0; i < kLongHaulTries; ++i) {
      const auto to = IslandId(random_.between(0, map_.island_count() - 1));
      const double squared = chord_squared(points_[from], points_[to]);
      if (map_.islands[to].region == map_.islands[from].region || squared >= least ||
          is_linked(from, to))
        continue;
      best = to;
      least = squared;
    }
    return best;
  }

  void lay_links(IslandId from) {
    const IslandId end = map_.islands.next_id();
    const std::int64_t count = random_.between(3, 5);
    for (std::int64_t k = 0; k < count; ++k) {
      const bool first = k == 0 && from > 0;
      const bool far = !first && random_.between(1, kLongHaulOneIn) == 1;
      IslandId to = far ? far_away(from) : nearest(from, first ? from : end);
      if (to < 0) to = nearest(from, end);
      if (to >= 0) lay_link(from, to);
    }
  }

  void lay_link(IslandId from, IslandId to) {
    constexpr std::array<double, 4> kRates = {10e9, 50e9, 100e9, 100e9};
    const BitsPerSecond rate{kRates[std::size_t(random_.between(0, 3))]};
    const Duration latency = fibre_latency(kilometres(points_[from], points_[to]));
    linked_.insert(std::minmax(from, to));
    map_.links.push_back({{from, to}, {latency, latency}, {rate, rate}});
  }

  const GenerateOptions& options_;
  Random random_;
  Map map_;
  std::vector<Point> points_;
  std::set<std::pair<IslandId, IslandId>> linked_;
};

}  // namespace

Map generate_map(int islands, std::uint64_t seed, const GenerateOptions& options) {
  COTILLION_CHECK(islands >= 1 && islands <= kGeneratedIslandsMax);
  return MapGenerator(islands, seed, options).take();
}

}  // namespace cotillion
