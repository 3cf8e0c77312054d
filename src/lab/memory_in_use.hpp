// What a process of a lab has in memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace cotillion {

// Under which /proc knows a process that this one knows by that number: a lab's processes have a
// namespace of their own, and /proc is the machine's. Empty where it is gone.
[[nodiscard]] std::string process_name(pid_t process);

// Bytes in memory of a process's own and of what it shares on purpose, without files such as
// programs and libraries; 0 where it is gone. "self" is this one.
[[nodiscard]] std::uint64_t memory_in_use(const std::string& process);

}  // namespace cotillion
