// A process of its own for a lab, from which nothing gets out. It is the first of a process
// namespace, so the kernel ends every process below it when it ends; it dies with whoever started
// it; and it is in a network namespace of its own, so that nothing it sends can leave the machine.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace cotillion {

struct Confinement {
  bool rootless = false;  // in a user namespace, as is needed without privileges
};
// As this process may: with root's privileges, or else rootless.
[[nodiscard]] Confinement confinement_at_hand();

// Runs `play` in there and gives its exit code: 128 and the signal's number when a signal ended it.
// Open files of the calling process are open there too. The first SIGINT or SIGTERM only lets
// `play` know, which then ends in its own time; the second ends all of it at once. Call it while
// there are no other threads. Errors say why there is no such place here, and what to do.
[[nodiscard]] Result<int> confined(const Confinement& confinement,
                                   const std::function<int()>& play);

// For `play`, and from any of its threads: whether it should come to an end.
[[nodiscard]] bool asked_to_end();

}  // namespace cotillion
