// The contract of accumulator.hpp, line by line, for every element mode.
#include "protocol/accumulator_test.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace cotillion::testing {
namespace {

// Half of the last place, relative; and of the smallest bf16, absolute.
constexpr double kRoundF32 = 0x1p-24, kRoundF64 = 0x1p-53, kRoundBf16 = 0x1p-8;
constexpr double kRoundTinyBf16 = 0x1p-134;

// What n roundings in a row can do: (1 + u)ⁿ − 1 is at most this.
double roundings(double n, double u) {
  return n * u / (1 - n * u);
}

// What some islands send for one chunk, and its true sum beside.
struct Meeting {
  std::vector<WirePayload> payloads;
  std::vector<std::uint32_t> coefficients;
  std::size_t elements = 0;

  Meeting(Element element, Random& random, bool weighted) {
    elements = std::size_t(random.between(1, 23)) * kBeatBytes / bytes_of(element);
    const auto count = std::size_t(random.between(2, 64));
    for (std::size_t k = 0; k < count; ++k) {
      payloads.push_back(random_payload(element, elements, random));
      const auto wide = std::uint32_t(random.next() >> random.between(32, 63));
      coefficients.push_back(weighted ? wide : 1);
    }
  }
  [[nodiscard]] std::vector<std::size_t> order() const {
    std::vector<std::size_t> order(payloads.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  [[nodiscard]] SumSlot sum(Element element, const std::vector<std::size_t>& order) const {
    SumSlot slot(element, elements);
    slot.write(payloads[order[0]], coefficients[order[0]]);
    for (std::size_t k = 1; k < order.size(); ++k)
      slot.add(payloads[order[k]], coefficients[order[k]]);
    return slot;
  }
  [[nodiscard]] double exact(std::size_t i) const {
    double sum = 0;
    for (std::size_t k = 0; k < payloads.size(); ++k) sum += coefficients[k] * payloads[k].value(i);
    return sum;
  }
  [[nodiscard]] double magnitude(std::size_t i) const {
    double sum = 0;
    for (std::size_t k = 0; k < payloads.size(); ++k)
      sum += coefficients[k] * std::fabs(payloads[k].value(i));
    return sum;
  }
  [[nodiscard]] std::uint32_t modulo(std::size_t i) const {
    std::uint32_t sum = 0;
    for (std::size_t k = 0; k < payloads.size(); ++k) sum += coefficients[k] * payloads[k].bits(i);
    return sum;
  }
  // Additions never underflow, and an integer times a denormal is a whole number of the smallest:
  // every rounding is relative. There are n − 1 additions, and for each contribution the conversion
  // of its coefficient and its product. The reference and this magnitude round likewise in f64.
  [[nodiscard]] double tolerance(std::size_t i) const {
    const double n = double(payloads.size());
    return (roundings(n + 1, kRoundF32) + 2 * roundings(n + 1, kRoundF64)) * magnitude(i);
  }
};

void shuffle(std::vector<std::size_t>& order, Random& random) {
  for (std::size_t k = order.size(); k > 1; --k)
    std::swap(order[k - 1], order[std::size_t(random.between(0, std::int64_t(k) - 1))]);
}

class EveryElement : public ::testing::TestWithParam<Element> {
 protected:
  // The property is given a seed of its own; rapidcheck prints it when it fails.
  template <class Property>
  static void holds(Property property) {
    EXPECT_TRUE(rc::check([&](std::uint64_t seed) {
      Random random(seed);
      property(random);
    }));
  }
  static void expect_sum(const SumSlot& slot, const Meeting& meeting) {
    for (std::size_t i = 0; i < meeting.elements; ++i) {
      if (GetParam() == Element::kI32) {
        RC_ASSERT(slot.bits(i) == meeting.modulo(i));
      } else {
        const double error = std::bit_cast<float>(slot.bits(i)) - meeting.exact(i);
        RC_ASSERT(std::fabs(error) <= meeting.tolerance(i));
      }
    }
  }
};

TEST_P(EveryElement, SumsAsTheReferenceDoes) {
  holds([](Random& random) {
    const Meeting meeting(GetParam(), random, false);
    expect_sum(meeting.sum(GetParam(), meeting.order()), meeting);
  });
}

TEST_P(EveryElement, SumsWithCoefficientsAsTheReferenceDoes) {
  holds([](Random& random) {
    const Meeting meeting(GetParam(), random, true);
    expect_sum(meeting.sum(GetParam(), meeting.order()), meeting);
  });
}

// Each order is within one tolerance of the same exact sum; integers agree to the bit.
TEST_P(EveryElement, CommutesInEveryOrderOfArrival) {
  holds([](Random& random) {
    const Meeting meeting(GetParam(), random, random.between(0, 1) == 0);
    auto order = meeting.order();
    shuffle(order, random);
    expect_sum(meeting.sum(GetParam(), order), meeting);
  });
}

TEST_P(EveryElement, CommutesToTheBitWithTwo) {
  holds([](Random& random) {
    const Meeting meeting(GetParam(), random, random.between(0, 1) == 0);
    RC_ASSERT(meeting.sum(GetParam(), {0, 1}).lanes() == meeting.sum(GetParam(), {1, 0}).lanes());
  });
}

// As when slots are evicted, or edges chained: partial sums travel as payloads of coefficient one.
TEST_P(EveryElement, AssociatesInEveryGroupingIntoPartialSums) {
  holds([](Random& random) {
    const Element element = GetParam();
    const Meeting meeting(element, random, random.between(0, 1) == 0);
    auto order = meeting.order();
    shuffle(order, random);
    std::vector<WirePayload> partials;
    for (std::size_t first = 0; first < order.size();) {
      const auto last = std::size_t(random.between(std::int64_t(first) + 1, int(order.size())));
      const std::vector group(order.begin() + std::int64_t(first),
                              order.begin() + std::int64_t(last));
      partials.push_back(meeting.sum(element, group).emit(std::size_t(random.between(0, 63))));
      first = last;
    }
    SumSlot slot(element, meeting.elements);
    slot.write(partials[0]);
    for (std::size_t k = 1; k < partials.size(); ++k) slot.add(partials[k]);
    if (element != Element::kBf16) return expect_sum(slot, meeting);
    // Emitting rounded each group once more: relative, or by half of the smallest bf16, of which
    // the additions that follow make a little more.
    const double groups = double(partials.size()), n = double(order.size());
    const double tiny = groups * kRoundTinyBf16 * (1 + roundings(n, kRoundF32));
    for (std::size_t i = 0; i < meeting.elements; ++i) {
      const double error = std::bit_cast<float>(slot.bits(i)) - meeting.exact(i);
      const double emitted = kRoundBf16 * (meeting.magnitude(i) + meeting.tolerance(i)) + tiny;
      RC_ASSERT(std::fabs(error) <= meeting.tolerance(i) + emitted);
    }
  });
}

TEST_P(EveryElement, RemembersNothingOfWhatASlotHeld) {
  holds([](Random& random) {
    const WirePayload payload = random_payload(GetParam(), 64, random);
    const std::uint32_t coefficient = random.between(0, 1) == 0 ? 1 : std::uint32_t(random.next());
    const auto fresh = SumSlot(GetParam(), 64, 0).write(payload, coefficient).lanes();
    for (const std::uint32_t garbage : {0x7fc00000u, 0xffffffffu, 0x7f800000u, 0xff800000u,
                                        0x80000000u, std::uint32_t(random.next())})
      RC_ASSERT(SumSlot(GetParam(), 64, garbage).write(payload, coefficient).lanes() == fresh);
  });
}

// To the bit, and so not fused: the product is rounded before it is added. A coefficient of one
// takes another path to the same bytes.
TEST_P(EveryElement, ScalesOneContributionByItsCoefficient) {
  holds([](Random& random) {
    const std::size_t n = 64;
    const WirePayload before = random_payload(GetParam(), n, random);
    const WirePayload payload = random_payload(GetParam(), n, random);
    for (const std::uint32_t c : {0u, 1u, 3u, 0xffffffffu, std::uint32_t(random.next())}) {
      const SumSlot written = SumSlot(GetParam(), n).write(payload, c);
      const SumSlot added = SumSlot(GetParam(), n).write(before).add(payload, c);
      for (std::size_t i = 0; i < n; ++i) {
        if (GetParam() == Element::kI32) {
          RC_ASSERT(written.bits(i) == c * payload.bits(i));
          RC_ASSERT(added.bits(i) == before.bits(i) + c * payload.bits(i));
        } else {
          const volatile float product = float(c) * float(payload.value(i));
          const float sum = float(before.value(i)) + product;
          RC_ASSERT(written.bits(i) == std::bit_cast<std::uint32_t>(float(product)));
          RC_ASSERT(added.bits(i) == std::bit_cast<std::uint32_t>(sum));
        }
      }
    }
  });
}

TEST_P(EveryElement, EmitsWhatASingleContributionBrought) {
  holds([](Random& random) {
    const WirePayload payload = random_payload(GetParam(), 96, random);
    const WirePayload out =
        SumSlot(GetParam(), 96).write(payload).emit(std::size_t(random.between(0, 63)));
    RC_ASSERT(std::ranges::equal(out.view(), payload.view()));
  });
}

INSTANTIATE_TEST_SUITE_P(Accumulator, EveryElement, ::testing::ValuesIn(kElements),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(Accumulator, EveryInstructionSetGivesTheSameBytes) {
  std::set<decltype(Accumulator::add)> kernels;
  std::size_t targets = 0;
  std::vector<std::vector<std::uint32_t>> expected;
  on_every_target([&] {
    kernels.insert(accumulator(Element::kF32).add);
    ++targets;
    Random random(1);
    std::vector<std::vector<std::uint32_t>> results;
    for (int trial = 0; trial < 100; ++trial) {
      for (const Element element : kElements) {
        const Meeting meeting(element, random, trial % 2 == 1);
        const SumSlot slot = meeting.sum(element, meeting.order());
        results.push_back(slot.lanes());
        const WirePayload out = slot.emit(std::size_t(trial % 64));
        for (std::size_t i = 0; i < meeting.elements; ++i) results.back().push_back(out.bits(i));
      }
    }
    if (expected.empty()) expected = results;
    EXPECT_TRUE(results == expected);
  });
  EXPECT_EQ(kernels.size(), targets) << "each instruction set has kernels of its own";
}

}  // namespace
}  // namespace cotillion::testing
