#include "exchange/exchange_client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "exchange/agent_listener.hpp"
#include "exchange/clock.hpp"

namespace cotillion {
namespace {

// An agent holds a fragment for as long as going over it takes. The first copy is worth waiting for
// that; later on the one that lies there will do, and training goes on.
constexpr Duration kFirstTimeout{60'000'000'000'000}, kHoldTimeout{20'000'000'000};
constexpr Duration kLook{20'000'000'000};  // how late the agent's end is noticed
constexpr Duration kCopyLook{1'000'000'000};
constexpr std::int64_t kDayNs = 86'400'000'000'000;
constexpr Duration kAheadMin{2'000'000'000};

Duration since(std::int64_t ns) {
  return {(wall_clock_now() - ns) * 1000};
}

void pause(Duration time) {
  const timespec wait = timespec_of(time);
  (void)::nanosleep(&wait, nullptr);
}

// What the agent answers, with a descriptor if it says yes.
struct Reply {
  AttachReply answer;
  int fd = -1;
  bool whole = false;
};

Reply read_reply(int socket) {
  Reply reply;
  iovec piece{&reply.answer, sizeof reply.answer};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t came = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  for (cmsghdr* part = came > 0 ? CMSG_FIRSTHDR(&message) : nullptr; part != nullptr;
       part = CMSG_NXTHDR(&message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
      std::memcpy(&reply.fd, CMSG_DATA(part), sizeof reply.fd);
  reply.whole = came == sizeof reply.answer && reply.answer.magic == kAttachMagic;
  reply.answer.words.back() = 0;
  return reply;
}

}  // namespace

Result<ExchangeClient> ExchangeClient::join(const std::string& path, std::uint64_t elements,
                                            Duration timeout) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return failure(fmt::format("\"{}\" is too long for a socket's path", path));
  std::memcpy(address.sun_path, path.data(), path.size());
  const std::int64_t began = wall_clock_now();
  // Where many connect at once, connect() itself would wait, for as long as it takes.
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return failure(fmt::format("socket: {}", std::strerror(errno)));
  const auto refuse = [&](const std::string& why) {
    ::close(fd);
    return failure(fmt::format("{}: {}", path, why));
  };
  while (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR)
      return refuse(std::strerror(errno));
    if (since(began) >= timeout)
      return refuse(fmt::format("no agent has its region here after {}; start `cotillion island`",
                                wait_text(timeout)));
    pause(kLook);
  }
  const AttachRequest request{kAttachMagic, elements};
  if (::send(fd, &request, sizeof request, MSG_NOSIGNAL) != sizeof request)
    return refuse("the agent hung up");
  pollfd watched{fd, POLLIN, 0};
  const Duration left = timeout - since(began);
  const timespec limit = timespec_of(std::max(left, Duration{0}));
  if (::ppoll(&watched, 1, &limit, nullptr) <= 0)
    return refuse(
        fmt::format("the agent has been given no part in a job for {}; see the "
                    "coordinator for who is missing",
                    wait_text(since(began))));
  const Reply reply = read_reply(fd);
  if (!reply.whole) return refuse("the agent ended before it had a part in a job; see its log");
  if (reply.fd < 0 || reply.answer.welcome != 1)
    return refuse(fmt::format("the agent refuses: {}", reply.answer.words.data()));
  auto region = ExchangeRegion::open(reply.fd);
  if (!region) return refuse(region.error().message);
  return ExchangeClient(fd, std::move(*region));
}

ExchangeClient::ExchangeClient(ExchangeClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      region_(std::move(other.region_)),
      source_(std::move(other.source_)),
      next_(other.next_),
      stepped_ns_(other.stepped_ns_),
      intervals_(other.intervals_),
      steps_(other.steps_),
      offered_(std::move(other.offered_)) {}

ExchangeClient::~ExchangeClient() {
  if (fd_ >= 0) ::close(fd_);
}

bool ExchangeClient::ended() const {
  return region_.words().state.load(std::memory_order_acquire) == ExchangeState::kEnded;
}

Result<void> ExchangeClient::check() const {
  const ExchangeState state = region_.words().state.load(std::memory_order_acquire);
  if (state == ExchangeState::kFailed)
    return failure("the job has failed: " + region_.words().reason.read());
  if (state == ExchangeState::kEnded) return {};
  pollfd watched{fd_, POLLIN, 0};
  if (::poll(&watched, 1, 0) > 0) {
    // It says nothing after its answer, so this is its end; its last words may have come meanwhile.
    const ExchangeState last = region_.words().state.load(std::memory_order_acquire);
    if (last == ExchangeState::kEnded) return {};
    return failure(last == ExchangeState::kFailed
                       ? "the job has failed: " + region_.words().reason.read()
                       : "the agent is gone in round " +
                             std::to_string(region_.words().round.load()) + "; see its log");
  }
  return {};
}

Result<void> ExchangeClient::offer_wanted(Duration ahead) {
  if (!source_) return {};
  for (int f = 0; f < region_.fragments(); ++f) {
    RegionFragment& fragment = region_.fragment(f);
    const std::int64_t now = wall_clock_now();
    const std::int64_t wanted = fragment.wanted_ns.load(std::memory_order_acquire);
    const bool soon = wanted != 0 && wanted <= now + ahead.ps / 1000;
    const bool first = fragment.offers.load(std::memory_order_acquire) == 0;
    // Nothing has changed since the last copy but for corrections, which are in it.
    if (!first && (!soon || offered_[std::size_t(f)] == steps_)) continue;
    bool held = region_.try_hold(f, ExchangeRegion::Holder::kTraining);
    while (!held && since(now) < (first ? kFirstTimeout : kHoldTimeout)) {
      if (fragment.holder.load() == std::uint32_t(ExchangeRegion::Holder::kTraining))
        return failure(fmt::format("the correction of fragment {} was taken and never done()", f));
      pause({20'000'000});
      held = region_.try_hold(f, ExchangeRegion::Holder::kTraining);
    }
    if (!held && first)
      return failure(
          fmt::format("the agent has held fragment {} for {}", f, wait_text(since(now))));
    if (!held) continue;
    if (const std::span<float> room = region_.room(f); !room.empty()) {
      source_(region_.run(f).first, room);
      region_.offered(f, now);
      offered_[std::size_t(f)] = steps_;
    }
    region_.let_go(f);
  }
  return {};
}

Result<void> ExchangeClient::offer(RegionSource source) {
  source_ = std::move(source);
  offered_.assign(std::size_t(region_.fragments()), SIZE_MAX);
  return offer_wanted({0});
}

Result<void> ExchangeClient::step() {
  const std::int64_t now = wall_clock_now();
  if (stepped_ns_ != 0) intervals_[steps_ % intervals_.size()] = {(now - stepped_ns_) * 1000};
  stepped_ns_ = now;
  ++steps_;
  region_.words().steps.fetch_add(1, std::memory_order_relaxed);
  // Training comes again after about as long as the longest of its last steps.
  const Duration longest = *std::max_element(intervals_.begin(), intervals_.end());
  const Duration ahead{std::max(kAheadMin.ps, longest.ps + longest.ps / 4)};
  if (auto offered = offer_wanted(ahead); !offered) return offered;
  return check();
}

Result<std::optional<Correction>> ExchangeClient::poll() {
  for (int i = 0; i < region_.fragments(); ++i) {
    const int f = (next_ + i) % region_.fragments();
    RegionFragment& fragment = region_.fragment(f);
    if (fragment.made.load(std::memory_order_acquire) ==
        fragment.taken.load(std::memory_order_relaxed))
      continue;
    if (!region_.try_hold(f, ExchangeRegion::Holder::kTraining))
      continue;  // the agent is adding to it
    next_ = (f + 1) % region_.fragments();
    return std::optional<Correction>(
        Correction{f, region_.run(f).first, region_.pending(f), fragment.account});
  }
  if (const auto good = check(); !good) return Unexpected<Error>{good.error()};
  return std::optional<Correction>();
}

Result<Correction> ExchangeClient::wait(Duration most) {
  const std::int64_t began = wall_clock_now();
  for (;;) {
    const std::uint32_t news = region_.words().news.load(std::memory_order_acquire);
    auto next = poll();
    if (!next) return Unexpected<Error>{next.error()};
    if (*next) return **next;
    if (ended()) return failure("the job has ended: " + region_.words().reason.read());
    if (const auto offered = offer_wanted(kAheadMin); !offered)
      return Unexpected<Error>{offered.error()};
    const Duration left = most - since(began);
    if (left.ps <= 0) return failure(lateness(since(began)));
    region_.wait(news, std::min(left, Duration{kAheadMin.ps / 2}));
  }
}

void ExchangeClient::done(const Correction& correction) {
  RegionFragment& fragment = region_.fragment(correction.fragment);
  fragment.taken.store(fragment.made.load(std::memory_order_relaxed), std::memory_order_release);
  region_.let_go(correction.fragment);
}

Result<void> ExchangeClient::offer_fragment(int f, const RegionSource& source) {
  const std::int64_t began = wall_clock_now();
  while (!region_.try_hold(f, ExchangeRegion::Holder::kTraining)) {
    if (auto good = check(); !good) return good;
    if (since(began) >= kFirstTimeout)
      return failure(
          fmt::format("the agent has held fragment {} for {}", f, wait_text(since(began))));
    pause({20'000'000});
  }
  const std::span<float> room = region_.room(f);
  if (!room.empty()) {
    source(region_.run(f).first, room);
    region_.offered(f, wall_clock_now());
  }
  region_.let_go(f);
  if (room.empty()) return failure(fmt::format("fragment {} is in flight twice", f));
  return {};
}

Result<void> ExchangeClient::wait_for_copy(int f, RoundId round, Duration most) const {
  const std::int64_t began = wall_clock_now();
  while (region_.fragment(f).copied.load(std::memory_order_acquire) < round) {
    if (auto good = check(); !good) return good;
    if (ended()) return {};
    if (since(began) >= most)
      return failure(
          fmt::format("the agent has not taken its copy of fragment {} for round {} "
                      "within {}",
                      f, round, wait_text(since(began))));
    pause(kCopyLook);
  }
  return {};
}

Result<Correction> ExchangeClient::wait_for(int f, Duration most) {
  const std::int64_t began = wall_clock_now();
  RegionFragment& fragment = region_.fragment(f);
  for (;;) {
    const std::uint32_t news = region_.words().news.load(std::memory_order_acquire);
    if (fragment.made.load(std::memory_order_acquire) !=
            fragment.taken.load(std::memory_order_relaxed) &&
        region_.try_hold(f, ExchangeRegion::Holder::kTraining))
      return Correction{f, region_.run(f).first, region_.pending(f), fragment.account};
    if (const auto good = check(); !good) return Unexpected<Error>{good.error()};
    if (ended()) return failure("the job has ended: " + region_.words().reason.read());
    const Duration left = most - since(began);
    if (left.ps <= 0) return failure(lateness(since(began)));
    region_.wait(news, std::min(left, kLook));
  }
}

void ExchangeClient::count_step() const {
  region_.words().steps.fetch_add(1, std::memory_order_relaxed);
}

std::string ExchangeClient::lateness(Duration waited) const {
  const RegionHeader& words = region_.words();
  const RoundId round = words.round.load();
  std::string text = fmt::format("no correction within {}", wait_text(waited));
  if (round == 0) return text + ": round one has not begun";
  const std::int64_t over =
      std::clamp<std::int64_t>(wall_clock_now() - words.ends_ns.load(), -kDayNs, kDayNs);
  if (over < 0)
    text += fmt::format("; round {} ends in {}", round, wait_text({-over * 1000}));
  else
    text += fmt::format("; round {} should have ended {} ago", round, wait_text({over * 1000}));
  if (const std::string late = words.late.read(); !late.empty()) text += ": " + late;
  return text;
}

std::string ExchangeClient::describe(const Correction& correction) const {
  const CorrectionAccount& account = correction.account;
  if (account.absent == 0) return {};
  std::string text = fmt::format("round {}: ", account.round);
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(account.absent, kCorrectionAbsences); ++i) {
    const Absence& absence = account.absences[i];
    text += fmt::format("{}{} lacks in {} of {} chunks from chunk {} on", i > 0 ? ", " : "",
                        region_.island(absence.contributor), absence.chunks, account.chunks,
                        absence.first_chunk);
  }
  return text;
}

}  // namespace cotillion
