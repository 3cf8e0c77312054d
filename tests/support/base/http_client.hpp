// A client of a daemon's pages on loopback, well-behaved or not.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace cotillion::testing {

// A client that does only what it is told.
class HttpClient {
 public:
  explicit HttpClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(std::uint16_t(port));
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~HttpClient() { ::close(fd_); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Whether all of it was taken.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(std::size_t(sent));
    }
    return true;
  }
  // Everything until the server hangs up.
  [[nodiscard]] std::string hear() const {
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::recv(fd_, buffer, sizeof buffer, 0)) > 0;)
      text.append(buffer, std::size_t(got));
    return text;
  }

 private:
  int fd_;
};

// Status line, headers and body.
inline std::string http_get(int port, const std::string& path) {
  const HttpClient client(port);
  client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return client.hear();
}

}  // namespace cotillion::testing
