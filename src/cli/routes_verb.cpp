#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/fingerprint.hpp"
#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "cli/interrupt.hpp"
#include "cli/routes_hold.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "daemon/multicast_router.hpp"
#include "plan/file/plan_loader.hpp"
#include "report/routes_report.hpp"

namespace cotillion::cli {
namespace {

constexpr int kWakeMs = 500;
constexpr std::size_t kStraysSaid = 32;

struct RoutesOptions {
  std::string plan;
  std::string at;
  std::vector<std::string> interfaces;
  std::string island, edge;
  std::vector<std::string> sources;
  std::string lock;
  std::string format = "groups";
  bool json = false;
};

// A plan with its groups, which are pointed into.
struct Routed {
  PlanFile plan;
  MulticastGroups groups;
  std::vector<Ipv4Address> sources;
  Provenance made_by;

  [[nodiscard]] RoutesStudy study() const { return {plan, groups, sources}; }
};

std::pair<std::string, std::string> pair_of(const std::string& text, const char* option) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Stop{kUsedWrongly, fmt::format("{} {}: two names and '=' between them are expected",
                                         option, shown(text))};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::unique_ptr<Routed> load_routed(const RoutesOptions& options) {
  LoadedPlan loaded = load_plan(options.plan);
  auto groups = groups_of(loaded.plan.plan);
  if (!groups) throw Stop{kAnswerIsNo, options.plan + ": " + groups.error().message};
  auto routed = std::make_unique<Routed>(
      Routed{std::move(loaded.plan), std::move(*groups), {}, provenance()});
  routed->made_by.inputs.emplace_back("plan", loaded.fingerprint);
  const Map& map = routed->plan.map;
  for (IslandId island = 0; island < map.island_count(); ++island)
    routed->sources.push_back(island_address(island));
  for (const std::string& source : options.sources) {
    const auto [name, number] = pair_of(source, "--source");
    in_addr address{};
    if (::inet_pton(AF_INET, number.c_str(), &address) != 1 || is_group(ntohl(address.s_addr)))
      throw Stop{kUsedWrongly, fmt::format("--source {}: '{}' is no IPv4 address of a host", name,
                                           shown(number))};
    routed->sources[std::size_t(island_named(map, name, "--source"))] = ntohl(address.s_addr);
  }
  std::set<Ipv4Address> different(routed->sources.begin(), routed->sources.end());
  if (different.size() < routed->sources.size())
    throw Stop{kUsedWrongly, "--source: two islands send from the same address"};
  return routed;
}

void print_made(const Routed& routed, const Json& content) {
  Json json = to_json(routed.made_by);
  json.update(content);
  print_json(json);
}

PlaceId place_of(const Map& map, const std::string& name) {
  if (const auto place = find_place(map, name)) return *place;
  std::vector<std::string> names;
  for (PlaceId place = 0; place < map.place_count(); ++place)
    names.push_back(place_name(map, place));
  throw Stop{
      kUsedWrongly,
      fmt::format("--at {}: no such place in the plan; {}", shown(name),
                  did_you_mean(name, names, fmt::format("known: {}", fmt::join(names, ", "))))};
}

Wiring wiring_of(const RoutesOptions& options, const Routed& routed, PlaceId place) {
  const Map& map = routed.plan.map;
  Wiring wiring;
  wiring.sources = routed.sources;
  for (const std::string& given : options.interfaces) {
    const auto [name, interface] = pair_of(given, "--interface");
    std::vector<std::string> names;
    for (const Port& port : link_ports(map, place)) {
      names.push_back(port_name(map, place, port));
      if (names.back() == name) wiring.interfaces[port] = interface;
    }
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Stop{kUsedWrongly,
                 fmt::format("--interface {}: {} is no neighbour of {}; those are {}", shown(given),
                             shown(name), options.at, fmt::join(names, ", "))};
  }
  if (!options.island.empty()) wiring.interfaces[{Port::Kind::kIsland}] = options.island;
  const std::string& edge = options.edge.empty() ? options.island : options.edge;
  if (!edge.empty()) wiring.interfaces[{Port::Kind::kEdge}] = edge;
  return wiring;
}

void show_routes(const RoutesOptions& options) {
  const auto routed = load_routed(options);
  if (!options.at.empty()) {
    const PlaceId place = place_of(routed->plan.map, options.at);
    if (options.json)
      print_made(*routed, routes_json(routed->study(), place));
    else
      print(routes_text(routed->study(), place));
    return;
  }
  if (options.json) return print_made(*routed, groups_json(routed->study()));
  for (PlaceId place = 0; place < routed->plan.map.place_count(); ++place)
    print((place > 0 ? "\n" : "") + routes_text(routed->study(), place));
}

void export_groups(const RoutesOptions& options) {
  const auto routed = load_routed(options);
  if (options.json)
    print_made(*routed, groups_json(routed->study()));
  else if (options.format == "frr-pim")
    print(frr_memberships(routed->study()));
  else if (options.format == "frr-static")
    print(frr_static_routes(routed->study()));
  else
    print(groups_text(routed->study()));
}

std::string lock_of(const RoutesOptions& options) {
  return options.lock.empty() ? RoutesHold::default_path(options.at) : options.lock;
}

// What the routes have seen, when they are about to go.
std::string farewell(const MulticastRouter& router, const std::vector<KernelRoute>& routes) {
  RouteCounts all;
  for (const KernelRoute& route : routes)
    if (const auto counts = router.counts(route)) {
      all.packets += counts->packets;
      all.bytes += counts->bytes;
      all.wrong_interface += counts->wrong_interface;
    }
  return fmt::format("{} packets arrived, {} bytes, {} of them on a wrong interface", all.packets,
                     all.bytes, all.wrong_interface);
}

void install_routes(const RoutesOptions& options) {
  const auto routed = load_routed(options);
  const Map& map = routed->plan.map;
  const PlaceId place = place_of(map, options.at);
  const auto entries = routes_at(routed->plan, routed->groups, place);
  const auto routes = kernel_routes(map, place, entries, wiring_of(options, *routed, place));
  if (!routes)
    throw Stop{kUsedWrongly, routes.error().message +
                                 "; give --interface NEIGHBOUR=IFNAME, --island IFNAME, --edge "
                                 "IFNAME"};
  const Interrupt interrupt;
  const RoutesHold hold(lock_of(options));
  auto router = MulticastRouter::open();
  if (!router) throw Stop{kSystemError, router.error().message};
  if (const auto set = router->set(*routes); !set)
    throw Stop{kSystemError, set.error().message + "; nothing is installed"};
  for (const std::string& obstacle : obstacles(*routes))
    fmt::print(stderr, "warning: {}\n", obstacle);
  print(
      fmt::format("{} installed at {}; they stay until this process ends (Ctrl-C, SIGTERM or "
                  "`cotillion routes remove`)\n",
                  counted(routes->size(), "route"), options.at));
  std::set<Stray> said;
  while (!interrupt.asked()) {
    pollfd notices{router->descriptor(), POLLIN, 0};
    if (::poll(&notices, 1, kWakeMs) <= 0) continue;
    for (const Stray& stray : router->strays())
      if (said.size() < kStraysSaid && said.insert(stray).second)
        fmt::print(stderr, "warning: no route for what {} sends to {}, seen on {}{}\n",
                   cotillion::to_text(stray.source), cotillion::to_text(stray.group),
                   stray.interface,
                   said.size() == kStraysSaid ? "; more of them will not be told" : "");
  }
  print(fmt::format("{}\n{} removed from {}\n", farewell(*router, *routes),
                    counted(routes->size(), "route"), options.at));
}

void remove(const RoutesOptions& options) {
  const auto routed = load_routed(options);
  static_cast<void>(place_of(routed->plan.map, options.at));
  const auto ended = RoutesHold::end_holder(lock_of(options));
  if (ended)
    print(fmt::format("process {} has ended, and the kernel has forgotten its routes\n", *ended));
  else
    print(
        fmt::format("nobody holds routes of {}: the kernel forgets them with the process that "
                    "installed them\n",
                    options.at));
}

// The verbs below `routes`, which share options.
class RoutesVerbs {
 public:
  RoutesVerbs(CLI::App& routes, Outcome& outcome) : routes_(routes), outcome_(outcome) {}

