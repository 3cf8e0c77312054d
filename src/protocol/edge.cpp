#include "protocol/edge.hpp"

#include <fmt/format.h>

#include <cstring>

#include <algorithm>

namespace cotillion {

Edge::Edge(std::vector<EdgeJob> jobs) {
  jobs_.reserve(jobs.size());
  for (EdgeJob& job : jobs) jobs_.emplace_back(job.spec, std::move(job.seals));
}

Result<Edge> Edge::build(const EdgeSpec& spec, Bytes margin, std::vector<EdgeJob> jobs) {
  std::size_t asked = 0, kept = 0;
  for (const EdgeJob& job : jobs) {
    if (const auto sound = checked(job.spec); !sound) return Unexpected<Error>{sound.error()};
    if (std::count_if(jobs.begin(), jobs.end(), [&](const EdgeJob& other) {
          return other.spec.job.id == job.spec.job.id;
        }) > 1)
      return failure(fmt::format("job {} is in the job table twice", job.spec.job.id));
    asked += footprint(job.spec).sums;
    if (asked > std::size_t(spec.memory.count) + std::size_t(margin.count))
      return failure(fmt::format(
          "job {}: its {} slots bring the edge to {} of accumulators, and it has {} and a margin "
          "of {}; give jobs fewer slots, or the edge more memory",
          job.spec.job.id, job.spec.slots, to_text(Bytes{std::int64_t(asked)}),
          to_text(spec.memory), to_text(margin)));
    kept += footprint(job.spec).resend;
    if (kept > std::size_t(spec.resend.count))
      return failure(fmt::format(
          "job {}: its {} packets bring the resend store to {}, and the edge has {} for it; keep "
          "fewer, or give the edge more (edge.resend)",
          job.spec.job.id, job.spec.resend_packets, to_text(Bytes{std::int64_t(kept)}),
          to_text(spec.resend)));
  }
  return Edge(std::move(jobs));
}

const Aggregation* Edge::job(JobId id) const {
  return const_cast<Edge*>(this)->find(id);
}

std::vector<ByteSpan> Edge::tables() {
  std::vector<ByteSpan> all;
  for (Aggregation& job : jobs_)
    for (const ByteSpan table : job.tables()) all.push_back(table);
  return all;
}

Result<RoundSpec> Edge::open_round(Instant now, JobId job, const RoundSpec& round, Outbox& out) {
  Aggregation* found = find(job);
  if (found == nullptr) return failure(fmt::format("job {} is not in the job table", job));
  return found->open_round(now, round, out);
}

void Edge::expect(ByteView packet) const {
  if (packet.size() < kHeaderBytes) return;
  Header header;
  std::memcpy(&header, packet.data(), kHeaderBytes);
  if (const Aggregation* found = job(header.job)) found->expect(header.round, header.chunk);
}

void Edge::on_time(Instant now, Outbox& out) {
  for (Aggregation& job : jobs_) job.on_time(now, out);
}

Instant Edge::next_deadline() const {
  Instant soonest = kNever;
  for (const Aggregation& job : jobs_) soonest = std::min(soonest, job.next_deadline());
  return soonest;
}

void Edge::flush(Instant now, Outbox& out) {
  for (Aggregation& job : jobs_) job.flush(now, out);
}

}  // namespace cotillion
