// A whole edge on real sockets and one core, beside a plain recvmmsg + UDP_GRO sink that looks at
// nothing, on the same path and in the same run, taking turns. Two ways. Streamed: the sender has
// the other core and waits when two megabytes are under way, so that nothing is lost; the slower of
// the two sets the pace. Drained: a burst waits in the socket before the reader gets the core, so
// that only the reader counts. Sums leave for an island that never reads them.
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "daemon/edge_host.hpp"
#include "tests/support/base/benchmarks.hpp"
#include "tests/support/daemon/edge_streams.hpp"
#include "tests/support/daemon/loopback_rig.hpp"

namespace cotillion {
namespace {

using testing::EdgePath;
using testing::EdgeSink;
using testing::EdgeStream;
using testing::kContributors;
using testing::kJob;
using testing::kLoopback;
using testing::kReaderCore;
using testing::kSenderCore;
using testing::must;
using testing::pin;
using testing::sealed;
using testing::seconds_on;

// How much is sent. In a smoke run so little is under way that it fits into the buffer of a socket
// that an unprivileged user gets: nothing may be lost.
struct Sizes {
  int rounds = 60;
  std::size_t round_bytes = 24u << 20u;
  std::size_t under_way = 2u << 20u;
};
constexpr Sizes kSmoke{3, 1u << 20u, 64u << 10u};

std::unique_ptr<EdgeHost> host_on(const EdgePath& path, std::uint16_t port, const JobSpec& job,
                                  Endpoint island, Duration spin) {
  AggregationSpec spec;
  spec.job = job;
  spec.slots = 256;
  spec.resend_packets = (std::size_t(64) << 20u) / ResendStore::bytes(1, payload_bytes(job));
  AggregationSeals seals;
  seals.own = sealed();
  for (int i = 0; i < kContributors; ++i) seals.sources.push_back(sealed());
  std::vector<EdgeJob> jobs;
  jobs.push_back({spec, std::move(seals)});
  std::vector<Edge> edges;
  edges.push_back(
      must(Edge::build({.memory = {std::int64_t(footprint(spec).sums)}}, {0}, std::move(jobs))));
  EdgeHostSettings settings;
  settings.clock = RunClock::starting_now();
  settings.interface = path.to;
  for (int i = 0; i < kContributors; ++i)
    settings.groups.push_back({group_address(i, 0), SourceId(i)});
  settings.port = port;
  settings.own = {island.address, 0};
  settings.island = island;
  settings.cores = {kReaderCore};
  settings.spin = spin;
  settings.direct = path.direct;
  settings.receive_buffer = {64 << 20};
  return must(EdgeHost::start(settings, std::move(edges)));
}

struct Measured {
  std::vector<double> ns;  // for each packet, by round

