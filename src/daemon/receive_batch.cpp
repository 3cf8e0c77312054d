#include "daemon/receive_batch.hpp"

#include <netinet/udp.h>

#include <cstring>

namespace cotillion {
namespace {

constexpr std::size_t kPieceBytes = 1u << 16u;  // more than a datagram or a coalesced run has

}  // namespace

ReceiveBatch::ReceiveBatch(int messages)
    : buffers_(std::size_t(messages) * kPieceBytes),
      messages_(std::size_t(messages)),
      pieces_(std::size_t(messages)),
      names_(std::size_t(messages)),
      controls_(std::size_t(messages)),
      heard_pieces_(std::size_t(messages)),
      used_(0) {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    pieces_[i] = {buffers_.at(i * kPieceBytes), kPieceBytes};
    messages_[i] = {};
    messages_[i].msg_hdr.msg_name = &names_[i];
    messages_[i].msg_hdr.msg_iov = &pieces_[i];
    messages_[i].msg_hdr.msg_iovlen = 1;
    messages_[i].msg_hdr.msg_control = controls_[i].bytes.data();
    arm(i);
  }
}

void ReceiveBatch::arm(std::size_t i) {
  messages_[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
  messages_[i].msg_hdr.msg_controllen = sizeof(Control);
  messages_[i].msg_hdr.msg_flags = 0;
}

int ReceiveBatch::receive(const UdpSocket& socket) {
  for (std::size_t i = 0; i < used_; ++i) arm(i);
  used_ = 0;
  const int came =
      recvmmsg(socket.fd(), messages_.data(), unsigned(messages_.size()), MSG_DONTWAIT, nullptr);
  if (came <= 0) return 0;
  used_ = std::size_t(came);
  for (std::size_t i = 0; i < used_; ++i) read(i);
  return came;
}

void ReceiveBatch::read(std::size_t i) {
  msghdr& message = messages_[i].msg_hdr;
  HeardPiece& arrival = heard_pieces_[i];
  arrival.from = to_endpoint(names_[i]);
  arrival.to = 0;
  arrival.bytes = {buffers_.at(i * kPieceBytes), messages_[i].msg_len};
  arrival.segment = std::max<std::size_t>(1, arrival.bytes.size());
  arrival.truncated = (message.msg_flags & MSG_TRUNC) != 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part))
    if (part->cmsg_level == IPPROTO_UDP && part->cmsg_type == UDP_GRO) {
      int segment = 0;
      std::memcpy(&segment, CMSG_DATA(part), sizeof segment);
      if (segment > 0) arrival.segment = std::size_t(segment);
    } else if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
      in_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(part), sizeof info);
      arrival.to = ntohl(info.ipi_addr.s_addr);
    }
}

}  // namespace cotillion
