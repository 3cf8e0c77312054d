// Watches all that goes into and comes out of one edge, and holds it to what must always hold. It
// owns the edge and a slow, clear reference of each job: every output is foretold, and whatever
// comes that was not foretold, or does not come, is named by wrong(). Outputs are held to the
// invariants apart from that, so that a reference that erred as the edge does would be found out.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/edge.hpp"
#include "tests/support/protocol/edge_reference.hpp"

namespace cotillion::testing {

class EdgeChecker final : public Outbox {
 public:
  // Called twice for each job: the reference judges with seals of its own.
  using Seals = std::function<AggregationSeals(const AggregationSpec& spec)>;
  EdgeChecker(const std::vector<AggregationSpec>& jobs, const Seals& seals);
  ~EdgeChecker();
  EdgeChecker(const EdgeChecker&) = delete;
  EdgeChecker& operator=(const EdgeChecker&) = delete;

  bool open_round(Instant now, JobId job, const RoundSpec& round);
  void on_packet(Instant now, SourceId source, ByteView packet, Trailer trailer);
  void on_time(Instant now);
  void flush(Instant now);
  // The last account: everything that was accepted has gone out, and counters add up.
  void finish();

  // The first thing that did not hold; empty so far.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] Edge& edge() { return *edge_; }
  [[nodiscard]] std::uint64_t packets() const { return packets_; }
  [[nodiscard]] std::uint64_t outputs() const { return outputs_; }
  // Of the sums of that job: how many went out so far.
  [[nodiscard]] std::uint32_t next_sequence(JobId job) const;
  [[nodiscard]] std::uint64_t counted(EdgeCount count) const;  // over all jobs

  void send(Towards towards, ByteView packet) override;

 private:
  [[nodiscard]] EdgeReference* find(JobId job);
  void compare(bool timed);  // after each event; timed: the edge has had the time of all its jobs
  void fail(const std::string& what);

  std::unique_ptr<Edge> edge_;
  std::vector<std::unique_ptr<EdgeReference>> jobs_;
  Instant now_{0};
  Header last_;  // that came in
  SourceId last_source_ = 0;
  std::uint64_t malformed_ = 0, foreign_ = 0;
  std::uint64_t packets_ = 0, outputs_ = 0;
  std::string wrong_;
};

}  // namespace cotillion::testing
