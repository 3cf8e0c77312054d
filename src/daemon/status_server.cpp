#include "daemon/status_server.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "daemon/status_text.hpp"

namespace cotillion {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kThreads = 4;
constexpr int kWaiting = 16;                      // connections that the kernel keeps for us
constexpr std::size_t kMostRead = 8192;           // of a request: line, headers and what follows
constexpr auto kGrace = std::chrono::seconds(1);  // with one connection
constexpr auto kGoodbye = std::chrono::milliseconds(200);

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// Until the descriptor is ready; false when the time is over or the server is to end.
bool await(int fd, short what, int end, Clock::time_point until) {
  for (;;) {
    std::int64_t left = -1;  // for ever
    if (until != Clock::time_point::max()) {
      left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return false;
    }
    std::array<pollfd, 2> polled = {{{fd, what, 0}, {end, POLLIN, 0}}};
    const int ready = ::poll(polled.data(), polled.size(), int(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || polled[1].revents != 0) return false;
    return true;
  }
}

// A connection as the HTTP library sees it. It ends, whatever the client does, when its time is
// over, when too much has come, or when the server is to end.
class Connection final : public httplib::Stream {
 public:
  Connection(int fd, int end) : fd_(fd), end_(end), until_(Clock::now() + kGrace) {}

  [[nodiscard]] bool is_readable() const override {
    return at_ < filled_ || await(fd_, POLLIN, end_, until_);
  }
  [[nodiscard]] bool is_writable() const override { return await(fd_, POLLOUT, end_, until_); }
  ssize_t read(char* to, std::size_t size) override {
    if (at_ == filled_) {
      if (filled_ == buffer_.size() || !is_readable()) return -1;
      const ssize_t got = ::recv(fd_, buffer_.data() + filled_, buffer_.size() - filled_, 0);
      if (got <= 0) return got;
      filled_ += std::size_t(got);
    }
    const std::size_t taken = std::min(size, filled_ - at_);
    std::memcpy(to, buffer_.data() + at_, taken);
    at_ += taken;
    return ssize_t(taken);
  }
  ssize_t write(const char* from, std::size_t size) override {
    std::size_t written = 0;
    while (written < size) {
      if (!is_writable()) return -1;
      const ssize_t sent = ::send(fd_, from + written, size - written, MSG_NOSIGNAL);
      if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (sent <= 0) return -1;
      written += std::size_t(sent);
    }
    return ssize_t(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  // The library refuses large ones, because it would select() on them.
  [[nodiscard]] socket_t socket() const override { return -1; }

  // A close with something unread would be a reset, which takes the answer away from the client.
  void say_goodbye() {
    ::shutdown(fd_, SHUT_WR);
    const auto until = std::min(until_, Clock::now() + kGoodbye);
    for (int more = 8; more > 0 && await(fd_, POLLIN, end_, until); --more)
      if (::recv(fd_, buffer_.data(), buffer_.size(), 0) <= 0) return;
  }

 private:
  int fd_, end_;
  Clock::time_point until_;
  std::array<char, kMostRead> buffer_{};
  std::size_t at_ = 0, filled_ = 0;
};

// What is asked and what is answered; who connects and how long they may take is not left to it.
class Pages final : public httplib::Server {
 public:
  explicit Pages(StatusPages pages) : pages_(std::move(pages)) {
    set_payload_max_length(kMostRead);
    Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(to_prometheus_text(pages_.metrics()),
                           "text/plain; version=0.0.4; charset=utf-8");
    });
    Get("/status", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(pages_.status() + "\n", "application/json");
    });
    Get("/", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(
          fmt::format("cotillion {}\n/metrics  counters, for Prometheus\n/status   JSON\n",
                      pages_.daemon),
          "text/plain; charset=utf-8");
    });
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.status == 404)
        response.set_content("there are GET /metrics and GET /status\n",
                             "text/plain; charset=utf-8");
    });
    set_exception_handler([](const httplib::Request&, httplib::Response& response, const auto&) {
      response.status = 500;
    });
  }

  void answer(int fd, int end) {
    Connection connection(fd, end);
    bool closed = false;
    if (process_request(connection, /*close_connection=*/true, closed, nullptr))
      connection.say_goodbye();
  }

 private:
  StatusPages pages_;
};

