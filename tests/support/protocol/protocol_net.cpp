#include "tests/support/protocol/protocol_net.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/check.hpp"
#include "tests/support/protocol/paper_edge.hpp"

namespace cotillion::testing {
namespace {

// Every object seals under a name of its own.
enum class Role : std::uint32_t { kSender = 0, kReceiver = 1000, kEdge = 2000 };

}  // namespace

struct ProtocolNet::Island final : FragmentSource, ReceiverEvents, Outbox {
  Island(ProtocolNet& in, int number) : net(in), self(number) {}

  ProtocolNet& net;
  int self;
  std::vector<float> x;
  std::unique_ptr<Snapshots> snapshots;
  std::unique_ptr<Merge> merge;
  std::unique_ptr<Sender> sender;
  std::unique_ptr<Receiver> receiver;
  std::unique_ptr<Edge> edge;
  std::unique_ptr<PaperEdge> paper_edge;  // both or neither
  std::unique_ptr<PaperIsland> paper_island;
  std::vector<int> clique;  // of the stream that is being sent
  std::vector<RoundSpec> open;
  std::vector<Account> accounts;
  BootId edge_boot = 1;
  Instant woken = kNever;

  void snapshot(RoundId round, std::uint64_t first, std::span<float> values) override {
    if (net.on_snapshot) net.on_snapshot(self, round, first, values.size());
    std::copy_n(x.begin() + std::ptrdiff_t(first), values.size(), values.begin());
    merge->to_sent(first, values);
  }
  void fragment_ready(RoundId round, int fragment) override {
    if (net.before_merge) net.before_merge(self, round, fragment);
    receiver->merge(round, fragment, elements(fragment));
  }
  void late_ready(RoundId round, int fragment) override {
    receiver->merge_late(round, fragment, elements(fragment));
  }
  void round_closed(RoundId round, std::span<const Absence> absences) override {
    accounts.push_back({round, net.now_, {absences.begin(), absences.end()}});
  }
  std::span<float> elements(int fragment) {
    const JobSpec& job = snapshots->job();
    const std::uint64_t first = first_element(job, first_chunk(job, fragment));
    const std::uint64_t last =
        std::min<std::uint64_t>(job.elements, first_element(job, first_chunk(job, fragment + 1)));
    return std::span(x).subspan(first, last - first);
  }

