#include "cli/verb_guide.hpp"

#include <array>
#include <string>

#include "base/check.hpp"

namespace cotillion::cli {
namespace {

struct Guided {
  const char* verb;
  const char* group;  // nothing for a verb below another
  const char* examples;
};

constexpr const char* kNetwork = "Describe your network";
constexpr const char* kSchedule = "Decide who meets whom, and when";
constexpr const char* kTry = "Try the plan before you build it";
constexpr const char* kShow = "Show what came out";
constexpr const char* kSites = "Run the plan at your sites";

constexpr std::array kGuide{
    Guided{"topology", kNetwork,
           "cotillion topology check examples/nine-cities.toml\n"
           "cotillion topology show examples/nine-cities.toml --svg map.svg"},
    Guided{"topology check", "", "cotillion topology check examples/nine-cities.toml"},
    Guided{"topology show", "",
           "cotillion topology show examples/nine-cities.toml\n"
           "cotillion topology show examples/nine-cities.toml --tree TYO --to LON,NYC"},
    Guided{"topology import", "",
           "cotillion topology import links.csv --payload 1GB --access 20Gbps -o map.toml\n"
           "doublezero link list --json >links.json; "
           "cotillion topology import links.json -o map.toml"},
    Guided{"topology generate", "", "cotillion topology generate --islands 40 -o map.toml"},
    Guided{"plan", kSchedule,
           "cotillion plan examples/nine-cities.toml --memory 0B -o plan.json\n"
           "cotillion plan examples/nine-cities.toml --schedule triangles"},
    Guided{"whatif", kSchedule,
           "cotillion whatif examples/nine-cities.toml --without TYO-FRA\n"
           "cotillion whatif examples/nine-cities.toml --access HKG=40Gbps"},
    Guided{"compare", kSchedule, "cotillion compare examples/nine-cities.toml --memory 32GB"},
    Guided{"sweep", kSchedule, "cotillion sweep examples/nine-cities.toml --memory 0B..1GB"},
    Guided{"simulate", kTry,
           "cotillion simulate plan.json -o outcome.json\n"
           "cotillion simulate plan.json --faults examples/faults/rough-links.toml"},
    Guided{"lab", kTry,
           "cotillion lab doctor\n"
           "cotillion lab plan.json --probe\n"
           "cotillion lab plan.json -o outcome.json"},
    Guided{"lab doctor", "", "cotillion lab doctor"},
    Guided{"train", kTry,
           "cotillion train plan.json --steps 200\n"
           "cotillion train plan.json --policy plan:fragments=8 --policy diloco --figures pages"},
    Guided{"report", kShow,
           "cotillion report examples/nine-cities.toml -o pages\n"
           "cotillion report outcome.json -o pages"},
    Guided{"routes", kSites,
           "cotillion routes show plan.json --at TYO\n"
           "cotillion routes export plan.json --format frr-pim"},
    Guided{"routes show", "", "cotillion routes show plan.json --at TYO"},
    Guided{"routes install", "",
           "cotillion routes install plan.json --at TYO --interface HKG=eth1 --island eth0"},
    Guided{"routes remove", "", "cotillion routes remove plan.json --at TYO"},
    Guided{"routes export", "", "cotillion routes export plan.json --format frr-pim"},
    Guided{"coordinator", kSites,
           "cotillion coordinator plan.json --listen 192.0.2.1:29800 -o outcome.json"},
    Guided{"edge", kSites,
           "cotillion edge --island TYO --coordinator 192.0.2.1:29800 --listen 192.0.2.7"},
    Guided{"island", kSites,
           "cotillion island --island TYO --coordinator 192.0.2.1:29800 --listen 192.0.2.8"},
    Guided{"clock", kSites, "cotillion clock"},
};

const Guided* guided(const std::string& verb) {
  for (const Guided& entry : kGuide)
    if (verb == entry.verb) return &entry;
  return nullptr;
}

void give_examples(CLI::App& verb, const std::string& path) {
  const Guided* const entry = guided(path);
  COTILLION_CHECK(entry != nullptr);  // whoever adds a verb adds its example above
  verb.footer(entry->examples);
  if (entry->group[0] == '\0') verb.group("Verbs");
  for (CLI::App* below : verb.get_subcommands([](CLI::App*) { return true; }))
    give_examples(*below, path + " " + below->get_name());
}

}  // namespace

void guide(CLI::App& app) {
  for (const Guided& entry : kGuide)
    if (*entry.group != '\0') app.get_subcommand(entry.verb)->group(entry.group);
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; }))
    give_examples(*verb, verb->get_name());
}

}  // namespace cotillion::cli
