#include "daemon/clock_trust.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cotillion {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kTracking =
    "C0000201,192.0.2.1,3,1789237487.797281660,-0.000354626,0.000372696,0.000408864,5.867,0.008,"
    "0.233,0.024403038,0.009397091,1033.5,Normal\n";

const std::string kPtp =
    "sending: GET TIME_STATUS_NP\n"
    "\t507c6f.fffe.0b0cd9-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP \n"
    "\t\tmaster_offset              -142\n"
    "\t\tlastGmPhaseChange          0x0000'0000000000000000.0000\n"
    "\t\tgmPresent                  true\n"
    "\t\tgmIdentity                 00a069.fffe.0b552d\n"
    "sending: GET CURRENT_DATA_SET\n"
    "\t507c6f.fffe.0b0cd9-0 seq 1 RESPONSE MANAGEMENT CURRENT_DATA_SET \n"
    "\t\tstepsRemoved     1\n"
    "\t\toffsetFromMaster -142.0\n"
    "\t\tmeanPathDelay    9310.5\n"
    "sending: GET PARENT_DATA_SET\n"
    "\t507c6f.fffe.0b0cd9-0 seq 2 RESPONSE MANAGEMENT PARENT_DATA_SET \n"
    "\t\tgm.ClockClass                         6\n"
    "\t\tgm.ClockAccuracy                      0x21\n"
    "sending: GET TIME_PROPERTIES_DATA_SET\n"
    "\t507c6f.fffe.0b0cd9-0 seq 3 RESPONSE MANAGEMENT TIME_PROPERTIES_DATA_SET \n"
    "\t\tptpTimescale          1\n"
    "\t\ttimeTraceable         1\n";

timex kernel_of(long maxerror, long esterror, int status = STA_PLL | STA_NANO, long offset = 0) {
  timex kernel{};
  kernel.status = status;
  kernel.maxerror = maxerror;
  kernel.esterror = esterror;
  kernel.offset = offset;
  return kernel;
}
const timex kKept = kernel_of(500, 16'000'000);  // as phc2sys leaves it

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}
std::string answer_error(const ClockAnswer& answer) {
  return answer ? "trusted: " + to_text(*answer) : answer.error().message;
}

TEST(ClockTrust, ChronyIsBelievedUpToItsRootDistance) {
  const auto answer = read_chrony(kTracking);
  ASSERT_TRUE(answer.has_value()) << answer_error(answer);
  // 0.354626 ms to be corrected, 9.397091 ms of dispersion, half of 24.403038 ms.
  EXPECT_EQ(answer->estimate, (ClockEstimate{0, 21'953'236}));
  EXPECT_EQ(to_text(*answer),
            "chrony says within 22.0 ms of true time (stratum 3, follows 192.0.2.1)");
}

TEST(ClockTrust, ChronyThatIsNotSynchronisedIsNoAnswer) {
  for (const auto& [what, by] : std::vector<std::pair<std::string, std::string>>{
           {"Normal", "Not synchronised"}, {",3,", ",0,"}, {",3,", ",16,"}, {",3,", ",-3,"}})
    EXPECT_EQ(answer_error(read_chrony(replaced(kTracking, what, by))),
              "chrony is not synchronised");
  EXPECT_THAT(answer_error(read_chrony(replaced(kTracking, "C0000201", "7F7F0101"))),
              HasSubstr("(local)"));
}

TEST(ClockTrust, GarbledWordsOfChronyAreNoAnswer) {
  for (const std::string wrong : {"nan", "-nan", "inf", "-inf", "1e999", "", "x", "0.009x",
                                  " 0.009", "-0.009397091", "0,1"}) {
    EXPECT_FALSE(read_chrony(replaced(kTracking, "0.009397091", wrong))) << wrong;
  }
  for (const std::string wrong : {"nan", "inf", "", "--1", "0x10"})
    EXPECT_FALSE(read_chrony(replaced(kTracking, "-0.000354626", wrong))) << wrong;
  EXPECT_FALSE(read_chrony(replaced(kTracking, "0.009397091", "1e6"))) << "more than a day";
  EXPECT_FALSE(read_chrony("506 Cannot talk to daemon\n"));
  // However it is cut short, it is not believed.
  for (std::size_t size = 0; size + 1 < kTracking.size(); ++size)
    EXPECT_FALSE(read_chrony(std::string_view(kTracking).substr(0, size))) << size;
}

TEST(ClockTrust, PtpIsBelievedUpToTheGrandmasterTheWayAndTheKernel) {
  const auto answer = read_ptp(kPtp, TIME_OK, kKept);
  ASSERT_TRUE(answer.has_value()) << answer_error(answer);
  EXPECT_EQ(answer->estimate, (ClockEstimate{0, 142 + 9'311 + 100 + 500'000}));
  EXPECT_EQ(to_text(*answer),
            "PTP says within 509.6 µs of true time (grandmaster 00a069.fffe.0b552d)");
}

