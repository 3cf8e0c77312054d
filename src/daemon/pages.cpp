#include "daemon/pages.hpp"

#include <sys/mman.h>

#include <new>

namespace cotillion {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t(2) << 20u;

constexpr std::size_t whole(std::size_t bytes, std::size_t page) {
  return (bytes + page - 1) / page * page;
}

// The whole pages within it. Advice that is not taken costs speed and nothing else.
void advise(ByteSpan memory, int advice) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t first = whole(begin, kPage);
  const std::uintptr_t last = (begin + memory.size()) / kPage * kPage;
  if (first < last) (void)madvise(memory.data() + (first - begin), last - first, advice);
}

}  // namespace

Pages::Pages(std::size_t bytes)
    : data_(nullptr), bytes_(whole(bytes, bytes >= kHugePage ? kHugePage : kPage)) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  void* data = MAP_FAILED;
  if (bytes >= kHugePage) data = mmap(nullptr, bytes_, kAccess, kFlags | MAP_HUGETLB, -1, 0);
  if (data == MAP_FAILED) data = mmap(nullptr, bytes_, kAccess, kFlags, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(data);
  prefer_huge_pages({data_, bytes_});
  populate({data_, bytes_});
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

void prefer_huge_pages(ByteSpan memory) {
  if (memory.size() >= kHugePage) advise(memory, MADV_HUGEPAGE);
}

void populate(ByteSpan memory) {
#ifdef MADV_POPULATE_WRITE
  advise(memory, MADV_POPULATE_WRITE);
#else
  (void)memory;
#endif
}

}  // namespace cotillion
