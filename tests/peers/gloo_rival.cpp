// Gloo's all-reduce among the islands of a lab, over TCP: `gloo_rival ring|halving-doubling`.
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>
#include <memory>

#include "tests/peers/rival.hpp"

namespace {

using namespace cotillion::peers;

void play(const Rival& rival, const std::string& algorithm, int rank) {
  enter(rival.spaces[std::size_t(rank)]);
  gloo::transport::tcp::attr where(rival.addresses[std::size_t(rank)].c_str());
  auto device = gloo::transport::tcp::CreateDevice(where);
  gloo::rendezvous::FileStore files(rival.folder);
  gloo::rendezvous::PrefixStore store(algorithm, files);
  const int size = int(rival.spaces.size());
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->connectFullMesh(store, device);
  StartLine line(rival.folder + "/start-" + algorithm, size);
  std::vector<float> state(rival.elements);
  std::unique_ptr<gloo::Algorithm> halving;
  if (algorithm == "halving-doubling")
    halving = std::make_unique<gloo::AllreduceHalvingDoubling<float>>(
        context, std::vector<float*>{state.data()}, int(state.size()));
  for (int time = 0; time < rival.times; ++time) {
    fill(state, rank);
    line.wait(time);
    if (halving != nullptr) {
      halving->run();
    } else {
      gloo::AllreduceOptions options(context);
      options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
      options.setOutput(state.data(), state.size());
      options.setReduceFunction(
          static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
      gloo::allreduce(options);
    }
    line.finish(time);
    check(state, size);
  }
  // Nobody leaves while others still have something to hear.
  line.wait(rival.times);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string algorithm = argc > 1 ? argv[1] : "";
  if (algorithm != "ring" && algorithm != "halving-doubling")
    throw std::runtime_error("gloo_rival ring|halving-doubling");
  const Rival rival;
  for (int rank = 0; rank < int(rival.spaces.size()); ++rank) {
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error(std::strerror(errno));
    if (child > 0) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      play(rival, algorithm, rank);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  bool good = true;
  for (int status = 0; ::wait(&status) > 0;) good = good && status == 0;
  return good ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