Unexpected<Error> refused(const std::string& address, const std::string& why,
                          const std::string& remedy) {
  return failure(fmt::format("cannot listen on {}: {}{}{}", shown(address), why,
                             remedy.empty() ? "" : "; ", remedy));
}

struct HostAndPort {
  std::string host, port;
};

Result<HostAndPort> read_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  HostAndPort parts;
  if (colon != std::string::npos) parts = {address.substr(0, colon), address.substr(colon + 1)};
  if (parts.host.starts_with('[') && parts.host.ends_with(']'))
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  else if (parts.host.find(':') != std::string::npos)
    parts.host.clear();
  const bool digits = !parts.port.empty() && parts.port.size() <= 5 &&
                      parts.port.find_first_not_of("0123456789") == std::string::npos;
  if (parts.host.empty() || !digits || std::stoi(parts.port) > 65535)
    return refused(address, "it is no ADDRESS:PORT", "write 127.0.0.1:9464 or [::1]:9464");
  return parts;
}

Result<Descriptor> open(const std::string& address) {
  const auto parts = read_address(address);
  if (!parts) return Unexpected<Error>{parts.error()};
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  if (const int error = ::getaddrinfo(parts->host.c_str(), parts->port.c_str(), &wanted, &found))
    return refused(address, ::gai_strerror(error), "give an address of this machine");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(found, ::freeaddrinfo);
  Descriptor listener(
      ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, found->ai_protocol));
  const int yes = 1;
  if (listener.get() >= 0 &&
      ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      ::bind(listener.get(), found->ai_addr, found->ai_addrlen) == 0 &&
      ::listen(listener.get(), kWaiting) == 0)
    return listener;
  const int error = errno;
  return refused(address, std::strerror(error),
                 error == EADDRINUSE      ? "another program holds this port; choose another"
                 : error == EADDRNOTAVAIL ? "no interface of this machine has this address"
                 : error == EACCES        ? "ports below 1024 are for root; choose another"
                                          : "");
}

int port_of(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  std::array<char, 16> port{};
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&bound), size, nullptr, 0, port.data(), port.size(),
                    NI_NUMERICSERV) != 0)
    return 0;
  return std::atoi(port.data());
}

}  // namespace

struct StatusServer::State {
  State(Descriptor the_listener, Descriptor the_end, StatusPages the_pages)
      : listener(std::move(the_listener)), end(std::move(the_end)), pages(std::move(the_pages)) {
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([this] { serve(); });
  }
  ~State() {
    const std::uint64_t one = 1;
    (void)!::write(end.get(), &one, sizeof one);  // readable from now on, for all threads
    for (std::thread& thread : threads) thread.join();
  }
  void serve() {
    while (await(listener.get(), POLLIN, end.get(), Clock::time_point::max())) {
      const Descriptor client(
          ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (client.get() >= 0)
        pages.answer(client.get(), end.get());
      else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it would fail at once again
    }
  }

  Descriptor listener, end;
  Pages pages;
  std::vector<std::thread> threads;
};

StatusServer::StatusServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
StatusServer::StatusServer(StatusServer&&) noexcept = default;
StatusServer::~StatusServer() = default;

Result<StatusServer> StatusServer::listen(const std::string& address, StatusPages pages) {
  auto listener = open(address);
  if (!listener) return Unexpected<Error>{listener.error()};
  Descriptor end(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (end.get() < 0) return refused(address, std::strerror(errno), "");
  return StatusServer(
      std::make_unique<State>(std::move(*listener), std::move(end), std::move(pages)));
}

int StatusServer::port() const {
  return port_of(state_->listener.get());
}

}  // namespace cotillion
