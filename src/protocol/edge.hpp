// The edge aggregator in front of one island: a table of jobs, each with its own share of slots
// and rate, that cannot touch one another's. The simulator and the daemon host this same object;
// an edge that serves several islands is several of these. Not safe to share between threads:
// shard by chunk, one object each.
#pragma once

#include <vector>

#include "protocol/aggregation.hpp"
#include "protocol/edge_spec.hpp"

namespace cotillion {

struct EdgeJob {
  AggregationSpec spec;
  AggregationSeals seals;
};

class Edge {
 public:
  // Refuses jobs that ask for more slots than the edge has memory for, or that share an id.
  // `margin` is what real packets need beyond the paper's M (slot_count in edge_spec.hpp).
  [[nodiscard]] static Result<Edge> build(const EdgeSpec& spec, Bytes margin,
                                          std::vector<EdgeJob> jobs);

  [[nodiscard]] Result<RoundSpec> open_round(Instant now, JobId job, const RoundSpec& round,
                                             Outbox& out);
  // Any bytes at all; `source` is the stream they came on, or kOwnIsland.
  void on_packet(Instant now, SourceId source, ByteView packet, Outbox& out) {
    const auto header = read_header(packet);
    if (!header)
      ++malformed_;
    else if (Aggregation* const job = find(header->job))
      job->on_packet(now, source, *header, packet, out);
    else
      ++foreign_;
  }
  // The same bytes are about to come: a host that sees ahead, in a batch or a queue, saves the wait
  // for memory.
  void expect(ByteView packet) const;
  void on_time(Instant now, Outbox& out);
  // When on_time wants to be called next, if nothing else happens.
  [[nodiscard]] Instant next_deadline() const;
  // Puts everything out, for a clean stop.
  void flush(Instant now, Outbox& out);

  [[nodiscard]] const Aggregation* job(JobId id) const;
  [[nodiscard]] std::span<const Aggregation> jobs() const { return jobs_; }
  [[nodiscard]] std::vector<ByteSpan> tables();
  [[nodiscard]] std::uint64_t malformed() const { return malformed_; }
  [[nodiscard]] std::uint64_t foreign() const { return foreign_; }

 private:
  explicit Edge(std::vector<EdgeJob> jobs);
  [[nodiscard]] Aggregation* find(JobId id) {
    for (Aggregation& job : jobs_)
      if (job.spec().job.id == id) return &job;
    return nullptr;
  }

  std::vector<Aggregation> jobs_;
  std::uint64_t malformed_ = 0;  // no packet of this protocol
  std::uint64_t foreign_ = 0;    // of a job that is not served here
};

}  // namespace cotillion
