// Averages a vector across islands while each goes on "training" its own copy. Start one beside the
// agent of every island:
//
//   average /run/cotillion/TYO.sock [ROUNDS_OF_TRAINING]
//
// Its training is an addition, so that anyone can check the outcome: corrections move islands
// towards one another and leave the sum of all islands as it is. When nobody trains any more, all
// of them end with the same mean.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "api/cotillion.hpp"

using cotillion::api::Job;

namespace {

int run(const char* socket, unsigned training_rounds) {
  Job job(socket);
  // Multiples of three, so that thirds are whole and sums on a grid of integers are exact.
  const float own = 3.0F * float(job.self() + 1);
  std::vector<float> model(job.elements());
  for (std::size_t i = 0; i < model.size(); ++i) model[i] = own * float(i % 5);

  job.offer([&](std::uint64_t first, std::span<float> values) {
    std::copy_n(model.begin() + std::ptrdiff_t(first), values.size(), values.begin());
  });
  double learned = 0;
  unsigned missing = 0, rounds = 0;
  while (job.step()) {
    const auto correction = job.merge_next(model, 30.0);
    if (!correction) break;
    rounds = correction->round;
    if (correction->absent > 0) {
      ++missing;
      std::printf("%s\n", job.missing().c_str());
    }
    if (correction->round > training_rounds) continue;
    for (float& x : model) x += own;  // a step of training
    learned += own;
  }
  job.merge(model);  // what came with the end
  const auto [least, most] = std::minmax_element(model.begin(), model.end());
  double sum = 0;
  for (const float x : model) sum += x;
  std::printf("island %s: %u rounds, %u with somebody missing, learned %.0f, sum %.0f, %g to %g\n",
              job.island(job.self()).c_str(), rounds, missing, learned, sum, *least, *most);
  return missing == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: average SOCKET [ROUNDS_OF_TRAINING]\n");
    return 2;
  }
  return run(argv[1], argc > 2 ? unsigned(std::atoi(argv[2])) : 0);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
