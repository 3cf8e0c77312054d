#include "train/island_link.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>

#include "exchange/clock.hpp"

namespace cotillion {
namespace {

constexpr std::uint32_t kAnswer = 100, kRefusal = 101;
constexpr std::uint64_t kBodyMost = std::uint64_t(1) << 33U;

struct Head {
  std::uint64_t bytes = 0;
  std::uint32_t word = 0;
  std::uint32_t spare = 0;
};

Unexpected<Error> refused(const char* call) {
  return failure(fmt::format("{}: {}", call, std::strerror(errno)));
}

// Whether something can be done with the socket by then.
bool ready(int fd, short what, std::int64_t until_ns) {
  for (;;) {
    const Duration left{std::max<std::int64_t>(0, until_ns - wall_clock_now()) * 1000};
    pollfd watched{fd, what, 0};
    const timespec limit = timespec_of(left);
    const int came = ::ppoll(&watched, 1, &limit, nullptr);
    if (came > 0) return true;
    if (came == 0 || errno != EINTR) return false;
  }
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return failure(fmt::format("\"{}\" is too long for a socket's path", path));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

}  // namespace

// Nobody waits for ever for one who does not listen.
IslandLink::IslandLink(Descriptor socket) : socket_(std::move(socket)) {
  const timeval limit{60, 0};
  (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

Result<void> IslandLink::write(std::uint32_t word, std::string_view body) {
  const Head head{body.size(), word, 0};
  for (std::string_view part : {bytes_of_value(head), body})
    while (!part.empty()) {
      const ssize_t sent = ::send(socket_.get(), part.data(), part.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return refused("it is gone");
      part.remove_prefix(std::size_t(sent));
    }
  return {};
}

Result<void> IslandLink::read(char* to, std::size_t bytes, std::int64_t until_ns) {
  while (bytes > 0) {
    if (!ready(socket_.get(), POLLIN, until_ns)) return failure("it says nothing");
    const ssize_t came = ::recv(socket_.get(), to, bytes, 0);
    if (came < 0 && errno == EINTR) continue;
    if (came <= 0) return failure("it is gone");
    to += came;
    bytes -= std::size_t(came);
  }
  return {};
}

Result<IslandLink::Piece> IslandLink::piece(Duration timeout) {
  const std::int64_t until = wall_clock_now() + timeout.ps / 1000;
  Head head;
  if (const auto came = read(reinterpret_cast<char*>(&head), sizeof head, until); !came)
    return Unexpected<Error>{came.error()};
  if (head.bytes > kBodyMost) return failure("it says what nobody understands");
  Piece piece{head.word, std::string(head.bytes, '\0')};
  if (const auto came = read(piece.body.data(), piece.body.size(), until); !came)
    return Unexpected<Error>{came.error()};
  return piece;
}

Result<void> IslandLink::ask(Ask what, std::string_view body) {
  return write(std::uint32_t(what), body);
}

Result<IslandLink::Question> IslandLink::receive(Duration timeout) {
  auto came = piece(timeout);
  if (!came) return Unexpected<Error>{came.error()};
  return Question{Ask(came->word), std::move(came->body)};
}

Result<void> IslandLink::answer(std::string_view body) {
  return write(kAnswer, body);
}

Result<void> IslandLink::refuse(std::string_view reason) {
  return write(kRefusal, reason);
}

Result<std::string> IslandLink::answered(Duration timeout) {
  auto came = piece(timeout);
  if (!came) return Unexpected<Error>{came.error()};
  if (came->word == kRefusal) return failure(came->body);
  return std::move(came->body);
}

Result<Descriptor> listen_at(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return Unexpected<Error>{address.error()};
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener.is_open()) return refused("socket");
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::listen(listener.get(), 128) != 0)
    return refused(path.c_str());
  return listener;
}

Result<IslandLink> accept_at(const Descriptor& listener, Duration timeout) {
  if (!ready(listener.get(), POLLIN, wall_clock_now() + timeout.ps / 1000))
    return failure("nobody came");
  Descriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.is_open()) return refused("accept");
  return IslandLink(std::move(connection));
}

Result<IslandLink> connect_to(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return Unexpected<Error>{address.error()};
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return refused("socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return refused(path.c_str());
  return IslandLink(std::move(socket));
}

}  // namespace cotillion
