#include "daemon/status_server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "daemon/status_text.hpp"
#include "tests/support/base/http_client.hpp"

namespace cotillion {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::HttpClient;
using ::testing::StartsWith;

StatusPages pages() {
  return {"edge of TYO",
          [] {
            return Metrics{{"cotillion_edge_packets_total",
                            "Packets heard.",
                            MetricKind::kCounter,
                            {{"island", "TYO"}},
                            42}};
          },
          [] { return std::string(R"({"state":"playing"})"); }};
}

class StatusServerTest : public ::testing::Test {
 protected:
  explicit StatusServerTest(StatusPages shown = pages())
      : server_(StatusServer::listen("127.0.0.1:0", std::move(shown))) {
    EXPECT_TRUE(server_.has_value()) << server_.error().message;
  }
  std::string ask(const std::string& request) const {
    const HttpClient client(server_->port());
    client.send(request);
    return client.hear();
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    return testing::http_get(server_->port(), path);
  }
  Result<StatusServer> server_;
};

TEST_F(StatusServerTest, ShowsMetricsToPrometheus) {
  const std::string page = get("/metrics");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(page, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(page, EndsWith("# HELP cotillion_edge_packets_total Packets heard.\n"
                             "# TYPE cotillion_edge_packets_total counter\n"
                             "cotillion_edge_packets_total{island=\"TYO\"} 42\n"));
}

TEST_F(StatusServerTest, ShowsItsStatusAsJson) {
  const std::string page = get("/status");
  EXPECT_THAT(page, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(page, EndsWith("\r\n\r\n{\"state\":\"playing\"}\n"));
  EXPECT_THAT(get("/"), HasSubstr("cotillion edge of TYO\n/metrics"));
}

TEST_F(StatusServerTest, EverythingElseIsNotThere) {
  for (const std::string path : {"/metrics/", "/status.json", "/../etc/passwd", "/favicon.ico"})
    EXPECT_THAT(get(path), StartsWith("HTTP/1.1 404 ")) << path;
  for (const std::string method : {"POST", "PUT", "DELETE"})
    EXPECT_THAT(ask(method + " /metrics HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"),
                StartsWith("HTTP/1.1 404 "))
        << method;
}

TEST_F(StatusServerTest, NonsenseIsRefusedAndHarmless) {
  EXPECT_THAT(ask("what is this\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  ask(std::string("\0\xff\r\n\r\n", 6));
  ask("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n");
  ask("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n");
  EXPECT_THAT(get("/status"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(StatusServerTest, ARequestWithoutEndIsCutOff) {
  const HttpClient client(server_->port());
  client.send("GET /metrics HTTP/1.1\r\n");
  bool taken = true;
  for (int i = 0; taken && i < 1'000'000; ++i) taken = client.send("X-Header: more and more\r\n");
  EXPECT_FALSE(taken) << "25 MB of headers were taken";
  EXPECT_THAT(get("/status"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(StatusServerTest, ThoseWhoSayNothingHoldNobodyUpForLong) {
  std::vector<std::unique_ptr<HttpClient>> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(std::make_unique<HttpClient>(server_->port()));
  EXPECT_THAT(get("/status"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(silent.front()->hear(), "");  // it was hung up on
}

TEST_F(StatusServerTest, EndsWhileClientsAreConnected) {
  const HttpClient silent(server_->port());
  const HttpClient slow(server_->port());
  slow.send("GET /metr");
  { const StatusServer ending = std::move(*server_); }
  EXPECT_EQ(silent.hear(), "");
}

TEST_F(StatusServerTest, ManyAskAtOnce) {
  std::vector<std::thread> askers;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i)
    askers.emplace_back([&] {
      for (int k = 0; k < 25; ++k)
        answered += get(k % 2 ? "/metrics" : "/status").starts_with("HTTP/1.1 200 ") ? 1 : 0;
    });
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(answered, 200);
}

TEST_F(StatusServerTest, APortIsNotSharedInSilence) {
  const std::string address = fmt::format("127.0.0.1:{}", server_->port());
  const auto second = StatusServer::listen(address, pages());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message,
            "cannot listen on " + address +
                ": Address already in use; another program holds this port; choose another");
}

class StatusServerInTrouble : public StatusServerTest {
 protected:
  StatusServerInTrouble()
      : StatusServerTest({"edge", []() -> Metrics { throw std::runtime_error("a secret"); },
                          [] { return std::string("{}"); }}) {}
};

TEST_F(StatusServerInTrouble, APageThatFailsSaysSoAndNoMore) {
  const std::string page = get("/metrics");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
  EXPECT_THAT(get("/status"), StartsWith("HTTP/1.1 200 "));
}

TEST(StatusServerAddress, IsRefusedWithARemedy) {
  for (const std::string address : {"", "9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                                    "127.0.0.1:65536", "127.0.0.1:-1", "::1:9464"}) {
    const auto server = StatusServer::listen(address, pages());
    ASSERT_FALSE(server.has_value()) << address;
    EXPECT_EQ(server.error().message, "cannot listen on " + address +
                                          ": it is no ADDRESS:PORT; write 127.0.0.1:9464 or "
                                          "[::1]:9464");
  }
  const auto foreign = StatusServer::listen("203.0.113.1:0", pages());
  ASSERT_FALSE(foreign.has_value());
  EXPECT_THAT(foreign.error().message, HasSubstr("no interface of this machine has this address"));
}

TEST(StatusText, GroupsByNameAndEscapesLabels) {
  const Metrics metrics = {
      {"cotillion_a_total", "First.", MetricKind::kCounter, {{"island", "A\"\n\\\xff"}}, 1},
      {"cotillion_b", "Second.", MetricKind::kGauge, {}, 0.5},
      {"cotillion_a_total", "First.", MetricKind::kCounter, {{"island", "B"}}, 9007199254740991}};
  EXPECT_EQ(to_prometheus_text(metrics),
            "# HELP cotillion_a_total First.\n# TYPE cotillion_a_total counter\n"
            "cotillion_a_total{island=\"A\\\"?\\\\?\"} 1\n"
            "cotillion_a_total{island=\"B\"} 9007199254740991\n"
            "# HELP cotillion_b Second.\n# TYPE cotillion_b gauge\ncotillion_b 0.5\n");
  EXPECT_EQ(to_prometheus_text({}), "");
}

}  // namespace
}  // namespace cotillion
