#include "tests/support/protocol/paper_edge.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "base/random.hpp"
#include "protocol/request.hpp"

namespace cotillion::testing {
namespace {

double wire_value(const std::byte* payload, Element element, std::size_t i) {
  COTILLION_CHECK(element != Element::kBf16);
  Little32 word;
  std::memcpy(&word, payload + i * sizeof word, sizeof word);
  if (element == Element::kF32) return std::bit_cast<float>(std::uint32_t(word));
  return std::int32_t(std::uint32_t(word));
}

}  // namespace

PaperEdge::PaperEdge(const JobSpec& job, const PaperSettings& settings)
    : job_(job),
      settings_(settings),
      accumulator_(accumulator(job.element)),
      stride_(whole_lines(slot_bytes(job))),
      slots_(settings.slots),
      sums_(settings.slots * stride_) {}

std::size_t PaperEdge::index_of(ChunkId weight_id) const {
  return std::size_t((settings_.hashed ? Random(weight_id).next() : weight_id) % slots_.size());
}

void PaperEdge::on_packet(Instant now, ByteView packet, Outbox& out) {
  on_time(now, out);
  const auto header = read_header(packet);
  if (!header) return;
  if (header->type() == PacketType::kNak) return resend(*header, payload_of(packet), out);
  if (carries_sum(header->type())) accumulate(now, *header, payload_of(packet), out);
}

void PaperEdge::accumulate(Instant now, const Header& header, ByteView payload, Outbox& out) {
  if (header.chunk >= chunk_count(job_)) return;
  const std::size_t bytes = payload_bytes(job_, header.chunk);
  if (!payload.empty() && payload.size() != bytes) return;
  const std::size_t index = index_of(header.chunk);
  Slot& slot = slots_[index];
  if (slot.count != 0 && slot.weight_id != header.chunk) {
    ++conflicts_;
    forward(now, index, out);
  }
  const bool first = slot.count == 0;
  if (first) {
    slot = {header.chunk, 0, ++openings_, header.job, bytes};
    timers_.push_back({now + settings_.timeout, index, slot.opening});
    std::memset(sums_.at(index * stride_), 0, stride_);
  }
  if (!payload.empty())
    (first ? accumulator_.write : accumulator_.add)(sums_.at(index * stride_), payload.data(),
                                                    bytes / bytes_of(job_.element), 1);
  if (++slot.count < expected_) return;
  ++completions_;
  forward(now, index, out);
}

void PaperEdge::forward(Instant now, std::size_t index, Outbox& out) {
  Slot& slot = slots_[index];
  Header header;
  header.set_type(slot.count == expected_ ? PacketType::kResult : PacketType::kPartial);
  header.job = slot.job;
  header.chunk = slot.weight_id;
  header.sequence = sequence_++;
  header.weight = slot.count;
  header.set_content(job_.element, job_.operation, 0);
  Copy copy{header.sequence, now, std::vector<std::byte>(packet_bytes(slot.bytes))};
  write_header(header, copy.packet);
  accumulator_.emit(payload_of(ByteSpan(copy.packet)).data(), sums_.at(index * stride_),
                    slot.bytes / bytes_of(job_.element));
  slot.count = 0;
  out.send(Towards::kIsland, copy.packet);
  copies_.push_back(std::move(copy));
}

void PaperEdge::resend(const Header& header, ByteView payload, Outbox& out) {
  for_each_requested(header, payload, [&](std::uint32_t sequence) {
    for (const Copy& copy : copies_)
      if (copy.sequence == sequence) out.send(Towards::kIsland, copy.packet);
  });
}

void PaperEdge::on_time(Instant now, Outbox& out) {
  for (; !timers_.empty() && timers_.front().at <= now; timers_.pop_front()) {
    const Timer timer = timers_.front();
    const Slot& slot = slots_[timer.slot];
    if (slot.count == 0 || slot.opening != timer.opening) continue;
    ++timeouts_;
    forward(now, timer.slot, out);
  }
  while (!copies_.empty() && now - copies_.front().sent > settings_.resend) copies_.pop_front();
}

Instant PaperEdge::next_deadline() const {
  return timers_.empty() ? kNever : timers_.front().at;
}

PaperIsland::PaperIsland(const JobSpec& job, const PaperSettings& settings)
    : job_(job), settings_(settings), sums_(job.elements), counts_(chunk_count(job)) {}

// Whatever comes from now on belongs to this round: a packet does not say.
void PaperIsland::open_round(std::uint32_t expected) {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  std::fill(counts_.begin(), counts_.end(), 0u);
  expected_ = expected;
  incomplete_ = chunk_count(job_);
  whole_at_ = kNever;
}

void PaperIsland::on_packet(Instant now, ByteView packet, Outbox& out) {
  on_time(now, out);
  const auto header = read_header(packet);
  if (!header || !carries_sum(header->type())) return;
  const std::uint32_t sequence = header->sequence;
  for (; next_ < sequence; ++next_) missing_.insert(next_);
  next_ = std::max(next_, sequence + 1);
  missing_.erase(sequence);
  if (asking_ && asked_ == sequence) asking_ = false;

  const ChunkId chunk = header->chunk;
  const std::size_t first = first_element(job_, chunk);
  for (std::size_t i = 0; i < elements_in(job_, chunk); ++i)
    sums_[first + i] += wire_value(payload_of(packet).data(), job_.element, i);
  const bool was_whole = counts_[chunk] >= expected_;
  counts_[chunk] += header->weight;
  if (!was_whole && counts_[chunk] >= expected_ && --incomplete_ == 0) whole_at_ = now;
  ask(now, out);
}

void PaperIsland::ask(Instant now, Outbox& out) {
  if (asking_ || missing_.empty()) return;
  asking_ = true;
  asked_ = *missing_.begin();
  RequestWriter request(1);
  (void)request.add(asked_);
  Header header;
  header.set_type(PacketType::kNak);
  header.job = job_.id;
  out.send(Towards::kOwnEdge, request.packet(header));
  ask_again_at_ = settings_.ask_again.ps == 0 ? kNever : now + settings_.ask_again;
}

void PaperIsland::on_time(Instant now, Outbox& out) {
  if (ask_again_at_ > now) return;
  ask_again_at_ = kNever;
  asking_ = false;
  ask(now, out);
}

void PaperIsland::average(ChunkId chunk, ByteView own, std::span<double> values) const {
  const std::size_t first = first_element(job_, chunk);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (wire_value(own.data(), job_.element, i) + sums_[first + i]) /
                (1.0 + double(counts_[chunk]));
}

Trial::Trial(Rule rule, NetSettings settings, const PaperSettings& paper)
    : value([](int island, RoundId round, std::uint64_t element) {
        Random random(std::uint64_t(island) << 56u | std::uint64_t(round) << 32u | element);
        return float(random.between(-999, 999));
      }),
      net([&] {
        if (rule == Rule::kPaper) settings.paper = paper;
        return settings;
      }()),
      rule_(rule),
      job_(settings.job) {
  net.on_snapshot = [this](int island, RoundId round, std::uint64_t first, std::size_t count) {
    for (std::uint64_t e = first; e < first + count; ++e)
      net.model(island)[e] = value(island, round, e);
  };
  net.before_merge = [this](int island, RoundId round, int fragment) {
    COTILLION_CHECK(job_.fragments == 1 && fragment == 0);
    auto& verdicts = verdicts_[{island, round}];
    auto& averages = averages_[{island, round}];
    averages.resize(job_.elements);
    for (ChunkId chunk = 0; chunk < chunk_count(job_); ++chunk) {
      const auto here =
          std::span(averages).subspan(first_element(job_, chunk), elements_in(job_, chunk));
      net.average(island, round, chunk, here);
      verdicts.push_back(judge(island, round, chunk, here));
    }
  };
}

void Trial::open_round(RoundId round, const std::vector<std::vector<int>>& cliques, Instant start,
                       Instant end) {
  for (const auto& clique : cliques)
    for (const int island : clique) cliques_[{island, round}] = clique;
  net.open_round(round, cliques, start, end);
}

double Trial::mean(RoundId round, const std::vector<int>& who, std::uint64_t element) const {
  double sum = 0;
  for (const int island : who) sum += double(value(island, round, element));
  return sum / double(who.size());
}

Trial::Verdict Trial::judge(int island, RoundId round, ChunkId chunk,
                            std::span<const double> average) {
  const auto is_mean_of = [&](const std::vector<int>& who) {
    for (std::size_t i = 0; i < average.size(); ++i)
      if (average[i] != mean(round, who, first_element(job_, chunk) + i)) return false;
    return true;
  };
  const std::vector<int>& clique = cliques_.at({island, round});
  if (is_mean_of(clique)) return Verdict::kWhole;
  if (rule_ == Rule::kPaper) return Verdict::kWrong;
  const ContributorMask named = net.receiver(island).contributors(round)[chunk];
  std::vector<int> who;
  for (std::size_t bit = 0; bit < clique.size(); ++bit)
    if (clique[bit] == island || (named >> bit & 1) != 0) who.push_back(clique[bit]);
  return is_mean_of(who) ? Verdict::kReported : Verdict::kWrong;
}

std::size_t Trial::count(Verdict verdict) const {
  std::size_t found = 0;
  for (const auto& [where, verdicts] : verdicts_)
    found += std::size_t(std::count(verdicts.begin(), verdicts.end(), verdict));
  return found;
}

std::size_t Trial::count(Verdict verdict, int island, RoundId round) const {
  const auto found = verdicts_.find({island, round});
  if (found == verdicts_.end()) return 0;
  return std::size_t(std::count(found->second.begin(), found->second.end(), verdict));
}

const std::vector<double>& Trial::averages(int island, RoundId round) const {
  return averages_.at({island, round});
}

NetSettings small_net(int islands, ChunkId chunks) {
  NetSettings settings;
  settings.job = {.element = Element::kI32, .elements = std::uint64_t(chunks) * 16, .beats = 1};
  settings.islands = islands;
  settings.rate = {1e8};
  settings.slots = settings.resend_packets = settings.gaps.window = 4096;
  return settings;
}

std::vector<int> everyone(int islands) {
  std::vector<int> all;
  for (int i = 0; i < islands; ++i) all.push_back(i);
  return all;
}

Header header_in(ByteView packet) {
  return read_header(packet).value_or(Header{});
}

}  // namespace cotillion::testing
