// A lab of three islands with real kernels: one has an edge in line, one is summed for at a router,
// one sums for itself. Skipped where namespaces are not allowed.
#include "lab/world.hpp"

#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "daemon/udp_socket.hpp"
#include "lab/confinement.hpp"
#include "lab/doctor.hpp"
#include "lab/probe.hpp"
#include "lab/scale.hpp"
#include "tests/support/base/sanitized.hpp"
#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

constexpr int kWaitMs = 5000;

PlanFile three_islands() {
  const auto fixture = testing::fixture_of(testing::map_of(R"(
name = "three"
payload = "20MB"
edge = { memory = "1GB", chunk = "1408B", framing = "68B" }
islands = [
  { name = "A", access = "20Gbps" }, { name = "B", access = "20Gbps" },
  { name = "C", access = "20Gbps", edge = false } ]
routers = [ { name = "hub" } ]
links = [
  { ends = ["A", "hub"], latency = "5ms", rate = "50Gbps" },
  { ends = ["hub", "B"], latency = "7ms", rate = "50Gbps" },
  { ends = ["hub", "C"], latency = ["3ms", "4ms"], rate = "50Gbps" } ]
aggregators = [ { at = "hub", serves = ["B"] } ]
)"));
  const auto small = scaled(
      testing::plan_file(
          *fixture,
          Schedule{"three", {completed({{{0, 1, 2}, {}}}, 3), completed({{{0, 1}, {}}}, 3)}}),
      1000);
  COTILLION_CHECK(small.has_value());
  return *small;
}

// Runs a test where a lab may be made. Without privileges, or with `rootless`, in a user namespace.
void in_a_lab(const std::function<void()>& test, bool rootless = false) {
  Confinement confinement = confinement_at_hand();
  confinement.rootless = confinement.rootless || rootless;
  const auto findings = examine(confinement);
  if (!can_run(findings)) GTEST_SKIP() << "no lab can be made here:\n" << findings_text(findings);
  const auto code = confined(confinement, [&] {
    test();
    std::fflush(nullptr);
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  ASSERT_TRUE(code.has_value()) << code.error().message;
  EXPECT_EQ(*code, 0) << "the confined process says what failed";
}

std::unique_ptr<World> world_of(const PlanFile& plan, const WorldSettings& settings = {}) {
  auto world = World::make(plan, settings);
  EXPECT_TRUE(world.has_value()) << (world ? "" : world.error().message);
  return world ? std::move(*world) : nullptr;
}

ProbeSettings short_probe() {
  ProbeSettings settings;
  settings.trains = 2;
  settings.train = {5'000'000'000};
  return settings;
}

void expect_exact_trees() {
  const PlanFile plan = three_islands();
  const auto world = world_of(plan);
  ASSERT_NE(world, nullptr);
  const auto outcome = probe(*world, short_probe());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  for (const std::string& problem : outcome->problems) ADD_FAILURE() << problem;
  EXPECT_EQ(outcome->streams, 5u);
  EXPECT_EQ(outcome->came, outcome->expected);
  EXPECT_GT(outcome->came, 0u);
  ASSERT_EQ(outcome->crossings.size(), std::size_t(plan.map.lane_count()));
  for (const LaneCrossing& crossing : outcome->crossings) {
    EXPECT_EQ(crossing.seen, crossing.expected) << lane_name(plan.map, crossing.lane);
    EXPECT_EQ(crossing.elsewhere, 0u) << lane_name(plan.map, crossing.lane);
  }
  for (const LaneMeasure& link : outcome->links) {
    EXPECT_EQ(link.came, link.sent) << lane_name(plan.map, link.lane);
    // Whatever the machine does meanwhile, nothing is ever early.
    EXPECT_GT(link.delay_ms.median, -0.01) << lane_name(plan.map, link.lane);
  }
}

TEST(World, LetsEachStreamCrossEachLinkOfItsTreeOnce) {
  in_a_lab(expect_exact_trees);
}

TEST(World, DoesSoWithoutPrivileges) {
  in_a_lab(expect_exact_trees, true);
}

// One datagram from one role to another; whether it came.
bool reaches(const World& world, NamespaceRole from, NamespaceRole to, Ipv4Address address) {
  std::optional<UdpSocket> receiver, sender;
  const auto open = [&](NamespaceRole role, std::uint16_t port, std::optional<UdpSocket>& into) {
    const auto visit = world.visit(role);
    if (!visit) return;
    if (auto socket = UdpSocket::open({.bind = {0, port}, .coalesce = false}))
      into.emplace(std::move(*socket));
  };
  open(to, 4000, receiver);
  open(from, 0, sender);
  if (!receiver || !sender) return false;
  const sockaddr_in target = to_sockaddr({address, 4000});
  if (::sendto(sender->fd(), "hello", 5, 0, reinterpret_cast<const sockaddr*>(&target),
               sizeof target) != 5)
    return false;
  pollfd waiting{receiver->fd(), POLLIN, 0};
  return ::poll(&waiting, 1, kWaitMs) == 1;
}

TEST(World, LetsIslandsEdgesAndTheOfficeSpeakToEachOther) {
  in_a_lab([] {
    const PlanFile plan = three_islands();
    const auto world = world_of(plan);
    ASSERT_NE(world, nullptr);
    const NamespaceRole control{NamespaceRole::Kind::kControl, 0};
    for (IslandId island = 0; island < 3; ++island) {
      const NamespaceRole own{NamespaceRole::Kind::kIsland, island},
          edge = listener_of(plan, island);
      EXPECT_TRUE(reaches(*world, own, control, kControlAddress)) << island;
      EXPECT_TRUE(reaches(*world, control, own, world->blueprint().control_address_of(own)))
          << island;
      if (edge == own) continue;
      EXPECT_TRUE(reaches(*world, own, edge, edge_address(island))) << island;
      EXPECT_TRUE(reaches(*world, edge, own, island_address(island))) << island;
    }
  });
}

TEST(World, HasThreadsAndProgramsInItsNamespaces) {
  in_a_lab([] {
    const PlanFile plan = three_islands();
    const auto world = world_of(plan);
    ASSERT_NE(world, nullptr);
    std::thread visitor([&] {
      ASSERT_TRUE(world->enter({NamespaceRole::Kind::kRouter, 3}).has_value());
      EXPECT_NE(::if_nametoindex("link2"), 0u);
      EXPECT_NE(::if_nametoindex("edge"), 0u);
      EXPECT_EQ(::if_nametoindex("net"), 0u);
    });
    visitor.join();
    EXPECT_EQ(::if_nametoindex("link2"), 0u);  // the others are where they were

    std::string path = (std::filesystem::temp_directory_path() / "cotillion-lab-XXXXXX").string();
    const Descriptor file(::mkstemp(path.data()));
    ASSERT_TRUE(file.is_open());
    const auto shell = world->spawn(
        {NamespaceRole::Kind::kIsland, 1},
        {{"/bin/sh", "-c", "echo $MOOD; cat /proc/self/net/dev; exit 5"}, path, {"MOOD=merry"}});
    ASSERT_TRUE(shell.has_value()) << shell.error().message;
    const auto stubborn =
        world->spawn({NamespaceRole::Kind::kEdge, 3},
                     {{"/bin/sh", "-c", "trap '' TERM; echo stubborn; sleep 1000"}, path, {}});
    ASSERT_TRUE(stubborn.has_value()) << stubborn.error().message;
    const auto said = [&] {
      std::ifstream written(path);
      std::stringstream text;
      text << written.rdbuf();
      return text.str();
    };
    while (!world->children().code_of(*shell) || said().find("stubborn") == std::string::npos)
      ::usleep(1000);
    EXPECT_EQ(world->children().code_of(*shell), 5);
    EXPECT_EQ(world->children().code_of(*stubborn), std::nullopt);
    world->children().end({100'000'000'000});
    EXPECT_EQ(world->children().code_of(*stubborn), 128 + SIGKILL);
    EXPECT_EQ(world->children().running(), 0);
    for (const char* word : {"merry", "net:", "control:"})
      EXPECT_NE(said().find(word), std::string::npos) << said();
    EXPECT_EQ(said().find("link2:"), std::string::npos) << said();
    ::unlink(path.c_str());
    const auto nobody =
        world->spawn({NamespaceRole::Kind::kIsland, 0}, {{"/no/such/program"}, "", {}});
    ASSERT_FALSE(nobody.has_value());
    EXPECT_EQ(nobody.error().message, "/no/such/program: No such file or directory");
  });
}

TEST(World, SuffersTheFaultsItIsGiven) {
  in_a_lab([] {
    const PlanFile plan = three_islands();
    WorldSettings settings;
    auto faults = read_faults(
        "[[down]]\non = \"A>hub\"\n[[duplicate]]\non = \"hub>C\"\nrate = 1\n"
        "by = \"1ms\"\n[[corrupt]]\non = \"B\"\nrate = 1\n",
        "f.toml", plan);
    ASSERT_TRUE(faults.has_value());
    settings.faults = std::move(*faults);
    const auto world = world_of(plan, settings);
    ASSERT_NE(world, nullptr);
    ProbeSettings impatient = short_probe();
    impatient.timeout = {200'000'000'000};
    const auto outcome = probe(*world, impatient);
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_FALSE(outcome->problems.empty());
    const auto& lanes = outcome->streams_counters.lanes;
    EXPECT_GT(lanes[0].counts.lost, 0u);
    EXPECT_EQ(lanes[0].counts.lost, lanes[0].counts.packets);
    EXPECT_GT(lanes[4].counts.copied, 0u);
    EXPECT_GT(lanes[lane_up(plan.map, 1)].counts.spoilt, 0u);
    // Trains run before the first round, when nothing goes wrong yet.
    EXPECT_EQ(outcome->links[0].came, outcome->links[0].sent);
  });
}

TEST(Confinement, EndsWithItsCodeAndPassesSignalsOn) {
  in_a_lab([] {});
  if (IsSkipped()) return;
  const Confinement confinement = confinement_at_hand();
  EXPECT_EQ(*confined(confinement, [] { return 42; }), 42);
  EXPECT_EQ(*confined(confinement,
                      [] {
                        // The first of its namespace, and in a network with nothing but loopback.
                        return ::getpid() == 1 && ::if_nametoindex("eth0") == 0 ? 3 : 4;
                      }),
            3);
  if (testing::kThreadSanitized) return;  // no handler runs
  // A helper outside asks the process that waits, once.
  const pid_t self = ::getpid();
  const pid_t helper = ::fork();
  if (helper == 0) {
    ::usleep(200'000);
    ::_exit(::kill(self, SIGTERM));
  }
  EXPECT_EQ(*confined(confinement,
                      [] {
                        for (int i = 0; i < 10'000 && !asked_to_end(); ++i) ::usleep(1000);
                        return asked_to_end() ? 7 : 8;
                      }),
            7);
  ::waitpid(helper, nullptr, 0);
}

}  // namespace
}  // namespace cotillion