TEST(ClockTrust, PtpWithoutATrueTimeBehindItIsNoAnswer) {
  const auto error = [](const std::string& what, const std::string& by) {
    return answer_error(read_ptp(replaced(kPtp, what, by), TIME_OK, kKept));
  };
  EXPECT_THAT(error("gmPresent                  true", "gmPresent                  false"),
              HasSubstr("follows no grandmaster"));
  EXPECT_THAT(error("timeTraceable         1", "timeTraceable         0"),
              HasSubstr("does not claim to know the true time"));
  for (const std::string code : {"0xfe", "0x31", "0x1f", "0x", "21", "0xzz", "0x021"})
    EXPECT_THAT(error("0x21", code), HasSubstr("does not say how accurate it is")) << code;
  for (const std::string wrong : {"nan", "inf", "", "x"})
    EXPECT_THAT(error("-142.0", wrong), HasSubstr("something else than expected")) << wrong;
  EXPECT_THAT(error("9310.5", "9310.5\n\t\tmeanPathDelay    1.0"),
              HasSubstr("something else than expected"));
  EXPECT_THAT(answer_error(read_ptp(kPtp, TIME_ERROR, kKept)), HasSubstr("run phc2sys"));
  EXPECT_THAT(answer_error(read_ptp(kPtp, TIME_OK, kernel_of(500, 1, STA_UNSYNC))),
              HasSubstr("run phc2sys"));
  EXPECT_FALSE(read_ptp("", TIME_OK, kKept));
  for (std::size_t size = 0; size + 2 < kPtp.size(); ++size)
    EXPECT_FALSE(read_ptp(std::string_view(kPtp).substr(0, size), TIME_OK, kKept)) << size;
}

TEST(ClockTrust, TheKernelIsBelievedFromThoseWhoSayHowWell) {
  const auto answer = read_kernel(TIME_OK, kernel_of(2'000, 100, STA_PLL | STA_NANO, -3'000));
  ASSERT_TRUE(answer.has_value()) << answer_error(answer);
  EXPECT_EQ(answer->estimate, (ClockEstimate{0, 2'003'000}));
  EXPECT_EQ(read_kernel(TIME_INS, kernel_of(2'000, 100, STA_PLL, 3))->estimate.error_ns, 2'003'000);
  EXPECT_THAT(answer_error(read_kernel(TIME_ERROR, kernel_of(1, 1))),
              HasSubstr("not synchronised"));
  EXPECT_THAT(answer_error(read_kernel(-1, kernel_of(1, 1))), HasSubstr("not synchronised"));
  EXPECT_THAT(answer_error(read_kernel(TIME_OK, kernel_of(1, 1, STA_UNSYNC))),
              HasSubstr("not synchronised"));
  for (const timex& silent : {kernel_of(0, 0), kernel_of(500, 0), kKept, kernel_of(-1, -1)})
    EXPECT_THAT(answer_error(read_kernel(TIME_OK, silent)), HasSubstr("does not say how well"));
}

TEST(ClockTrust, NoBytesMakeAnEstimateThatIsNotSane) {
  EXPECT_TRUE(rc::check([](std::string text, std::uint64_t at, bool ptp) {
    // Splices noise into what would be believed.
    std::string said = ptp ? kPtp : kTracking;
    said.replace(at % said.size(), text.size(), text);
    const auto answer = ptp ? read_ptp(said, TIME_OK, kKept) : read_chrony(said);
    if (answer) RC_ASSERT(is_sane(answer->estimate) && answer->estimate.known());
  }));
}

// Programs of the test in the place of the real ones.
class AskClockTrust : public ::testing::Test {
 protected:
  AskClockTrust() {
    folder_ = fs::temp_directory_path() / fmt::format("cotillion-clock-{}", ::getpid());
    fs::create_directories(folder_);
    settings_.chronyc = folder_ / "chronyc";
    settings_.pmc = folder_ / "pmc";
    settings_.ptp4l = folder_ / "ptp4l";
  }
  ~AskClockTrust() override { fs::remove_all(folder_); }
  void program(const std::string& name, const std::string& script) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  fs::path folder_;
  ClockTrustSettings settings_;
};

TEST_F(AskClockTrust, ChronyIsAskedWithoutNames) {
  program("chronyc", fmt::format("[ \"$*\" = '-n -c tracking' ] && printf '%s' '{}'", kTracking));
  const ClockTrust trust = ask_clock_trust(settings_);
  EXPECT_EQ(trust.source, "chrony") << to_text(trust);
  EXPECT_EQ(trust.estimate.error_ns, 21'953'236);
}

TEST_F(AskClockTrust, WhoHangsOrFailsIsNoAnswer) {
  settings_.timeout = Duration{50'000'000'000};
  program("ptp4l", "");
  program("pmc", "sleep 1000");
  program("chronyc", "echo 506 Cannot talk to daemon; exit 1");
  const ClockTrust trust = ask_clock_trust(settings_);
  EXPECT_THAT(trust.source, ::testing::AnyOf("nobody", "kernel"));
  if (trust.source != "nobody") return;
  EXPECT_FALSE(trust.estimate.known());
  EXPECT_THAT(to_text(trust), HasSubstr("nobody vouches for this clock ("));
  EXPECT_THAT(to_text(trust), HasSubstr("pmc was not done within 50.0 ms"));
  EXPECT_THAT(to_text(trust), HasSubstr("chronyc failed; "));
}

}  // namespace
}  // namespace cotillion
