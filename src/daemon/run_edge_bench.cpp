// A whole edge on real sockets and one core, beside a plain recvmmsg + UDP_GRO sink that looks at
// nothing, on the same path and in the same run, taking turns. Two ways. Streamed: the sender has
// the other core and waits when two megabytes are under way, so that nothing is lost; the slower of
// the two sets the pace. Drained: a burst waits in the socket before the reader gets the core, so
// that only the reader counts. Sums leave for an island that never reads them.
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netinet/udp.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "daemon/edge_host.hpp"
#include "daemon/receive_batch.hpp"

namespace cotillion {
namespace {

constexpr int kContributors = 4;
constexpr JobId kJob = 3;
constexpr Ipv4Address kLoopback = 0x7f00'0001;
constexpr std::size_t kUnderWay = 2u << 20u;
constexpr int kSenderCore = 0, kReaderCore = 1;
constexpr int kRounds = 60;

double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

void pin(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(unsigned(core), &cores);
  (void)sched_setaffinity(0, sizeof cores, &cores);
}

template <class Value>
Value must(Result<Value> result) {
  if (!result) {
    fmt::print("{}\n", result.error().message);
    std::exit(1);
  }
  return std::move(*result);
}

struct Path {
  const char* name;
  Ipv4Address from, to;  // interfaces, by address
  bool direct = false;   // AF_XDP
};

// Reads and forgets.
class Sink {
 public:
  Sink(const Path& path, std::uint16_t port, Duration spin) : spin_(spin) {
    UdpSettings settings;
    settings.bind.port = port;
    settings.interface = path.to;
    settings.receive_buffer = {64 << 20};
    socket_.emplace(must(UdpSocket::open(settings)));
    for (int i = 0; i < kContributors; ++i) (void)must(socket_->join(group_address(i, 0)));
    thread_ = std::thread([this] { run(); });
  }
  ~Sink() {
    stopping_ = true;
    thread_.join();
  }
  [[nodiscard]] std::uint64_t packets() const { return packets_.load(std::memory_order_relaxed); }

 private:
  void run() {
    pin(kReaderCore);
    ReceiveBatch batch(16);
    std::uint64_t packets = 0;
    double heard_at = 0;
    while (!stopping_) {
      const int came = batch.receive(*socket_);
      if (came > 0) heard_at = seconds_on(CLOCK_MONOTONIC);
      for (int i = 0; i < came; ++i)
        packets += (batch[i].bytes.size() + batch[i].segment - 1) / batch[i].segment;
      packets_.store(packets, std::memory_order_relaxed);
      pollfd watched{socket_->fd(), POLLIN, 0};
      if (came == 0 && seconds_on(CLOCK_MONOTONIC) - heard_at > RealDuration(spin_).seconds())
        (void)poll(&watched, 1, 20);
    }
  }

  Duration spin_;
  std::optional<UdpSocket> socket_;
  std::atomic<std::uint64_t> packets_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

Seal sealed() {
  Seal seal;
  seal.set_boot(7);
  return seal;
}

// One round of everybody's packets, in pieces that the kernel carries whole.
class Stream {
 public:
  Stream(const Path& path, const JobSpec& job) : job_(job) {
    UdpSettings settings;
    settings.bind.address = path.from;
    settings.interface = path.from;
    settings.loop = path.from == path.to;
    settings.send_buffer = {16 << 20};
    socket_.emplace(must(UdpSocket::open(settings)));
    stride_ = packet_bytes(payload_bytes(job));
    bytes_.resize(stride_ * chunk_count(job) * kContributors);
    for (std::size_t i = 0; i < bytes_.size() / 4; ++i) {
      const float value = float(i % 1000) * 0.001f;
      std::memcpy(bytes_.data() + i * 4, &value, 4);
    }
  }

  [[nodiscard]] std::size_t packets() const { return chunk_count(job_) * kContributors; }

  void seal_round(RoundId round) {
    for (int source = 0; source < kContributors; ++source)
      for (ChunkId chunk = 0; chunk < chunk_count(job_); ++chunk) {
        Header header;
        header.set_type(PacketType::kData);
        header.job = job_.id;
        header.round = round;
        header.chunk = chunk;
        header.sequence = round * chunk_count(job_) + chunk;
        header.mask = ContributorMask(1) << unsigned(source);
        header.weight = 1;
        header.flags = job_.element == Element::kI32 ? flag::kGrid : 0;
        header.set_content(job_.element, Operation::kSum, 0);
        const ByteSpan packet(at(source, chunk), stride_);
        write_header(header, packet);
        seal_.close(packet);
      }
  }

  // `read` says how many packets have been read since the round began; `wait` is called when as
  // much is under way as may be, and lets the reader work.
  template <class Read, class Wait>
  void send_round(std::uint16_t port, Read read, Wait wait) {
    const std::size_t run = 64'000 / stride_;
    std::size_t sent = 0;
    for (ChunkId chunk = 0; chunk < chunk_count(job_); chunk += ChunkId(run))
      for (int source = 0; source < kContributors; ++source) {
        const std::size_t count = std::min<std::size_t>(run, chunk_count(job_) - chunk);
        if ((sent - read()) * stride_ > kUnderWay) wait(sent);
        send(port, source, chunk, count);
        sent += count;
      }
    while (read() < sent) wait(sent);
  }
  [[nodiscard]] std::size_t stride() const { return stride_; }

