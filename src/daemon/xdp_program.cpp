#include "daemon/xdp_program.hpp"

#include <fmt/format.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

namespace cotillion {
namespace {

constexpr int kQueuesMax = 64;
// Behind Ethernet, IPv4 without options and UDP.
constexpr int kKind = 12, kVersion = 14, kFragment = 20, kProtocol = 23, kTo = 30, kPort = 36,
              kHeadersParsed = 42;

// Parts of an instruction's code that are zero are left out.
constexpr int kAddConstant = BPF_ALU64;    // BPF_ADD, BPF_K
constexpr int kLoadLongConstant = BPF_DW;  // BPF_LD, BPF_IMM

int call(bpf_cmd command, bpf_attr& attributes) {
  return int(syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

bpf_insn insn(int code, int to, int from, int offset, std::int32_t value) {
  bpf_insn made{};
  made.code = std::uint8_t(code);
  made.dst_reg = std::uint8_t(to & 0xf);
  made.src_reg = std::uint8_t(from & 0xf);
  made.off = std::int16_t(offset);
  made.imm = value;
  return made;
}

// Register 1 holds the context, 2 and 3 where the frame begins and ends, 4 what is looked at. Jumps
// to the end, where a frame goes on its way, are filled in last.
std::vector<bpf_insn> frames_of(std::uint16_t port, int map) {
  std::vector<bpf_insn> code;
  std::vector<std::size_t> to_pass;
  const auto add = [&](int op, int to, int from, int offset, std::int32_t value) {
    code.push_back(insn(op, to, from, offset, value));
  };
  const auto pass_if = [&](int op, int reg, int other, std::int32_t value) {
    to_pass.push_back(code.size());
    add(BPF_JMP | op, reg, other, 0, value);
  };
  const auto load = [&](int size, int offset) { add(BPF_LDX | BPF_MEM | size, 4, 2, offset, 0); };
  const auto network = [](int value) {
    return std::int32_t(std::endian::native == std::endian::little
                            ? __builtin_bswap16(std::uint16_t(value))
                            : value);
  };
  add(BPF_LDX | BPF_MEM | BPF_W, 2, 1, offsetof(xdp_md, data), 0);
  add(BPF_LDX | BPF_MEM | BPF_W, 3, 1, offsetof(xdp_md, data_end), 0);
  add(BPF_ALU64 | BPF_MOV | BPF_X, 4, 2, 0, 0);
  add(kAddConstant, 4, 0, 0, kHeadersParsed);
  pass_if(BPF_JGT | BPF_X, 4, 3, 0);
  load(BPF_H, kKind);
  pass_if(BPF_JNE | BPF_K, 4, 0, network(0x0800));
  load(BPF_B, kVersion);
  pass_if(BPF_JNE | BPF_K, 4, 0, 0x45);
  load(BPF_H, kFragment);
  add(BPF_ALU64 | BPF_AND | BPF_K, 4, 0, 0, network(0x3fff));
  pass_if(BPF_JNE | BPF_K, 4, 0, 0);
  load(BPF_B, kProtocol);
  pass_if(BPF_JNE | BPF_K, 4, 0, 17);
  load(BPF_B, kTo);
  add(BPF_ALU64 | BPF_AND | BPF_K, 4, 0, 0, 0xf0);
  pass_if(BPF_JNE | BPF_K, 4, 0, 0xe0);
  load(BPF_H, kPort);
  pass_if(BPF_JNE | BPF_K, 4, 0, network(port));
  add(BPF_LDX | BPF_MEM | BPF_W, 2, 1, offsetof(xdp_md, rx_queue_index), 0);
  add(kLoadLongConstant, 1, BPF_PSEUDO_MAP_FD, 0, map);
  add(0, 0, 0, 0, 0);                                   // the second half of that
  add(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, XDP_PASS);  // when no socket is there
  add(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map);
  add(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
  for (const std::size_t jump : to_pass) code[jump].off = std::int16_t(code.size() - jump - 1);
  add(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS);
  add(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
  return code;
}

Unexpected<Error> program_refused(const char* what, XdpProgram& program,
                                  const std::string& remedy) {
  const std::string why = std::strerror(errno);
  close_all(program);
  return failure(fmt::format("{}: {}; {}", what, why, remedy));
}

}  // namespace

Result<XdpProgram> attach_xdp_program(int interface_index, std::uint16_t port) {
  XdpProgram made;
  bpf_attr map{};
  map.map_type = BPF_MAP_TYPE_XSKMAP;
  map.key_size = map.value_size = 4;
  map.max_entries = kQueuesMax;
  made.map = call(BPF_MAP_CREATE, map);
  if (made.map < 0) return program_refused("AF_XDP map", made, "needs CAP_BPF and CAP_NET_ADMIN");

  const std::vector<bpf_insn> code = frames_of(port, made.map);
  std::array<char, 4096> log{};
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_XDP;
  load.insns = reinterpret_cast<std::uintptr_t>(code.data());
  load.insn_cnt = std::uint32_t(code.size());
  load.license = reinterpret_cast<std::uintptr_t>("GPL");
  load.log_buf = reinterpret_cast<std::uintptr_t>(log.data());
  load.log_size = log.size();
  load.log_level = 1;
  made.program = call(BPF_PROG_LOAD, load);
  if (made.program < 0) return program_refused("AF_XDP program", made, log.data());

  // The driver's own hook where it has one.
  for (const std::uint32_t mode : {0u, std::uint32_t(XDP_FLAGS_SKB_MODE)}) {
    bpf_attr link{};
    link.link_create.prog_fd = std::uint32_t(made.program);
    link.link_create.target_ifindex = std::uint32_t(interface_index);
    link.link_create.attach_type = BPF_XDP;
    link.link_create.flags = mode;
    made.link = call(BPF_LINK_CREATE, link);
    if (made.link >= 0) return made;
  }
  return program_refused(
      "AF_XDP on this interface", made,
      "its driver lacks XDP, its MTU is beyond a page, or another program stands there");
}

bool put_socket(const XdpProgram& program, int queue, int socket) {
  bpf_attr put{};
  put.map_fd = std::uint32_t(program.map);
  put.key = reinterpret_cast<std::uintptr_t>(&queue);
  put.value = reinterpret_cast<std::uintptr_t>(&socket);
  return queue >= 0 && queue < kQueuesMax && call(BPF_MAP_UPDATE_ELEM, put) == 0;
}

void close_all(XdpProgram& program) {
  for (int* fd : {&program.link, &program.program, &program.map}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
}

}  // namespace cotillion