  void add(double seconds, std::size_t packets) { ns.push_back(seconds * 1e9 / double(packets)); }
  [[nodiscard]] double best() const { return *std::min_element(ns.begin(), ns.end()); }
  [[nodiscard]] double median() {
    std::nth_element(ns.begin(), ns.begin() + std::ptrdiff_t(ns.size() / 2), ns.end());
    return ns[ns.size() / 2];
  }
};

// Processor time of the threads that read. True to the nanosecond only while none of them runs.
double readers_seconds() {
  return seconds_on(CLOCK_PROCESS_CPUTIME_ID) - seconds_on(CLOCK_THREAD_CPUTIME_ID);
}

enum class Way { kStreamed, kDrained };

const char* name_of(Way way) {
  return way == Way::kDrained ? "drained" : "streamed";
}

// Before everyone else on that core, where that is allowed: machines are shared. Threads that start
// from here inherit it.
bool run_first(bool first, int core) {
  sched_param priority{};
  priority.sched_priority = first ? 1 : 0;
  pin(core);
  return sched_setscheduler(0, first ? SCHED_FIFO : SCHED_OTHER, &priority) == 0;
}

struct Scene {
  EdgePath path;
  Way way;
  Element element;
  int beats;
};

JobSpec job_of(const Scene& scene, const Sizes& sizes) {
  const std::size_t beats = std::size_t(scene.beats);
  const std::size_t chunks = sizes.round_bytes / kContributors / (beats * kBeatBytes);
  return {.id = kJob,
          .element = scene.element,
          .elements = chunks * beats * kBeatBytes / bytes_of(scene.element),
          .beats = scene.beats};
}

void print_rows(const Scene& scene, std::size_t payload, Measured& sink, Measured& edge) {
  const double bits = 8.0 * double(payload);
  const auto row = [&](const char* what, double sink_ns, double edge_ns) {
    fmt::print("{:>5} {:>9} {:>4} {:>6} {:>7} {:>8.1f} {:>6.0f} {:>8.1f} {:>6.0f} {:>7.2f}\n",
               scene.path.name, name_of(scene.way), name_of(scene.element), payload, what,
               bits / sink_ns, sink_ns, bits / edge_ns, edge_ns, sink_ns / edge_ns);
  };
  row("best", sink.best(), edge.best());
  row("median", sink.median(), edge.median());
  std::fflush(stdout);
}

void open_round(EdgeHost& host, RoundId round) {
  RoundSpec spec = equal_round(round, kContributors + 1, kContributors);
  spec.first_deadline = spec.last_deadline = kNever;
  host.open_round(kJob, spec);
  while (host.reading()[HostCount::kRoundsOpened] != round)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void measure(const Scene& scene, const Sizes& sizes) {
  const auto& [path, way, element, beats] = scene;
  const JobSpec job = job_of(scene, sizes);
  UdpSettings behind;
  behind.bind = {kLoopback, 0};
  behind.receive_buffer = {1 << 16};
  const UdpSocket island = must(UdpSocket::open(behind));
  const std::uint16_t edge_port = testing::free_ports(2);
  const auto sink_port = std::uint16_t(edge_port + 1);
  const Duration spin{way == Way::kStreamed ? 300'000'000 : 0};
  EdgeStream stream(path, job, sizes.under_way);
  (void)run_first(way == Way::kStreamed, kSenderCore);
  const EdgeSink sink(path, sink_port, spin);
  const auto host = host_on(path, edge_port, job, island.local(), spin);
  if (way == Way::kDrained && !run_first(true, kReaderCore)) {
    fmt::print("{:>5} drained: skipped, needs SCHED_FIFO\n", path.name);
    return;
  }
  Measured of_sink, of_edge;
  const auto turn = [&](Measured* into, std::uint16_t port, const auto& packets_read) {
    const std::uint64_t before = packets_read();
    const auto read = [&] { return packets_read() - before; };
    const double busy = readers_seconds(), wall = seconds_on(CLOCK_MONOTONIC);
    stream.send_round(port, read, [&](std::size_t sent) {
      if (scene.way == Way::kDrained)
        while (read() < sent) std::this_thread::sleep_for(std::chrono::microseconds(200));
      else
        while ((sent - read()) * stream.stride() > sizes.under_way) continue;
    });
    into->add(
        scene.way == Way::kDrained ? readers_seconds() - busy : seconds_on(CLOCK_MONOTONIC) - wall,
        stream.packets());
  };
  for (RoundId round = 1; round <= RoundId(sizes.rounds); ++round) {
    stream.seal_round(round);
    open_round(*host, round);
    Measured warming_up;
    const auto sink_turn = [&](Measured* into) {
      turn(into, sink_port, [&] { return sink.packets(); });
    };
    sink_turn(&warming_up);
    if (round % 2 == 0) sink_turn(&of_sink);
    turn(&of_edge, edge_port, [&] { return host->packets_heard(); });
    if (round % 2 == 1) sink_turn(&of_sink);
  }
  host->stop();
  (void)run_first(false, kSenderCore);
  const std::uint64_t sums = std::uint64_t(sizes.rounds) * chunk_count(job);
  if (const EdgeReading reading = host->reading(); reading[EdgeCount::kResults] != sums) {
    fmt::print("{} results of {}: packets were lost\n", reading[EdgeCount::kResults], sums);
    std::exit(1);
  }
  print_rows(scene, payload_bytes(job), of_sink, of_edge);
}

void measure_all(const EdgePath& path, const std::string& only) {
  for (const Way way : {Way::kDrained, Way::kStreamed})
    for (const Element element : {Element::kF32, Element::kI32})
      for (const int beats : {22, 138})
        if ((only.empty() || only == name_of(way)) && !(path.direct && beats > 22))
          measure({path, way, element, beats}, {});
}

// In a network namespace of its own, which ends with the process. Both ends lie in it, so each
// must take packets that come from one of its own addresses. AF_XDP frames end at a page.
int measure_veth(bool direct, const std::string& only) {
  if (unshare(CLONE_NEWNET) != 0) return 1;
  const std::string set_up = fmt::format(
      "ip link set lo up && ip link add cot0 type veth peer name cot1 && "
      "ip link set cot0 mtu {0} up && ip link set cot1 mtu {0} up && "
      "ip address add 10.77.0.1/30 dev cot0 && ip address add 10.77.1.1/30 dev cot1 && "
      "for i in all cot0 cot1; do echo 1 >/proc/sys/net/ipv4/conf/$i/accept_local && "
      "echo 0 >/proc/sys/net/ipv4/conf/$i/rp_filter; done",
      direct ? 1500 : 9000);
  if (std::system(set_up.c_str()) != 0) return 1;
  measure_all({direct ? "xdp" : "veth", 0x0a4d'0001, 0x0a4d'0101, direct}, only);
  return 0;
}

}  // namespace
}  // namespace cotillion

// With a word behind it: "drained" or "streamed" only.
int main(int count, char** words) {
  using namespace cotillion;
  const bool smoke = cotillion::testing::take_smoke(count, words);
  const std::string only = count > 1 ? words[1] : "";
  if (std::thread::hardware_concurrency() < 2) {
    fmt::print("skipped: a sender and an edge need a core each\n");
    return 0;
  }
  fmt::print(
      "Edge on one core, {} contributors, CRC; a plain sink on the same path takes turns with it\n",
      kContributors);
  fmt::print("{:>5} {:>9} {:>4} {:>6} {:>7} {:>8} {:>6} {:>8} {:>6} {:>7}\n", "path", "way", "",
             "bytes", "", "sink Gb", "ns", "edge Gb", "ns", "ratio");
  std::fflush(stdout);
  if (smoke) {
    for (const Way way : {Way::kDrained, Way::kStreamed})
      measure({{"lo", kLoopback, kLoopback}, way, Element::kF32, 22}, kSmoke);
    return 0;
  }
  for (const bool direct : {false, true}) {
    const pid_t child = fork();
    if (child == 0) {
      const int done = measure_veth(direct, only);
      std::fflush(stdout);
      _exit(done);
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    if (status != 0) fmt::print("{}: skipped, needs root and ip(8)\n", direct ? "xdp" : "veth");
    std::fflush(stdout);
  }
  measure_all({"lo", kLoopback, kLoopback}, only);
  return 0;
}
