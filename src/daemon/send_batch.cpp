#include "daemon/send_batch.hpp"

#include <netinet/udp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cotillion {
namespace {

constexpr std::size_t kRunBytesMax = 65'000;  // of one piece, within an IPv4 datagram
constexpr std::size_t kRunPacketsMax = 64;    // that every kernel with UDP_SEGMENT takes
constexpr int kTimeoutMs = 1;

}  // namespace

SendBatch::SendBatch(const UdpSocket& socket, std::size_t packets)
    : socket_(socket),
      capacity_(packets),
      messages_(packets),
      names_(packets),
      controls_(packets),
      copies_(std::size_t(1) << 20u) {
  COTILLION_CHECK(packets > 0);
  pieces_.reserve(packets);
  runs_.reserve(packets);
}

bool SendBatch::joins(const Run& run, const Endpoint& to, std::size_t bytes) const {
  return segments_ && !run.closed && run.to == to && bytes <= run.segment &&
         run.pieces < kRunPacketsMax && run.bytes + bytes <= kRunBytesMax;
}

void SendBatch::add(const Endpoint& to, ByteView packet) {
  if (pieces_.size() == capacity_) flush();
  if (runs_.empty() || !joins(runs_.back(), to, packet.size()))
    runs_.push_back({to, pieces_.size(), 0, packet.size(), 0, false});
  Run& run = runs_.back();
  ++run.pieces;
  run.bytes += packet.size();
  run.closed = packet.size() < run.segment;
  // sendmmsg takes a pointer that it could write to, and does not.
  pieces_.push_back({const_cast<std::byte*>(packet.data()), packet.size()});
}

void SendBatch::add_copy(const Endpoint& to, ByteView packet) {
  if (pieces_.size() == capacity_ || copied_ + packet.size() > std::size_t(1) << 20u) flush();
  const ByteSpan copy(copies_.at(copied_), packet.size());
  std::copy(packet.begin(), packet.end(), copy.begin());
  copied_ += packet.size();
  add(to, copy);
}

void SendBatch::lay_out() {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    names_[i] = to_sockaddr(run.to);
    msghdr& message = messages_[i].msg_hdr;
    message = {};
    message.msg_name = &names_[i];
    message.msg_namelen = sizeof names_[i];
    message.msg_iov = &pieces_[run.first];
    message.msg_iovlen = run.pieces;
    if (run.pieces == 1) continue;
    message.msg_control = controls_[i].bytes.data();
    message.msg_controllen = sizeof(Control);
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = IPPROTO_UDP;
    part->cmsg_type = UDP_SEGMENT;
    part->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
    const auto segment = std::uint16_t(run.segment);
    std::memcpy(CMSG_DATA(part), &segment, sizeof segment);
  }
}

void SendBatch::flush() {
  if (!runs_.empty()) lay_out();
  for (std::size_t run = 0; run < runs_.size();) run += send_from(run);
  runs_.clear();
  pieces_.clear();
  copied_ = 0;
}

// How many runs are done with, sent or not; at least one.
std::size_t SendBatch::send_from(std::size_t run) {
  const unsigned left = unsigned(runs_.size() - run);
  int sent = sendmmsg(socket_.fd(), &messages_[run], left, MSG_DONTWAIT);
  if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS)) {
    pollfd full{socket_.fd(), POLLOUT, 0};
    (void)poll(&full, 1, kTimeoutMs);
    sent = sendmmsg(socket_.fd(), &messages_[run], left, MSG_DONTWAIT);
  }
  for (int i = 0; i < sent; ++i) {
    counts_.packets += runs_[run + std::size_t(i)].pieces;
    counts_.bytes += runs_[run + std::size_t(i)].bytes;
  }
  if (sent > 0) return std::size_t(sent);
  // A device or a path that cannot cut up runs says so here; packets one by one still pass.
  const bool no_segments = errno == EINVAL || errno == EIO || errno == EMSGSIZE;
  if (runs_[run].pieces > 1 && no_segments)
    send_apart(runs_[run]);
  else
    counts_.dropped += runs_[run].pieces;
  return 1;
}

void SendBatch::send_apart(const Run& run) {
  segments_ = false;
  const sockaddr_in name = to_sockaddr(run.to);
  for (std::size_t i = 0; i < run.pieces; ++i) {
    const iovec& piece = pieces_[run.first + i];
    const auto sent = sendto(socket_.fd(), piece.iov_base, piece.iov_len, MSG_DONTWAIT,
                             reinterpret_cast<const sockaddr*>(&name), sizeof name);
    if (sent < 0) {
      ++counts_.dropped;
      continue;
    }
    ++counts_.packets;
    counts_.bytes += piece.iov_len;
  }
}

}  // namespace cotillion
