#include "topology/imported_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "topology/import_names.hpp"
#include "topology/map_check.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

// As many as read_map takes.
constexpr std::size_t kNotesMax = 40;  // of one kind; a hostile file makes thousands

// A place of the map to come: one foreign place, or all devices of a metro.
struct Site {
  std::string label;  // what the name is made of
  std::vector<std::string> devices;
  std::optional<Coordinates> coordinates;
};

std::string link_text(const ImportedLink& link) {
  return fmt::format("{:g} ms at {}", link.latency.ms(), to_text(link.rate));
}

class MapMaker {
 public:
  MapMaker(ImportedNetwork network, const ImportOptions& options, Problems& problems)
      : network_(std::move(network)), options_(options), problems_(problems) {}

  std::optional<Imported> make() {
    notes_ = std::move(network_.notes);
    find_sites();
    join_links();
    keep_largest_part();
    check_counts();
    if (!problems_.empty()) return std::nullopt;
    name_places();
    add_links();
    if (!problems_.empty()) return std::nullopt;
    return Imported{std::move(map_), std::move(notes_)};
  }

 private:
  // Notes of one kind, cut where nobody reads on.
  void add_notes(const std::vector<std::string>& notes) {
    const std::size_t count = std::min(notes.size(), kNotesMax);
    notes_.insert(notes_.end(), notes.begin(), notes.begin() + std::ptrdiff_t(count));
    if (notes.size() > count)
      notes_.push_back(fmt::format("and {} more like that", notes.size() - count));
  }

  void find_sites() {
    std::map<std::string, int> metros;
    for (const ImportedPlace& place : network_.places) {
      int site = int(sites_.size());
      const std::string label = options_.merge_metros ? metro_of(place.label) : place.label;
      if (options_.merge_metros) site = metros.emplace(label, site).first->second;
      if (site == int(sites_.size())) sites_.push_back({label, {}, place.coordinates});
      sites_[site].devices.push_back(place.label);
      site_of_.push_back(site);
    }
    std::vector<std::string> merged;
    for (Site& site : sites_) std::sort(site.devices.begin(), site.devices.end());
    for (const Site& site : sites_)
      if (site.devices.size() > 1)
        merged.push_back(fmt::format("{} = {}", shown(site.label),
                                     shown(fmt::format("{}", fmt::join(site.devices, " + ")))));
    if (!merged.empty())
      notes_.push_back(fmt::format("{} merged into {}: {}",
                                   counted(network_.places.size(), "device"),
                                   counted(sites_.size(), "metro"), listed(merged)));
  }

  // Links by pair of sites, in the order of the file; each pair once.
  void join_links() {
    std::map<std::pair<int, int>, std::size_t> known;
    std::vector<std::vector<ImportedLink>> parallel;
    std::vector<std::string> inside;
    std::size_t loops = 0;
    for (ImportedLink link : network_.links) {
      const bool loop = link.ends[0] == link.ends[1];
      const std::string ends = fmt::format("{}–{}", shown(network_.places[link.ends[0]].label),
                                           shown(network_.places[link.ends[1]].label));
      for (int& end : link.ends) end = site_of_[end];
      if (link.ends[0] == link.ends[1]) {
        if (loop)
          ++loops;
        else
          inside.push_back(ends);
        continue;
      }
      const auto [at, fresh] =
          known.emplace(std::minmax(link.ends[0], link.ends[1]), parallel.size());
      if (fresh) parallel.emplace_back();
      parallel[at->second].push_back(link);
    }
    if (loops > 0)
      notes_.push_back(fmt::format("{} from a place to itself left out", counted(loops, "link")));
    if (!inside.empty())
      notes_.push_back(fmt::format("{} inside a metro left out, taken as free: {}",
                                   counted(inside.size(), "link"), listed(inside)));
    std::vector<std::string> notes;
    for (const auto& links : parallel) links_.push_back(joined(links, notes));
    add_notes(notes);
  }

  // One link for all between two sites: the fastest, because routes are latency-shortest and
  // would use no other. Fibres of one latency share the load, so their rates add up.
  ImportedLink joined(const std::vector<ImportedLink>& links, std::vector<std::string>& notes) {
    ImportedLink kept = *std::min_element(
        links.begin(), links.end(), [](const ImportedLink& a, const ImportedLink& b) {
          return std::pair(a.latency, -a.rate.value) < std::pair(b.latency, -b.rate.value);
        });
    if (links.size() == 1) return kept;
    std::size_t equals = 0;
    double sum = 0;
    std::vector<std::string> others;
    for (const ImportedLink& link : links) {
      if (link.latency == kept.latency) {
        ++equals;
        sum += link.rate.value;
      } else {
        others.push_back(link_text(link));
      }
    }
    std::string note = fmt::format("{}–{}: {} parallel links", shown(sites_[kept.ends[0]].label),
                                   shown(sites_[kept.ends[1]].label), links.size());
    if (equals > 1 && network_.parallel_rates_add) {
      kept.rate.value = sum;
      note += fmt::format("; the rates of {} with the lowest latency added up", equals);
      if (sum > kImportedRateMax)
        problems_.add(kept.at, "rate", fmt::format("absurd rate of {:g} bit/s in all", sum),
                      "check the rates of the parallel links");
    } else if (equals > 1) {
      note += fmt::format("; {} of the lowest latency counted once", equals);
    }
    note += "; kept " + link_text(kept);
    if (!others.empty()) note += ", left out " + listed(others);
    notes.push_back(std::move(note));
    return kept;
  }

  [[nodiscard]] bool is_chosen(const Site& site) const {
    const auto named = [&](const std::string& text) {
      return std::find(options_.islands.begin(), options_.islands.end(), text) !=
             options_.islands.end();
    };
    return options_.islands.empty() || named(site.label) ||
           std::any_of(site.devices.begin(), site.devices.end(), named);
  }

