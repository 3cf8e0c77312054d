#include "report/map_drawing_layout.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "plan/named_schedule.hpp"

namespace cotillion {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kStretchMost = 2.4;    // of height over true proportion
constexpr double kDegreesLeast = 0.02;  // the span of a map of one city
constexpr double kWork = 3e7;           // pairs looked at, in all iterations together

int iterations(std::size_t places, int most) {
  const double pairs = double(places) * double(places);
  return std::clamp(int(kWork / std::max(1.0, pairs)), 4, most);
}

// Sines may differ in their last bit between machines; the picture must not.
double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

double degrees_east(double longitude, double of) {
  const double east = std::fmod(longitude - of, 360);
  return east < 0 ? east + 360 : east;
}

const std::optional<Coordinates>& coordinates_of(const Map& map, PlaceId place) {
  const int islands = map.island_count();
  return place < islands ? map.islands[IslandId(int(place))].coordinates
                         : map.routers[place - islands].coordinates;
}

bool has_coordinates(const Map& map) {
  std::size_t known = 0;
  for (const Island& island : map.islands) known += island.coordinates ? 1 : 0;
  return known > 0 && 2 * known >= map.islands.size();
}

// Places without coordinates stand amid their neighbours; those that have none, in the middle.
void fill_in(const Map& map, std::vector<std::optional<Point>>& at) {
  Point middle;
  double known = 0;
  for (const auto& point : at)
    if (point) {
      middle = {middle.x + point->x, middle.y + point->y};
      ++known;
    }
  if (known > 0) middle = {middle.x / known, middle.y / known};
  for (int pass = 0; pass < 8; ++pass) {
    std::vector<Point> sum(at.size());
    std::vector<double> count(at.size(), 0);
    for (const Link& link : map.links)
      for (const int end : {0, 1})
        if (const auto& from = at[link.ends[end]]) {
          Point& to = sum[link.ends[1 - end]];
          to = {to.x + from->x, to.y + from->y};
          ++count[link.ends[1 - end]];
        }
    for (std::size_t i = 0; i < at.size(); ++i)
      if (!at[i] && count[i] > 0) at[i] = Point{sum[i].x / count[i], sum[i].y / count[i]};
  }
  for (auto& point : at)
    if (!point) point = middle;
}

struct Extent {
  double least_x = 0, most_x = 0, least_y = 0, most_y = 0;
};

Extent extent_of(const std::vector<Point>& points) {
  Extent extent{points[0].x, points[0].x, points[0].y, points[0].y};
  for (const Point& point : points) {
    extent.least_x = std::min(extent.least_x, point.x);
    extent.most_x = std::max(extent.most_x, point.x);
    extent.least_y = std::min(extent.least_y, point.y);
    extent.most_y = std::max(extent.most_y, point.y);
  }
  return extent;
}

// Moves and scales points into the frame and its middle.
void fit(std::vector<Point>& points, const Box& frame, double scale_x, double scale_y) {
  const Extent extent = extent_of(points);
  const double middle_x = (extent.least_x + extent.most_x) / 2;
  const double middle_y = (extent.least_y + extent.most_y) / 2;
  for (Point& point : points)
    point = {frame.centre().x + (point.x - middle_x) * scale_x,
             frame.centre().y + (point.y - middle_y) * scale_y};
}

MapLayout geographic_layout(const Map& map, const Box& frame) {
  std::vector<double> longitudes;
  std::vector<std::pair<double, double>> links;
  for (PlaceId place = 0; place < map.place_count(); ++place)
    if (const auto& known = coordinates_of(map, place)) longitudes.push_back(known->longitude);
  for (const Link& link : map.links) {
    const auto &a = coordinates_of(map, link.ends[0]), &b = coordinates_of(map, link.ends[1]);
    if (a && b) links.emplace_back(a->longitude, b->longitude);
  }
  const double cut = best_cut(longitudes, links);
  std::vector<std::optional<Point>> found(map.place_count());
  for (PlaceId place = 0; place < map.place_count(); ++place)
    if (const auto& known = coordinates_of(map, place))
      found[place] = Point{degrees_east(known->longitude, cut), -known->latitude};
  fill_in(map, found);

  MapLayout layout;
  layout.geographic = true;
  for (const auto& point : found) layout.places.push_back(*point);
  for (const Link& link : map.links)
    layout.around.push_back(
        std::fabs(layout.places[link.ends[0]].x - layout.places[link.ends[1]].x) > 180);
  const Extent extent = extent_of(layout.places);
  const double wide = std::max(extent.most_x - extent.least_x, kDegreesLeast);
  const double tall = std::max(extent.most_y - extent.least_y, kDegreesLeast);
  // A degree of longitude is as long as the cosine of its latitude.
  const double shrink =
      std::max(0.2, rounded(std::cos((extent.least_y + extent.most_y) / 2 * kPi / 180)));
  const double scale = std::min(frame.width / (wide * shrink), kStretchMost * frame.height / tall);
  const double scale_x = std::min(scale * shrink, frame.width / wide);
  const double scale_y = std::min(kStretchMost * scale, frame.height / tall);
  fit(layout.places, frame, scale_x, scale_y);
  layout.turn = 360 * scale_x;
  return layout;
}

// One sweep of stress majorisation after another: each place moves to where the others, each at
// the distance its latency asks for, would have it on average; near ones are heard more.
void follow_latencies(const Map& map, const Routes& routes, std::vector<Point>& at) {
  const std::size_t islands = map.islands.size(), places = at.size();
  std::vector<double> wanted(islands * places);  // routes start at islands only
  for (std::size_t j = 0; j < islands; ++j)
    for (std::size_t i = 0; i < places; ++i)
      wanted[j * places + i] = std::max(0.05, routes.latency(PlaceId(i), PlaceId(j)).ms());
  const int sweeps = iterations(places, 150);
  std::vector<Point> next(places);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t i = 0; i < places; ++i) {
      double weight = 0;
      Point sum;
      for (std::size_t j = 0; j < islands; ++j) {
        if (i == j) continue;
        const double distance = wanted[j * places + i];
        const Point gap{at[i].x - at[j].x, at[i].y - at[j].y};
        const double length = std::max(std::sqrt(gap.x * gap.x + gap.y * gap.y), 1e-9);
        const double w = 1 / (distance * distance);
        sum.x += w * (at[j].x + distance * gap.x / length);
        sum.y += w * (at[j].y + distance * gap.y / length);
        weight += w;
      }
      next[i] = weight > 0 ? Point{sum.x / weight, sum.y / weight} : at[i];
    }
    at = next;
  }
}

