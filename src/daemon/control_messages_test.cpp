#include "daemon/control_messages.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

// Every field of every message, none of them as it is when nobody sets it.
std::vector<Message> everything() {
  Assignment assignment;
  assignment.job = 65'535;
  assignment.epoch = 3;
  assignment.rounds = 1'000'000;
  assignment.you = {4, Role::kEdge};
  assignment.plan = "sha256:1";
  assignment.plan_text = std::string("{\"bytes\": \xff\0}", 14);
  assignment.job_settings = {9, Element::kI32, Exchange::kStreamed, 8, {77}, Bytes{0}};
  assignment.exponent = -12;
  assignment.progress = 0.75;
  assignment.missing = Missing::kOwnForMissing;
  assignment.members = {{{0, Role::kIsland}, ~BootId(0), "10.0.0.1:7"}, {{0, Role::kEdge}, 1, ""}};
  assignment.shards = 3;
  assignment.port = 31'000;
  RoundReport report;
  report.round = 4'000'000'000u;
  report.measured = {INT64_MAX};
  report.absences = {{1, 2, 3}, {4, 5, 6}};
  report.mixing = {0.1, 1e-300, 0};
  report.moves = {{3'999'999'999u, 2, true, {-5}}, {4'000'000'000u, 63, false, {1}}};
  report.steps = 7;
  report.sender = {1, 2, 3, 4, 5, 6, 7, 8};
  for (std::size_t i = 0; i < kReceiverCounts; ++i) report.receiver.add(ReceiverCount(i), i + 1);
  for (std::size_t i = 0; i < kEdgeCounts; ++i) report.edge.add(EdgeCount(i), 100 + i);
  report.arrivals = {{2, {99}}};
  report.memory_peak = {1'000'000'000'000};
  return {Hello{"TYO", Role::kEdge, 5, "a:1", {-3, 4}, "1.0", "sha256:2"},
          Hello{"TYO", Role::kIsland, 5, "a:1", {}, "1.0", ""},
          Refusal{"because"},
          Ping{1, -2},
          Pong{1, INT64_MIN, INT64_MAX, 3},
          assignment,
          Assignment{},
          Ready{},
          Start{1'700'000'000'000'000'000, {-5, 6}},
          report,
          RoundReport{},
          Stop{3, true, "why"},
          Stopped{2, "told to"}};
}

TEST(ControlMessages, ComeBackAsTheyWere) {
  for (const Message& message : everything()) {
    std::string wire;
    ASSERT_TRUE(to_envelope(message).SerializeToString(&wire));
    control::Envelope envelope;
    ASSERT_TRUE(envelope.ParseFromString(wire));
    const auto read = from_envelope(envelope);
    ASSERT_TRUE(read.has_value()) << name_of(message) << ": " << read.error().message;
    EXPECT_TRUE(*read == message) << name_of(message);
  }
}

TEST(ControlMessages, ThatCannotBeAreRefused) {
  control::Envelope envelope;
  EXPECT_FALSE(from_envelope(envelope).has_value());
  envelope.mutable_hello()->set_role(control::ROLE_UNKNOWN);
  EXPECT_FALSE(from_envelope(envelope).has_value());
  envelope = to_envelope(Assignment{});
  envelope.mutable_assignment()->mutable_job_settings()->set_element(9);
  EXPECT_FALSE(from_envelope(envelope).has_value());
  envelope = to_envelope(Assignment{});
  envelope.mutable_assignment()->set_job(65'536);
  EXPECT_FALSE(from_envelope(envelope).has_value());
  envelope = to_envelope(Assignment{});
  envelope.mutable_assignment()->set_progress(1.5);
  EXPECT_FALSE(from_envelope(envelope).has_value());
  envelope = to_envelope(RoundReport{});
  envelope.mutable_report()->set_measured_ps(-1);
  EXPECT_FALSE(from_envelope(envelope).has_value());
}

TEST(ControlMessages, CountersThatAreNotKnownHereArePassedOver) {
  control::Envelope envelope = to_envelope(RoundReport{});
  envelope.mutable_report()->add_edge()->set_name("of_the_future");
  EXPECT_TRUE(from_envelope(envelope).has_value());
}

}  // namespace
}  // namespace cotillion
