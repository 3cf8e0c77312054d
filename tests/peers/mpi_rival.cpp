// Open MPI's all-reduce among the islands of a lab, over TCP: started by mpirun, all ranks at the
// same place. The library first calls on its launcher by a socket; that done, each rank changes to
// its island's namespace, and what MPI_Init finds there are the island's interfaces.
#include <mpi.h>
#include <pmix.h>

#include "tests/peers/rival.hpp"

int main(int argc, char** argv) try {
  using namespace cotillion::peers;
  const Rival rival;
  pmix_proc_t self;
  if (PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) throw std::runtime_error("no PMIx: use mpirun");
  enter(rival.spaces.at(self.rank));
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  StartLine line(rival.folder + "/start-mpi-" + std::string(argc > 1 ? argv[1] : ""), size);
  std::vector<float> state(rival.elements);
  for (int time = 0; time < rival.times; ++time) {
    fill(state, rank);
    line.wait(time);
    MPI_Allreduce(MPI_IN_PLACE, state.data(), int(state.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    line.finish(time);
    check(state, size);
  }
  MPI_Finalize();
  PMIx_Finalize(nullptr, 0);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  std::fflush(stderr);
  ::_exit(1);
}
