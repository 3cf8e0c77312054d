// Ids that the compiler tells apart, and vectors that only their own id indexes: an island's number
// cannot be taken for a lane's. An id is the number that it stands for wherever a number is asked
// for; no number becomes an id unless the code says so, and no id becomes another.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace cotillion {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  // A constant may stand for an id: 0, or −1 for none.
  template <std::integral Number>
  consteval Id(Number constant) : number_(std::int32_t(constant)) {}  // NOLINT: implicit
  // Any other number has to be called one. More constrained, hence what IslandId(number) means.
  template <std::integral Number>
  requires true constexpr explicit Id(Number number) : number_(std::int32_t(number)) {}
  // Of a kind that is a special case of this one: its tag says so.
  template <class Special>
  requires std::same_as<typename Special::IsAlso, Tag>
  constexpr Id(Id<Special> id) : number_(id) {}

  // The number itself; what can be computed, indexed and compared with.
  constexpr operator std::int32_t() const { return number_; }  // NOLINT: meant to be implicit

  constexpr Id& operator++() {
    ++number_;
    return *this;
  }

 private:
  std::int32_t number_ = 0;
};

// Ids of different kinds are never equal, and none comes before the other; those of one kind
// compare as their numbers do.
template <class Tag, class Other>
concept IdsApart = !std::same_as<Tag, Other> && !std::constructible_from<Id<Tag>, Id<Other>> &&
                   !std::constructible_from<Id<Other>, Id<Tag>>;
template <class Tag, class Other>
requires IdsApart<Tag, Other>
bool operator==(Id<Tag>, Id<Other>) = delete;
template <class Tag, class Other>
requires IdsApart<Tag, Other> std::strong_ordering operator<=>(Id<Tag>, Id<Other>) = delete;

// The ids 0 … count − 1, for loops: for (const IslandId island : all_ids<IslandId>(count)).
template <class AnyId>
class IdRange {
 public:
  struct Iterator {
    AnyId at;
    constexpr AnyId operator*() const { return at; }
    constexpr Iterator& operator++() {
      ++at;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;
  };

  constexpr explicit IdRange(std::integral auto count) : end_(count) {}
  [[nodiscard]] constexpr Iterator begin() const { return {AnyId(0)}; }
  [[nodiscard]] constexpr Iterator end() const { return {end_}; }

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

  [[nodiscard]] reference operator[](AnyId id) { return values_[std::size_t(id)]; }
  [[nodiscard]] const_reference operator[](AnyId id) const { return values_[std::size_t(id)]; }
  [[nodiscard]] bool has(AnyId id) const { return id >= 0 && std::size_t(id) < values_.size(); }
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
  void resize(std::size_t count, const Value& value) { values_.resize(count, value); }
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
