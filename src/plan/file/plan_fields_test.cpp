// Every field of a plan in turn, missing or with anything else in its place.
#include "plan/file/plan_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/base/sanitized.hpp"
#include "tests/support/plan/json_pointers.hpp"
#include "tests/support/plan/plan_refusals.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;
using testing::plan_of;
using testing::pointers_of;
using testing::refusals_of;

// "/rounds/0/start_ms" → "rounds[0].start_ms"
std::string path_of(const std::string& pointer) {
  std::string path;
  for (std::size_t at = 1; at <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at), pointer.size());
    const std::string step = pointer.substr(at, end - at);
    const bool index = step.find_first_not_of("0123456789") == std::string::npos;
    path += index ? fmt::format("[{}]", step) : (path.empty() ? "" : ".") + step;
    at = end + 1;
  }
  return path;
}

// What follows from other fields, or is for people only, is not read; nor are names of inputs.
bool is_unread(const std::string& pointer) {
  static const std::set<std::string> kUnread = {"binding", "explanation", "utilisation",
                                                "staleness_ms", "steps_per_round"};
  const std::string last = pointer.substr(pointer.rfind('/') + 1);
  const bool use = pointer.find("/links/") != pointer.npos && (last == "from" || last == "to");
  const bool edge = pointer.find("/rounds/") == 0 &&
                    pointer.find("/aggregators/") != pointer.npos &&
                    pointer.find("/serves") != pointer.npos;
  const bool memory = pointer.find("/rounds/") == 0 && last == "memory_bytes";
  return kUnread.contains(last) || use || edge || memory || pointer.find("/inputs/") == 0;
}

// Of values that are tried. No divisor of how many there are, so that fields alike are given
// different ones.
constexpr int kOneIn = testing::kSanitized ? 11 : 1;

TEST(PlanField, EveryMissingFieldIsNamed) {
  const Json plan = plan_of();
  for (const std::string& pointer : pointers_of(plan, is_unread)) {
    const Json::json_pointer where(pointer);
    if (!plan[where.parent_pointer()].is_object() || where.back() == "weights") continue;
    Json json = plan;
    json[where.parent_pointer()].erase(where.back());
    const auto refusals = refusals_of(json.dump());
    EXPECT_THAT(refusals, ::testing::Contains(HasSubstr(path_of(pointer) + ": missing")));
    EXPECT_EQ(std::set(refusals.begin(), refusals.end()).size(), refusals.size()) << pointer;
  }
}

TEST(PlanField, EveryValueOfAnotherKindIsNamed) {
  const Json plan = plan_of();
  const std::vector<Json> kinds = {true, "x", -7, Json::array({1, "y"}), {{"z", 1}}, 0.25, nullptr};
  int tried = 0;
  for (const std::string& pointer : pointers_of(plan, is_unread)) {
    const Json::json_pointer where(pointer);
    for (const Json& other : kinds) {
      if (tried++ % kOneIn != 0) continue;
      const Json& given = plan[where];
      // Whole or not, positive or not: those are numbers. Null stands for what there is not.
      if (given.type() == other.type() || other.is_null() || given.is_null() ||
          (given.is_number_float() && other == 0.25))
        continue;
      Json json = plan;
      json[where] = other;
      const auto refusals = refusals_of(json.dump());
      const std::string path = path_of(pointer);
      ASSERT_FALSE(refusals.empty()) << path << " = " << other;
      EXPECT_THAT(refusals, ::testing::Contains(HasSubstr(path))) << path << " = " << other;
      EXPECT_EQ(std::set(refusals.begin(), refusals.end()).size(), refusals.size())
          << path << " = " << other;
    }
  }
}

// Whatever is put anywhere: refused with remedies, or read, but never the end of the program.
TEST(PlanField, NoValueAnywhereEndsTheProgram) {
  const Json plan = plan_of();
  const std::vector<Json> values = {nullptr,
                                    0,
                                    1,
                                    2,
                                    17,
                                    18,
                                    -1,
                                    1e290,
                                    1e-300,
                                    "A",
                                    "hub",
                                    "net",
                                    INT64_MAX,
                                    UINT64_MAX,
                                    Json::array(),
                                    Json::object()};
  int tried = 0, refused = 0, read = 0;
  for (const std::string& pointer : pointers_of(plan, is_unread))
    for (const Json& value : values) {
      if (tried++ % kOneIn != 0) continue;
      Json json = plan;
      json[Json::json_pointer(pointer)] = value;
      (refusals_of(json.dump()).empty() ? read : refused) += 1;
    }
  EXPECT_GT(refused, 4 * read);
}

}  // namespace
}  // namespace cotillion