  void add_show() {
    CLI::App* verb =
        add("show", "Print where each stream comes from and goes, router by router.", show_routes);
    verb->add_option("--at", options_->at, "Show this place only");
    add_sources(*verb);
    verb->add_flag("--json", options_->json, "Print one JSON object instead of text");
  }
  void add_install() {
    CLI::App* verb = add("install",
                         "Give this machine's kernel the routes of a place, until Ctrl-C or "
                         "SIGTERM.",
                         install_routes);
    add_lock(*verb);
    verb->add_option("--interface", options_->interfaces,
                     "Interface that leads to a neighbour, as HKG=eth1; once for each")
        ->allow_extra_args(false);
    verb->add_option("--island", options_->island, "Interface to the island at this place");
    verb->add_option("--edge", options_->edge,
                     "Interface to the edge at this place (default: that of the island, with the "
                     "edge in line)");
    add_sources(*verb);
  }
  void add_remove() {
    add_lock(
        *add("remove", "End the `routes install` of a place, and with it its routes.", remove));
  }
  void add_export() {
    CLI::App* verb =
        add("export", "Print groups, sources and receivers, for networks that build trees by PIM.",
            export_groups);
    verb->add_option(
            "--format", options_->format,
            "groups (default): a table; frr-pim: memberships for FRR; frr-static: the plan's trees "
            "as FRR's static routes")
        ->check(CLI::IsMember({"groups", "frr-pim", "frr-static"}));
    add_sources(*verb);
    verb->add_flag("--json", options_->json, "Print one JSON object with every router's entries");
  }

 private:
  CLI::App* add(const char* name, const char* help, void (*run)(const RoutesOptions&)) {
    CLI::App* verb = routes_.add_subcommand(name, help);
    verb->add_option("PLAN", options_->plan, "A plan, as `cotillion plan -o` writes it")
        ->required();
    verb->callback([options = options_, &outcome = outcome_, run] {
      run(*options);
      outcome.code = kDone;
    });
    return verb;
  }
  void add_sources(CLI::App& verb) {
    verb.add_option(
            "--source", options_->sources,
            "Address from which an island sends, as TYO=192.0.2.1; may be repeated (default: "
            "10.0.x.y, by its number)")
        ->allow_extra_args(false);
  }
  void add_lock(CLI::App& verb) {
    verb.add_option("--at", options_->at, "Place of the map at which this router is")->required();
    verb.add_option("--lock", options_->lock,
                    "File that is locked while routes are installed (default: "
                    "/run/cotillion-routes-PLACE.lock)");
  }

  CLI::App& routes_;
  Outcome& outcome_;
  std::shared_ptr<RoutesOptions> options_ = std::make_shared<RoutesOptions>();
};

}  // namespace

void add_routes(CLI::App& app, Outcome& outcome) {
  CLI::App* routes = app.add_subcommand(
      "routes", "Show, install, remove or export the multicast routes of a plan's trees.");
  routes->require_subcommand(1);
  RoutesVerbs verbs(*routes, outcome);
  verbs.add_show();
  verbs.add_install();
  verbs.add_remove();
  verbs.add_export();
}

}  // namespace cotillion::cli
