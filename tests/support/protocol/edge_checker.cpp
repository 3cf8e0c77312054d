#include "tests/support/protocol/edge_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace cotillion::testing {

EdgeChecker::EdgeChecker(const std::vector<AggregationSpec>& jobs, const Seals& seals) {
  std::vector<EdgeJob> table;
  std::int64_t memory = 0;
  for (const AggregationSpec& spec : jobs) {
    table.push_back({spec, seals(spec)});
    jobs_.push_back(std::make_unique<EdgeReference>(spec, seals(spec)));
    memory += std::int64_t(footprint(spec).sums);
  }
  auto built = Edge::build({.memory = {memory}}, {0}, std::move(table));
  COTILLION_CHECK(built.has_value());
  edge_ = std::make_unique<Edge>(std::move(*built));
}

EdgeChecker::~EdgeChecker() = default;

EdgeReference* EdgeChecker::find(JobId job) {
  for (const auto& reference : jobs_)
    if (reference->spec().job.id == job) return reference.get();
  return nullptr;
}

std::uint32_t EdgeChecker::next_sequence(JobId job) const {
  return const_cast<EdgeChecker*>(this)->find(job)->next();
}

std::uint64_t EdgeChecker::counted(EdgeCount count) const {
  std::uint64_t sum = 0;
  for (const auto& reference : jobs_)
    sum += edge_->job(reference->spec().job.id)->counters()[count];
  return sum;
}

bool EdgeChecker::open_round(Instant now, JobId job, const RoundSpec& round) {
  now_ = now;
  EdgeReference* reference = find(job);
  const bool foretold = reference != nullptr && reference->open(round);
  const bool taken = edge_->open_round(now, job, round, *this).has_value();
  if (taken != foretold) fail(taken ? "a round was taken in error" : "a round was refused");
  compare(false);
  return taken;
}

void EdgeChecker::on_packet(Instant now, SourceId source, ByteView packet, Trailer trailer) {
  now_ = now;
  ++packets_;
  Header& header = last_;
  last_source_ = source;
  constexpr std::size_t kLeast = kHeaderBytes + kTrailerBytes;
  bool known = packet.size() >= kLeast && (packet.size() - kLeast) % kBeatBytes == 0;
  if (known) std::memcpy(&header, packet.data(), kHeaderBytes);
  known = known && header.version_type >= 0x11 && header.version_type <= 0x1a;
  EdgeReference* job = known ? find(header.job) : nullptr;
  if (!known) ++malformed_;
  if (known && job == nullptr) ++foreign_;
  if (job != nullptr) job->take(now, source, header, packet, trailer);
  edge_->on_packet(now, source, packet, *this);
  compare(false);
}

void EdgeChecker::on_time(Instant now) {
  now_ = now;
  for (const auto& job : jobs_) job->advance(now);
  edge_->on_time(now, *this);
  compare(true);
}

void EdgeChecker::flush(Instant now) {
  now_ = now;
  for (const auto& job : jobs_) job->flush();
  edge_->flush(now, *this);
  compare(false);
}

void EdgeChecker::finish() {
  for (const auto& job : jobs_) job->finish();
  compare(false);
}

void EdgeChecker::send(Towards towards, ByteView packet) {
  ++outputs_;
  const auto header = read_header(packet);
  EdgeReference* job = header ? find(header->job) : nullptr;
  if (job == nullptr) return fail("an output that is no packet of any job");
  job->hear(now_, towards, *header, packet);
}

void EdgeChecker::compare(bool timed) {
  for (const auto& job : jobs_) {
    job->settle(*edge_->job(job->spec().job.id));
    if (!job->wrong.empty()) fail(job->wrong);
  }
  if (edge_->malformed() != malformed_) fail("malformed packets are not counted right");
  if (edge_->foreign() != foreign_) fail("foreign packets are not counted right");
  if (timed && edge_->next_deadline() <= now_) fail("the next deadline has passed already");
}

void EdgeChecker::fail(const std::string& what) {
  if (wrong_.empty())
    wrong_ = fmt::format("{} ps: {}; packet {} was {} from {}", now_.ps, what, packets_,
                         testing::to_text(last_), last_source_);
}

}  // namespace cotillion::testing
