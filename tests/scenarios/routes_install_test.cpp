// `cotillion routes install` and `remove` with a real kernel, in a network namespace of their own
// that ends with the shell in which they run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

// Both streams, as a shell would show them.
std::string said_by(const std::string& script) {
  std::FILE* pipe = ::popen(("{ " + script + "\n} 2>&1").c_str(), "r");
  if (pipe == nullptr) return "cannot be run";
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  ::pclose(pipe);
  return text;
}

class RoutesInstall : public ::testing::Test {
 protected:
  void SetUp() override {
    if (said_by(unshare_ + "ip link add name one type veth peer name two && echo fine") != "fine\n")
      GTEST_SKIP() << "no network namespaces or veth pairs here: needs root or unprivileged user "
                      "namespaces, unshare and iproute2";
    folder_ = fs::temp_directory_path() / ("cotillion-routes-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // A router with four interfaces, the program as $C and an installation at the hub as $INSTALL.
  std::string in_a_router(const std::string& script) const {
    const std::string lock = " --lock '" + (folder_ / "lock").string() + "'";
    const std::string plan =
        " '" COTILLION_SOURCE_DIR "/tests/scenarios/inputs/plan-four-islands.json' --at hub" + lock;
    return said_by("COTILLION_OUT='" + (folder_ / "out").string() + "' C='" COTILLION_BINARY "' " +
                   "PLAN=\"" + plan + "\" " + unshare_ + "sh -c '" + R"(
for name in all default; do echo 0 >/proc/sys/net/ipv4/conf/$name/rp_filter; done
ip link add name to-n type veth peer name to-e
ip link add name to-s type veth peer name to-w
ip link add name to-h type veth peer name unused
for name in to-n to-e to-s to-w to-h; do ip link set dev $name up; done
entries() { grep -c "^[0-9A-F]" /proc/net/ip_mr_cache; }
install() { eval "$C routes install $PLAN --interface N=to-n --interface E=to-e --interface S=to-s \
            --interface W=to-w --edge to-h"; }
installed() {
  for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -qs installed "$COTILLION_OUT" && return
    sleep 0.2
  done
  echo never installed
}
)" + script + "'");
  }

  const std::string unshare_ = ::geteuid() == 0 ? "unshare -n " : "unshare -rn ";
  fs::path folder_;
};

TEST_F(RoutesInstall, HoldsRoutesUntilTheyAreRemoved) {
  const std::string said = in_a_router(R"(
install >"$COTILLION_OUT" 2>&1 &
installed
entries
install; echo exit $?
eval "$C routes remove $PLAN" | sed "s/process [0-9]*/process/"
wait
cat "$COTILLION_OUT"
entries
eval "$C routes remove $PLAN"
)");
  const std::size_t second = said.find("routes are installed by process "),
                    ended = said.find("exit 3\n");
  ASSERT_NE(second, std::string::npos) << said;
  ASSERT_NE(ended, std::string::npos) << said;
  EXPECT_EQ(said.substr(0, second), "8\n");
  EXPECT_EQ(said.substr(ended),
            "exit 3\n"
            "process has ended, and the kernel has forgotten its routes\n"
            "8 routes installed at hub; they stay until this process ends (Ctrl-C, SIGTERM or "
            "`cotillion routes remove`)\n"
            "0 packets arrived, 0 bytes, 0 of them on a wrong interface\n"
            "8 routes removed from hub\n"
            "0\n"
            "nobody holds routes of hub: the kernel forgets them with the process that installed "
            "them\n");
}

TEST_F(RoutesInstall, LeavesNothingWhenItIsKilled) {
  EXPECT_EQ(in_a_router(R"(
eval "exec_install() { exec $C routes install $PLAN --interface N=to-n --interface E=to-e \
      --interface S=to-s --interface W=to-w --edge to-h; }"
( exec_install ) >"$COTILLION_OUT" 2>&1 &
held=$!
installed
entries
kill -KILL $held
{ wait $held; } 2>/dev/null
for try in 1 2 3 4 5 6 7 8 9 10; do test $(entries) = 0 && break; sleep 0.1; done
entries
)"),
            "8\n0\n");
}

}  // namespace
