// "The world said no" as a value. Expected has the member names of std::expected, which
// g++ 12 has only in part, so that it can be replaced by it one day. Error carries
// breadcrumbs: each layer it passes adds a line that says what was being done.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.hpp"

namespace cotillion {

struct Error {
  std::string message;

  // Puts what was being attempted in front of what went wrong.
  [[nodiscard]] Error within(const std::string& attempt) const {
    return {attempt + ": " + message};
  }
};

template <class E>
struct Unexpected {
  E error;
};
template <class E>
Unexpected(E) -> Unexpected<E>;

template <class T, class E = Error>
class [[nodiscard]] Expected {
 public:
  using value_type = T;

  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Unexpected<E> unexpected)
      : state_(std::in_place_index<1>, std::move(unexpected.error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return checked(), std::get<0>(state_); }
  const T& value() const& { return checked(), std::get<0>(state_); }
  T&& value() && { return checked(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const E& error() const {
    COTILLION_CHECK(!has_value());
    return std::get<1>(state_);
  }

 private:
  void checked() const { COTILLION_CHECK(has_value()); }
  std::variant<T, E> state_;
};

// Of what yields nothing but may fail; `return {};` says that it went well.
template <class E>
class [[nodiscard]] Expected<void, E> {
 public:
  using value_type = void;

  Expected() = default;
  Expected(Unexpected<E> unexpected) : error_(std::move(unexpected.error)) {}

  [[nodiscard]] bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }

  void value() const { COTILLION_CHECK(has_value()); }
  void operator*() const { value(); }

  [[nodiscard]] const E& error() const {
    COTILLION_CHECK(!has_value());
    return *error_;
  }

 private:
  std::optional<E> error_;
};

template <class T>
using Result = Expected<T, Error>;

inline Unexpected<Error> failure(std::string message) {
  return {Error{std::move(message)}};
}

}  // namespace cotillion