  // A map is connected; of several parts the one with most islands stays, the first of equals.
  void keep_largest_part() {
    std::vector<int> part(sites_.size());
    std::iota(part.begin(), part.end(), 0);
    const auto root = [&](int site) {
      while (part[site] != site) site = part[site] = part[part[site]];
      return site;
    };
    for (const ImportedLink& link : links_) {
      const int a = root(link.ends[0]);
      const int b = root(link.ends[1]);
      part[std::max(a, b)] = std::min(a, b);
    }
    std::vector<std::pair<int, int>> sizes(sites_.size());  // islands, then places
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      sizes[root(int(s))].first += is_chosen(sites_[s]) ? 1 : 0;
      sizes[root(int(s))].second += 1;
    }
    const int largest = int(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    std::vector<std::string> left_out;
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      kept_.push_back(root(int(s)) == largest);
      if (!kept_[s]) left_out.push_back(shown(sites_[s].label));
    }
    if (!left_out.empty())
      notes_.push_back(fmt::format("{} not connected to the largest part left out: {}",
                                   counted(left_out.size(), "place"), listed(left_out)));
  }

  void check_counts() {
    const auto places = std::size_t(std::count(kept_.begin(), kept_.end(), true));
    if (places == 0 && problems_.empty())
      problems_.add({}, "", "no places in the file", "give a file that names places and links");
    if (places > kPlacesMax)
      problems_.add({}, "", fmt::format("{} places", places),
                    fmt::format("Cotillion plans for at most {}", kPlacesMax));
    if (links_.size() > kLinksMax)
      problems_.add({}, "", fmt::format("{} links", links_.size()),
                    fmt::format("Cotillion plans for at most {}", kLinksMax));
  }

  // Islands first, then routers: that is how a map numbers its places.
  void name_places() {
    ImportNames names;
    std::vector<std::string> name_of(sites_.size());
    for (std::size_t s = 0; s < sites_.size(); ++s)
      if (kept_[s]) name_of[s] = names.name_for(sites_[s].label);
    place_of_.assign(sites_.size(), -1);
    map_.edge.memory = options_.memory;
    std::vector<bool> island(sites_.size());
    std::vector<std::string> renamed;
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      if (!kept_[s]) continue;
      const Site& site = sites_[s];
      if (name_of[s] != site.label)
        renamed.push_back(fmt::format("{} is '{}'", name_of[s], shown(site.label)));
      // Of places with one label each has a name of its own, which also chooses it.
      island[s] = is_chosen(site) || std::find(options_.islands.begin(), options_.islands.end(),
                                               name_of[s]) != options_.islands.end();
      if (!island[s]) continue;
      std::string label = plain_label(fmt::format("{}", fmt::join(site.devices, ", ")));
      if (label == name_of[s]) label.clear();
      const IslandId id = map_.islands.next_id();
      place_of_[s] = id;
      map_.aggregators.push_back({id, map_.edge, {id}});
      map_.islands.push_back(
          {name_of[s], std::move(label), "", site.coordinates, options_.access, options_.access});
    }
    for (std::size_t s = 0; s < sites_.size(); ++s)
      if (kept_[s] && !island[s]) {
        place_of_[s] = PlaceId(map_.place_count());
        map_.routers.push_back({name_of[s], sites_[s].coordinates});
      }
    if (!renamed.empty())
      notes_.push_back(
          fmt::format("{} renamed: {}", counted(renamed.size(), "place"), listed(renamed)));
    check_chosen(name_of);
  }

  // Every island that was asked for must be there.
  void check_chosen(const std::vector<std::string>& name_of) {
    for (const std::string& wanted : options_.islands) {
      bool found = false, cut_off = false;
      std::vector<std::string> candidates;
      for (std::size_t s = 0; s < sites_.size(); ++s) {
        const Site& site = sites_[s];
        const bool same =
            wanted == site.label || wanted == name_of[s] ||
            std::find(site.devices.begin(), site.devices.end(), wanted) != site.devices.end();
        found = found || (same && kept_[s]);
        cut_off = cut_off || same;
        candidates.push_back(site.label);
      }
      if (found) continue;
      const char* choose = "choose islands among the places of the file";
      if (cut_off || problems_.full()) candidates.clear();
      problems_.add({}, "islands",
                    cut_off ? fmt::format("'{}' has no links to the largest part", shown(wanted))
                            : fmt::format("unknown place '{}'", shown(wanted)),
                    did_you_mean(wanted, candidates, choose));
    }
  }

  void add_links() {
    map_.name = plain_label(options_.name.empty() ? network_.name : options_.name);
    map_.source = plain_label(options_.source);
    map_.payload = options_.payload;
    std::vector<Position> lines;
    for (const ImportedLink& link : links_) {
      if (!kept_[link.ends[0]]) continue;
      map_.links.push_back({{place_of_[link.ends[0]], place_of_[link.ends[1]]},
                            {link.latency, link.latency},
                            {link.rate, link.rate}});
      lines.push_back(link.at);
    }
    check_light(map_, lines, problems_);
    if (problems_.empty()) check_size(map_, problems_);
  }

  ImportedNetwork network_;
  const ImportOptions& options_;
  Problems& problems_;
  std::vector<std::string> notes_;
  std::vector<Site> sites_;
  std::vector<int> site_of_;
  std::vector<ImportedLink> links_;
  std::vector<bool> kept_;
  std::vector<PlaceId> place_of_;
  Map map_;
};

}  // namespace

std::optional<Imported> make_imported_map(ImportedNetwork network, const ImportOptions& options,
                                          Problems& problems) {
  return MapMaker(std::move(network), options, problems).make();
}

}  // namespace cotillion
