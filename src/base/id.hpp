// Ids that the compiler tells apart, and vectors that only their own id indexes: an island's number
// cannot be taken for a lane's. An id is a number when it is printed, stored or computed with, and
// says so with value().
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

namespace cotillion {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::integral auto number) : number_(std::int32_t(number)) {}

  [[nodiscard]] constexpr std::int32_t value() const { return number_; }
  [[nodiscard]] constexpr std::size_t index() const { return std::size_t(number_); }

  constexpr Id& operator++() {
    ++number_;
    return *this;
  }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::int32_t number_ = 0;
};

// The ids 0 … count − 1, for loops: for (const IslandId island : all_ids<IslandId>(count)).
template <class AnyId>
class IdRange {
 public:
  class Iterator {
   public:
    using value_type = AnyId;
    using difference_type = std::ptrdiff_t;
    constexpr Iterator() = default;
    constexpr explicit Iterator(AnyId at) : at_(at) {}
    constexpr AnyId operator*() const { return at_; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr Iterator operator++(int) {
      const Iterator before = *this;
      ++at_;
      return before;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    AnyId at_;
  };

  constexpr explicit IdRange(std::integral auto count) : end_(count) {}
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(AnyId(0)); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(end_); }

 private:
  AnyId end_;
};

template <class AnyId>
[[nodiscard]] constexpr IdRange<AnyId> all_ids(std::integral auto count) {
  return IdRange<AnyId>(count);
}

// One value for each id. Whoever needs the plain vector asks for plain().
template <class AnyId, class Value>
class IdVector {
 public:
  using value_type = Value;
  using reference = typename std::vector<Value>::reference;
  using const_reference = typename std::vector<Value>::const_reference;

  IdVector() = default;
  explicit IdVector(std::integral auto count) : values_(std::size_t(count)) {}
  IdVector(std::integral auto count, const Value& value) : values_(std::size_t(count), value) {}
  IdVector(std::initializer_list<Value> values) : values_(values) {}
  explicit IdVector(std::vector<Value> values) : values_(std::move(values)) {}

  [[nodiscard]] reference operator[](AnyId id) { return values_[id.index()]; }
  [[nodiscard]] const_reference operator[](AnyId id) const { return values_[id.index()]; }
  [[nodiscard]] bool has(AnyId id) const { return id.value() >= 0 && id.index() < values_.size(); }
  [[nodiscard]] IdRange<AnyId> ids() const { return all_ids<AnyId>(values_.size()); }
  [[nodiscard]] AnyId next_id() const { return AnyId(values_.size()); }  // of what is added next

  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] auto begin() { return values_.begin(); }
  [[nodiscard]] auto end() { return values_.end(); }
  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }
  [[nodiscard]] reference front() { return values_.front(); }
  [[nodiscard]] const_reference front() const { return values_.front(); }
  [[nodiscard]] reference back() { return values_.back(); }
  [[nodiscard]] const_reference back() const { return values_.back(); }
  [[nodiscard]] auto data() { return values_.data(); }
  [[nodiscard]] auto data() const { return values_.data(); }
  void clear() { values_.clear(); }
  void reserve(std::size_t count) { values_.reserve(count); }
  void resize(std::size_t count) { values_.resize(count); }
  void assign(std::size_t count, const Value& value) { values_.assign(count, value); }
  void push_back(Value value) { values_.push_back(std::move(value)); }
  template <class... Arguments>
  reference emplace_back(Arguments&&... arguments) {
    return values_.emplace_back(std::forward<Arguments>(arguments)...);
  }
  [[nodiscard]] std::vector<Value>& plain() { return values_; }
  [[nodiscard]] const std::vector<Value>& plain() const { return values_; }

  friend bool operator==(const IdVector&, const IdVector&) = default;

 private:
  std::vector<Value> values_;
};

}  // namespace cotillion

template <class Tag>
struct std::hash<cotillion::Id<Tag>> {
  std::size_t operator()(cotillion::Id<Tag> id) const noexcept { return id.index(); }
};