  void send(Towards towards, ByteView packet) override {
    const Duration hop = net.settings_.last_hop;
    switch (towards) {
      case Towards::kGroup:
        for (const int to : clique)
          if (to != self)
            net.carry(Hop::kToEdge, self, to, net.settings_.latency(self, to), packet,
                      [this, to](const std::vector<std::byte>& bytes) {
                        Island& other = *net.islands_[std::size_t(to)];
                        net.reach_edge(other, SourceId(self), bytes);
                        net.wake(to);
                      });
        break;
      case Towards::kIsland:
        if (net.on_output && carries_sum(read_header(packet)->type())) net.on_output(self, packet);
        net.carry(Hop::kToIsland, self, self, hop, packet,
                  [this](const std::vector<std::byte>& bytes) {
                    if (paper_island)
                      paper_island->on_packet(net.now_, bytes, *this);
                    else
                      receiver->on_packet(net.now_, bytes, *this, *this);
                    net.wake(self);
                  });
        break;
      case Towards::kOwnEdge:
        net.carry(Hop::kFromIsland, self, self, hop, packet,
                  [this](const std::vector<std::byte>& bytes) {
                    net.reach_edge(*this, kOwnIsland, bytes);
                    net.wake(self);
                  });
        break;
    }
  }
};

namespace {

Seal seal_for(const NetSettings& settings, Role role, int island, BootId boot) {
  const auto name = SourceName(std::uint32_t(role) + std::uint32_t(island));
  Key secret{};
  secret[0] = std::uint8_t(name);
  secret[1] = std::uint8_t(name >> 8u);
  Seal seal = settings.authenticated ? Seal(secret, settings.job.id, name) : Seal();
  seal.set_boot(boot);
  return seal;
}

}  // namespace

ProtocolNet::ProtocolNet(NetSettings settings) : settings_(std::move(settings)) {
  if (!settings_.latency)
    settings_.latency = [](int from, int to) {
      return Duration{10'000'000'000 + 1'000'000'000 * std::int64_t(std::abs(from - to))};
    };
  if (settings_.weights.empty()) settings_.weights.assign(std::size_t(settings_.islands), 1);
  if (settings_.gaps.round_trip == GapSettings{}.round_trip)
    settings_.gaps.round_trip = settings_.last_hop + settings_.last_hop;
  for (int i = 0; i < settings_.islands; ++i) {
    auto island = std::make_unique<Island>(*this, i);
    island->x.resize(settings_.job.elements);
    island->snapshots = std::make_unique<Snapshots>(settings_.job, Grid(settings_.exponent), 2);
    island->merge = std::make_unique<Merge>(settings_.job, settings_.merge);
    SenderSettings sending;
    sending.exchange = settings_.exchange;
    sending.heartbeat = {10'000'000'000};
    island->sender = std::make_unique<Sender>(sending, *island->snapshots, *island,
                                              seal_for(settings_, Role::kSender, i, 1));
    ReceiverSettings receiving;
    receiving.exchange = settings_.exchange;
    receiving.gaps = settings_.gaps;
    receiving.islands = settings_.islands;
    receiving.heartbeat = {10'000'000'000};
    island->receiver = std::make_unique<Receiver>(receiving, *island->snapshots, *island->merge,
                                                  seal_for(settings_, Role::kReceiver, i, 1),
                                                  seal_for(settings_, Role::kEdge, i, 0));
    island->edge = make_edge(i);
    if (settings_.paper) {
      island->paper_edge = std::make_unique<PaperEdge>(settings_.job, *settings_.paper);
      island->paper_island = std::make_unique<PaperIsland>(settings_.job, *settings_.paper);
    }
    islands_.push_back(std::move(island));
  }
}

ProtocolNet::~ProtocolNet() = default;

std::unique_ptr<Edge> ProtocolNet::make_edge(int island) {
  AggregationSpec spec;
  spec.job = settings_.job;
  spec.grid = Grid(settings_.exponent);
  spec.slots = settings_.slots;
  spec.resend_packets = settings_.resend_packets;
  spec.linger = {0};
  spec.heartbeat = {10'000'000'000};
  const BootId boot =
      islands_.size() > std::size_t(island) ? ++islands_[island]->edge_boot : BootId(1);
  AggregationSeals seals{seal_for(settings_, Role::kEdge, island, boot),
                         seal_for(settings_, Role::kReceiver, island, 0),
                         {}};
  for (int j = 0; j < settings_.islands; ++j)
    seals.sources.push_back(seal_for(settings_, Role::kSender, j, 0));
  std::vector<EdgeJob> jobs;
  jobs.push_back({spec, std::move(seals)});
  const Bytes memory{std::int64_t(footprint(spec).sums)};
  auto built = Edge::build({.memory = memory}, {0}, std::move(jobs));
  COTILLION_CHECK(built.has_value());
  return std::make_unique<Edge>(std::move(*built));
}

void ProtocolNet::restart_edge(int island) {
  Island& self = *islands_[island];
  self.edge = make_edge(island);
  for (const RoundSpec& spec : self.open)
    COTILLION_CHECK(self.edge->open_round(now_, settings_.job.id, spec, self).has_value());
  wake(island);
}

void ProtocolNet::at(Instant when, std::function<void()> then) {
  events_.push({std::max(when, now_), order_++, std::move(then)});
}

void ProtocolNet::wake(int island) {
  Island& self = *islands_[island];
  const bool paper = self.paper_edge != nullptr;
  const Instant when =
      std::min({self.sender->next_deadline(),
                paper ? self.paper_island->next_deadline() : self.receiver->next_deadline(),
                paper ? self.paper_edge->next_deadline() : self.edge->next_deadline()});
  if (when == kNever || when >= self.woken) return;
  self.woken = when;
  at(when, [this, island, when] {
    Island& woken = *islands_[island];
    if (woken.woken == when) woken.woken = kNever;
    if (woken.paper_edge) {
      woken.paper_edge->on_time(now_, woken);
      woken.paper_island->on_time(now_, woken);
      woken.sender->on_time(now_, woken);
    } else {
      woken.edge->on_time(now_, woken);
      woken.receiver->on_time(now_, woken, woken);  // a merge comes before the next copy
      woken.sender->on_time(now_, woken);
      woken.receiver->on_time(now_, woken, woken);  // which may have waited for that copy
    }
    wake(island);
  });
}

void ProtocolNet::carry(Hop hop, int from, int to, Duration flight, ByteView packet,
                        std::function<void(std::vector<std::byte>)> arrive) {
  std::vector<std::byte> bytes(packet.begin(), packet.end());
  const Copies copies = settings_.wire ? settings_.wire(hop, from, to, bytes) : Copies{{0}};
  for (const Duration extra : copies) at(now_ + flight + extra, [arrive, bytes] { arrive(bytes); });
}

void ProtocolNet::deliver_to_edge(Instant when, int edge, SourceId source,
                                  std::vector<std::byte> packet) {
  at(when, [this, edge, source, packet = std::move(packet)] {
    Island& self = *islands_[std::size_t(edge)];
    reach_edge(self, source, packet);
    wake(edge);
  });
}

void ProtocolNet::reach_edge(Island& self, SourceId source, const std::vector<std::byte>& packet) {
  if (self.paper_edge)
    self.paper_edge->on_packet(now_, packet, self);
  else
    self.edge->on_packet(now_, source, packet, self);
}

void ProtocolNet::open_paper_round(int island, RoundId round, std::uint32_t expected, Instant end) {
  Island& self = *islands_[island];
  self.paper_edge->open_round(expected);
  self.paper_island->open_round(expected);
  if (expected == 0) return;  // sits out
  at(end, [this, &self, island, round] {
    if (before_merge) before_merge(island, round, 0);
    const JobSpec& job = settings_.job;
    std::vector<double> mean(elements_per_chunk(job));
    for (ChunkId chunk = 0; chunk < chunk_count(job); ++chunk) {
      const auto here = std::span(mean).first(elements_in(job, chunk));
      average(island, round, chunk, here);
      for (std::size_t i = 0; i < here.size(); ++i)
        self.x[first_element(job, chunk) + i] = float(here[i]);
    }
  });
}

void ProtocolNet::open_round(RoundId round, const std::vector<std::vector<int>>& cliques,
                             Instant start, Instant end) {
  const JobSpec& job = settings_.job;
  const auto wire = Bytes{std::int64_t(payload_bytes(job))};
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    const auto& members = cliques[c];
    std::uint32_t weight_sum = 0;
    for (const int m : members) weight_sum += settings_.weights[std::size_t(m)];
    for (std::size_t own = 0; own < members.size(); ++own) {
      const int i = members[own];
      Island& self = *islands_[std::size_t(i)];
      RoundSpec spec = equal_round(round, int(members.size()), int(own));
      spec.clique = int(c);
      Duration latest{0};
      for (std::size_t bit = 0; bit < members.size(); ++bit) {
        spec.source[bit] = SourceId(members[bit]);
        spec.weight[bit] = settings_.weights[std::size_t(members[bit])];
        if (bit != own) latest = std::max(latest, settings_.latency(members[bit], i));
      }
      const double chunk_ps = transfer_time(wire, settings_.rate).ps;
      const auto span = Duration{std::int64_t(chunk_ps * double(chunk_count(job) - 1))};
      spec.first_deadline = start + latest + settings_.slack;
      spec.last_deadline = spec.first_deadline + span;
      at(start, [this, &self, i, spec, members, round, start, end, own, c, weight_sum] {
        self.open.push_back(spec);
        if (self.open.size() > 2) self.open.erase(self.open.begin());
        const bool whole = settings_.exchange == Exchange::kWhole;
        if (settings_.paper) {
          open_paper_round(i, round, std::uint32_t(members.size() - 1), end);
        } else {
          COTILLION_CHECK(self.edge->open_round(now_, settings_.job.id, spec, self).has_value());
          const ReceiverRound mine{spec, whole ? end : start, settings_.slack};
          COTILLION_CHECK(self.receiver->open_round(now_, mine, self, self).has_value());
        }
        self.clique = members;
        StreamSpec stream{
            round,      0,     int(c), int(own),      settings_.weights[std::size_t(i)],
            weight_sum, start, {0},    settings_.rate};
        if (members.size() > 1) self.sender->open_round(stream);
        wake(i);
      });
    }
  }
}

void ProtocolNet::run_until(Instant when) {
  while (!events_.empty() && events_.top().when <= when) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.when;
    event.then();
  }
  now_ = when;
}

std::vector<float>& ProtocolNet::model(int island) {
  return islands_[island]->x;
}
Edge& ProtocolNet::edge(int island) {
  return *islands_[island]->edge;
}
const EdgeCounters& ProtocolNet::edge_counters(int island) const {
  return islands_[island]->edge->job(settings_.job.id)->counters();
}
Receiver& ProtocolNet::receiver(int island) {
  return *islands_[island]->receiver;
}
const Sender& ProtocolNet::sender(int island) const {
  return *islands_[island]->sender;
}
const PaperEdge& ProtocolNet::paper_edge(int island) const {
  return *islands_[island]->paper_edge;
}
const PaperIsland& ProtocolNet::paper_island(int island) const {
  return *islands_[island]->paper_island;
}
void ProtocolNet::average(int island, RoundId round, ChunkId chunk, std::span<double> values) {
  Island& self = *islands_[island];
  if (self.paper_island)
    self.paper_island->average(chunk, self.snapshots->chunk(round, chunk), values);
  else
    self.receiver->average(round, chunk, values);
}
Seal ProtocolNet::sender_seal(int island) const {
  return seal_for(settings_, Role::kSender, island, 1);
}
const std::vector<ProtocolNet::Account>& ProtocolNet::accounts(int island) const {
  return islands_[island]->accounts;
}

}  // namespace cotillion::testing