 private:
  std::byte* at(int source, ChunkId chunk) {
    return &bytes_[(std::size_t(source) * chunk_count(job_) + chunk) * stride_];
  }
  void send(std::uint16_t port, int source, ChunkId chunk, std::size_t count) {
    sockaddr_in name = to_sockaddr({group_address(source, 0), port});
    iovec piece{at(source, chunk), count * stride_};
    alignas(8) std::array<std::byte, CMSG_SPACE(2)> control{};
    msghdr message{};
    message.msg_name = &name;
    message.msg_namelen = sizeof name;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = IPPROTO_UDP;
    part->cmsg_type = UDP_SEGMENT;
    part->cmsg_len = CMSG_LEN(2);
    const auto segment = std::uint16_t(stride_);
    std::memcpy(CMSG_DATA(part), &segment, 2);
    while (sendmsg(socket_->fd(), &message, 0) < 0) {
      if (errno != EAGAIN && errno != ENOBUFS) {
        fmt::print("sending: {}\n", std::strerror(errno));
        std::exit(1);
      }
    }
  }

  JobSpec job_;
  std::optional<UdpSocket> socket_;
  std::size_t stride_ = 0;
  std::vector<std::byte> bytes_;
  Seal seal_ = sealed();
};

std::unique_ptr<EdgeHost> host_on(const Path& path, std::uint16_t port, const JobSpec& job,
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
  for (int i = 0; i < kContributors; ++i) settings.groups.push_back({group_address(i, 0), i});
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

void measure(const Path& path, Way way, Element element, int beats) {
  const std::size_t chunks = (std::size_t(24) << 20u) / kContributors / std::size_t(beats * 64);
  const JobSpec job{.id = kJob,
                    .element = element,
                    .elements = chunks * std::size_t(beats) * kBeatBytes / bytes_of(element),
                    .beats = beats};
  UdpSettings behind;
  behind.bind = {kLoopback, 0};
  behind.receive_buffer = {1 << 16};
  const UdpSocket island = must(UdpSocket::open(behind));
  constexpr std::uint16_t kEdgePort = kUdpPort, kSinkPort = kUdpPort + 100;
  const Duration spin{way == Way::kStreamed ? 300'000'000 : 0};
  Stream stream(path, job);
  (void)run_first(way == Way::kStreamed, kSenderCore);
  const Sink sink(path, kSinkPort, spin);
  const auto host = host_on(path, kEdgePort, job, island.local(), spin);
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
      if (way == Way::kDrained)
        while (read() < sent) std::this_thread::sleep_for(std::chrono::microseconds(200));
      else
        while ((sent - read()) * stream.stride() > kUnderWay) continue;
    });
    into->add(way == Way::kDrained ? readers_seconds() - busy : seconds_on(CLOCK_MONOTONIC) - wall,
              stream.packets());
  };
  for (RoundId round = 1; round <= RoundId(kRounds); ++round) {
    stream.seal_round(round);
    RoundSpec spec = equal_round(round, kContributors + 1, kContributors);
    spec.first_deadline = spec.last_deadline = kNever;
    host->open_round(kJob, spec);
    while (host->reading()[HostCount::kRoundsOpened] != round)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    Measured warming_up;
    const auto sink_turn = [&](Measured* into) {
      turn(into, kSinkPort, [&] { return sink.packets(); });
    };
    sink_turn(&warming_up);
    if (round % 2 == 0) sink_turn(&of_sink);
    turn(&of_edge, kEdgePort, [&] { return host->packets_heard(); });
    if (round % 2 == 1) sink_turn(&of_sink);
  }
  host->stop();
  (void)run_first(false, kSenderCore);
  const EdgeReading reading = host->reading();
  if (reading[EdgeCount::kResults] != std::uint64_t(kRounds) * chunks) {
    fmt::print("{} results of {}: packets were lost\n", reading[EdgeCount::kResults],
               std::uint64_t(kRounds) * chunks);
    std::exit(1);
  }
  const double bits = 8.0 * double(payload_bytes(job));
  const auto row = [&](const char* what, double sink_ns, double edge_ns) {
    fmt::print("{:>5} {:>9} {:>4} {:>6} {:>7} {:>8.1f} {:>6.0f} {:>8.1f} {:>6.0f} {:>7.2f}\n",
               path.name, name_of(way), name_of(element), payload_bytes(job), what, bits / sink_ns,
               sink_ns, bits / edge_ns, edge_ns, sink_ns / edge_ns);
  };
  row("best", of_sink.best(), of_edge.best());
  row("median", of_sink.median(), of_edge.median());
  std::fflush(stdout);
}

void measure_all(const Path& path, const std::string& only) {
  for (const Way way : {Way::kDrained, Way::kStreamed})
    for (const Element element : {Element::kF32, Element::kI32})
      for (const int beats : {22, 138})
        if ((only.empty() || only == name_of(way)) && !(path.direct && beats > 22))
          measure(path, way, element, beats);
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
