#include "cli/torch_module.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "cli/world.hpp"

namespace cotillion::cli {
namespace {

// Beside the program, or where libraries of installed programs are.
MakeLearner find_maker() {
  // Threads that have nothing to do then sleep instead of spinning; read when the library loads.
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path folder = program.parent_path();
  std::string reason = "libcotillion_torch.so is not there";
  for (const auto& place : {folder, folder / ".." / "lib" / "cotillion"}) {
    const std::filesystem::path library = place / "libcotillion_torch.so";
    if (!std::filesystem::exists(library, error)) continue;
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      reason = dlerror();
      continue;
    }
    if (void* const symbol = dlsym(handle, kMakeLearner))
      return reinterpret_cast<MakeLearner>(symbol);  // NOLINT(performance-no-int-to-ptr)
    reason = library.string() + " is another library";
  }
  throw Stop{kSystemError, "nothing can be trained: " + reason +
                               "; configure the build with -DCOTILLION_TORCH=ON"};
}

}  // namespace

std::unique_ptr<Learner> load_learner(const LearnerSettings& settings) {
  static const MakeLearner make = find_maker();
  std::string error;
  std::unique_ptr<Learner> learner(make(&settings, &error));
  if (!learner) throw std::runtime_error(error);
  return learner;
}

}  // namespace cotillion::cli
