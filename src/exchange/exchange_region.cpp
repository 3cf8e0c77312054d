#include "exchange/exchange_region.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "exchange/clock.hpp"
#include "exchange/correction.hpp"

namespace cotillion {
namespace {

constexpr std::uint64_t kMagic = 0x33'6b73'6564'746f;  // of this layout; another one, another word
constexpr std::size_t kNameBytes = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kPlaces = 2;  // for copies of each fragment

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<ExchangeState>::is_always_lock_free);

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

// Where things lie.
struct Layout {
  Layout(std::uint64_t elements, std::size_t fragment_count, std::size_t islands,
         std::uint64_t largest)
      : fragments(whole_pages(sizeof(RegionHeader))),
        names(fragments + fragment_count * sizeof(RegionFragment)),
        copies(whole_pages(names + islands * kNameBytes)),
        pending_corrections(whole_pages(copies + kPlaces * elements * sizeof(float))),
        pending_elements(whole_pages(largest * sizeof(float)) / sizeof(float)),
        bytes(pending_corrections + fragment_count * pending_elements * sizeof(float)) {}
  std::size_t fragments, names, copies, pending_corrections, pending_elements, bytes;
};

Unexpected<Error> refused(const char* call) {
  return failure(
      fmt::format("shared memory for training code: {}: {}; check /dev/shm, ulimit -n "
                  "and free memory",
                  call, std::strerror(errno)));
}

std::byte* map(int fd, std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

Result<ExchangeRegion> ExchangeRegion::make(const RegionSpec& spec) {
  std::uint64_t largest = 0;
  for (const RegionRun& run : spec.fragments) largest = std::max(largest, run.count);
  const Layout layout(spec.elements, spec.fragments.size(), spec.islands.size(), largest);
  const int fd = ::memfd_create("cotillion", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return refused("memfd_create");
  if (::ftruncate(fd, off_t(layout.bytes)) != 0) {
    const auto error = refused("ftruncate");
    ::close(fd);
    return error;
  }
  // Or the other process could take our memory away under our hands.
  (void)::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  std::byte* memory = map(fd, layout.bytes);
  if (memory == nullptr) {
    const auto error = refused("mmap");
    ::close(fd);
    return error;
  }
  auto* words = new (memory) RegionHeader{};  // fresh pages are zero, and so are its words
  words->magic = kMagic;
  words->bytes = layout.bytes;
  words->elements = spec.elements;
  words->largest = largest;
  words->fragments = std::uint32_t(spec.fragments.size());
  words->islands = std::uint32_t(spec.islands.size());
  words->self = std::uint32_t(spec.self);
  for (std::size_t f = 0; f < spec.fragments.size(); ++f) {
    auto* fragment = new (memory + layout.fragments + f * sizeof(RegionFragment)) RegionFragment{};
    fragment->run = spec.fragments[f];
    COTILLION_CHECK(fragment->run.first + fragment->run.count <= spec.elements);
  }
  for (std::size_t i = 0; i < spec.islands.size(); ++i)
    std::memcpy(memory + layout.names + i * kNameBytes, spec.islands[i].data(),
                std::min(spec.islands[i].size(), kNameBytes - 1));
  return ExchangeRegion(fd, memory, layout.bytes);
}

Result<ExchangeRegion> ExchangeRegion::open(int fd) {
  struct stat seen {};
  if (::fstat(fd, &seen) != 0 || std::size_t(seen.st_size) < sizeof(RegionHeader)) {
    ::close(fd);
    return failure("what the agent shares is no region");
  }
  const auto bytes = std::size_t(seen.st_size);
  std::byte* memory = map(fd, bytes);
  if (memory == nullptr) {
    const auto error = refused("mmap");
    ::close(fd);
    return error;
  }
  const auto* words = reinterpret_cast<const RegionHeader*>(memory);
  if (words->magic != kMagic || words->bytes != bytes || words->elements > bytes ||
      words->fragments > bytes || words->islands > bytes || words->largest > words->elements ||
      Layout(words->elements, words->fragments, words->islands, words->largest).bytes != bytes) {
    ::munmap(memory, bytes);
    ::close(fd);
    return failure("the agent's region is of another version; use the same on both sides");
  }
  return ExchangeRegion(fd, memory, bytes);
}

ExchangeRegion::ExchangeRegion(int fd, std::byte* memory, std::size_t bytes)
    : fd_(fd),
      memory_(memory),
      bytes_(bytes),
      words_(std::launder(reinterpret_cast<RegionHeader*>(memory))) {
  const Layout layout(words_->elements, words_->fragments, words_->islands, words_->largest);
  fragments_ = std::launder(reinterpret_cast<RegionFragment*>(memory + layout.fragments));
  names_ = reinterpret_cast<char*>(memory + layout.names);
  for (std::uint32_t f = 0; f < words_->fragments; ++f) runs_.push_back(fragments_[f].run);
  copies_ = reinterpret_cast<float*>(memory + layout.copies);
  elements_ = words_->elements;
  pending_ = reinterpret_cast<float*>(memory + layout.pending_corrections);
  pending_elements_ = layout.pending_elements;
}

ExchangeRegion::ExchangeRegion(ExchangeRegion&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      words_(other.words_),
      runs_(std::move(other.runs_)),
      fragments_(other.fragments_),
      names_(other.names_),
      copies_(other.copies_),
      pending_(other.pending_),
      elements_(other.elements_),
      pending_elements_(other.pending_elements_) {}

ExchangeRegion::~ExchangeRegion() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
  if (fd_ >= 0) ::close(fd_);
}

std::string ExchangeRegion::island(int number) const {
  if (number < 0 || std::uint32_t(number) >= words_->islands) return "?";
  const char* name = names_ + std::size_t(number) * kNameBytes;
  return {name, ::strnlen(name, kNameBytes)};
}

// What the other process writes into shared words may be anything: places and pending corrections
// stay in bounds.
std::span<float> ExchangeRegion::place(int f, unsigned place) const {
  const RegionRun& run = runs_[std::size_t(f)];
  return {copies_ + place % kPlaces * elements_ + run.first, run.count};
}

std::span<float> ExchangeRegion::copy(int f) const {
  return place(f, fragments_[f].fresh);
}

std::span<float> ExchangeRegion::pending(int f, std::uint32_t pending) const {
  return {pending_ + pending % runs_.size() * pending_elements_, runs_[std::size_t(f)].count};
}

std::span<float> ExchangeRegion::room(int f) const {
  const RegionFragment& fragment = fragments_[f];
  for (const unsigned at : {fragment.fresh % 2, 1 - fragment.fresh % 2})
    if ((fragment.flying >> at & 1) == 0) return place(f, at);
  return {};
}

bool ExchangeRegion::try_hold(int f, Holder who) const {
  auto nobody = std::uint32_t(Holder::kNobody);
  return fragments_[f].holder.compare_exchange_strong(nobody, std::uint32_t(who),
                                                      std::memory_order_acquire);
}

void ExchangeRegion::let_go(int f) const {
  fragments_[f].holder.store(std::uint32_t(Holder::kNobody), std::memory_order_release);
}

void ExchangeRegion::tell(ExchangeState state, const std::string& reason) const {
  if (!reason.empty()) words_->reason.write(reason);
  words_->state.store(state, std::memory_order_release);
  announce();
}

void ExchangeRegion::announce() const {
  words_->news.fetch_add(1, std::memory_order_release);
  (void)::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&words_->news), FUTEX_WAKE, INT32_MAX,
                  nullptr, nullptr, 0);
}

void ExchangeRegion::offered(int f, std::int64_t now_ns) const {
  RegionFragment& fragment = fragments_[f];
  if ((fragment.flying >> fragment.fresh % 2 & 1) != 0) fragment.fresh = 1 - fragment.fresh % 2;
  if (fragment.made != fragment.taken)
    correct(copy(f), fragment.account.scale, copy(f), pending(f));
  fragment.offered_ns = now_ns;
  fragment.offers.fetch_add(1, std::memory_order_release);
}

void ExchangeRegion::wait(std::uint32_t news, Duration most) const {
  if (most.ps <= 0) return;
  const timespec limit = timespec_of(most);
  (void)::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&words_->news), FUTEX_WAIT, news,
                  &limit, nullptr, 0);
}

}  // namespace cotillion
