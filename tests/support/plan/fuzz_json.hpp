// Bytes taken as edits of a sound JSON file: few inputs of a fuzzer spell a whole one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan/file/plan_file.hpp"

namespace cotillion::testing {

// A file and where its values are.
class JsonPlot {
 public:
  explicit JsonPlot(Json json) : json_(std::move(json)) { collect(json_, Json::json_pointer()); }

  // Where and what, again and again, until the bytes end.
  [[nodiscard]] std::string edited(const std::uint8_t* data, std::size_t size) const {
    static const std::array<Json, 14> kValues = {
        nullptr, true,  false,     -1,        1e290,          1e-300,        0.5,
        "hub",   "net", INT64_MAX, INT64_MIN, Json::object(), Json::array(), UINT64_MAX};
    std::size_t at = 0;
    const auto next = [&]() -> std::size_t { return at < size ? data[at++] : 0; };
    Json json = json_;
    const auto place = [&]() -> const Json::json_pointer& {
      const std::size_t high = next();
      return places_[(high * 256 + next()) % places_.size()];
    };
    while (at < size) {
      const Json::json_pointer& where = place();
      if (!json.contains(where)) continue;
      const std::size_t what = next();
      if (what < kValues.size()) {
        json[where] = kValues[what];
      } else if (what < 64) {
        json[where] = int(what) - int(kValues.size());
      } else if (what < 128) {
        const Json::json_pointer& from = place();
        if (json.contains(from)) json[where] = Json(json[from]);
      } else if (what < 192) {
        Json& list = json[where];
        if (list.is_array() && !list.empty()) list.push_back(Json(list[next() % list.size()]));
      } else if (json[where.parent_pointer()].is_object()) {
        json[where.parent_pointer()].erase(where.back());
      } else {
        json[where.parent_pointer()].erase(std::size_t(std::stoul(where.back())));
      }
    }
    return json.dump();
  }

 private:
  void collect(const Json& json, const Json::json_pointer& at) {
    if (!at.empty()) places_.push_back(at);
    if (!json.is_structured()) return;
    for (const auto& [key, value] : json.items())
      collect(value, json.is_array() ? at / std::size_t(std::stoul(key)) : at / key);
  }

  Json json_;
  std::vector<Json::json_pointer> places_;
};

}  // namespace cotillion::testing