MapLayout latency_layout(const Map& map, const Routes& routes, const Box& frame) {
  MapLayout layout;
  layout.around.assign(map.links.size(), false);
  std::vector<std::optional<Point>> found(map.place_count());
  const std::vector<IslandId> line = line_of_islands(map, routes);
  double farthest = 1;
  for (const IslandId island : line)
    farthest = std::max(farthest, routes.latency(island, line[0]).ms());
  // On a circle at first, neighbours beside each other, so that the sweeps start untangled.
  for (std::size_t k = 0; k < line.size(); ++k) {
    const double angle = 2 * kPi * double(k) / double(line.size());
    found[line[k]] =
        Point{rounded(std::cos(angle)) * farthest / 2, rounded(std::sin(angle)) * farthest / 2};
  }
  fill_in(map, found);
  for (const auto& point : found) layout.places.push_back(*point);
  follow_latencies(map, routes, layout.places);
  const Extent extent = extent_of(layout.places);
  const double wide = std::max(extent.most_x - extent.least_x, 1e-6);
  const double tall = std::max(extent.most_y - extent.least_y, 1e-6);
  fit(layout.places, frame, frame.width / wide, frame.height / tall);
  return layout;
}

// Pushes pairs that are too close apart, while a weak spring pulls each place home; in the end
// only the pushing.
void spread(std::vector<Point>& at, const Box& frame, double apart) {
  const std::vector<Point> home = at;
  const int sweeps = iterations(at.size(), 400);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::size_t j = i + 1; j < at.size(); ++j) {
        Point gap{at[j].x - at[i].x, at[j].y - at[i].y};
        double length = std::sqrt(gap.x * gap.x + gap.y * gap.y);
        if (length >= apart) continue;
        if (length < 1e-6) {  // on one spot: any direction will do, but always the same
          gap = {double((i * 7 + j * 3) % 11) - 5, double((i * 5 + j * 13) % 9) - 4.5};
          length = std::sqrt(gap.x * gap.x + gap.y * gap.y);
        }
        const double push = (apart - std::min(length, apart)) / 2 / length + 1e-3;
        at[i] = {at[i].x - gap.x * push, at[i].y - gap.y * push};
        at[j] = {at[j].x + gap.x * push, at[j].y + gap.y * push};
      }
    const double pull = 3 * sweep < 2 * sweeps ? 0.02 : 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      at[i].x = std::clamp(at[i].x + pull * (home[i].x - at[i].x), frame.x, frame.right());
      at[i].y = std::clamp(at[i].y + pull * (home[i].y - at[i].y), frame.y, frame.bottom());
    }
  }
}

}  // namespace

double best_cut(const std::vector<double>& longitudes,
                const std::vector<std::pair<double, double>>& links) {
  std::vector<double> sorted;
  for (const double longitude : longitudes) sorted.push_back(degrees_east(longitude, -180));
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (sorted.empty()) return -180;
  // Gap k lies east of place k; a single place has one gap all the way round. A link adds one to
  // each gap of its short way.
  const std::size_t gaps = sorted.size();
  std::vector<int> step(gaps + 1, 0);
  const auto index = [&](double longitude) {
    return std::size_t(
        std::lower_bound(sorted.begin(), sorted.end(), degrees_east(longitude, -180)) -
        sorted.begin());
  };
  const auto add = [&](std::size_t first, std::size_t last) {  // gaps first … last−1
    ++step[first];
    --step[last];
  };
  for (const auto& [a, b] : links) {
    const std::size_t low = std::min(index(a), index(b)), high = std::max(index(a), index(b));
    if (sorted[high] - sorted[low] <= 180) {
      add(low, high);
    } else {
      add(0, low);
      add(high, gaps);
    }
  }
  std::size_t best = 0;
  int best_crossed = 0, crossed = 0;
  double best_width = -1;
  for (std::size_t k = 0; k < gaps; ++k) {
    crossed += step[k];
    const double width = k + 1 < gaps ? sorted[k + 1] - sorted[k] : sorted[0] + 360 - sorted[k];
    if (best_width < 0 || crossed < best_crossed ||
        (crossed == best_crossed && width > best_width)) {
      best = k;
      best_crossed = crossed;
      best_width = width;
    }
  }
  return sorted[best] - 180 + best_width / 2;
}

MapLayout lay_out_map(const Map& map, const Routes& routes, const Box& frame, double apart) {
  if (map.place_count() == 0) return {};
  MapLayout layout =
      has_coordinates(map) ? geographic_layout(map, frame) : latency_layout(map, routes, frame);
  spread(layout.places, frame, apart);
  return layout;
}

}  // namespace cotillion
