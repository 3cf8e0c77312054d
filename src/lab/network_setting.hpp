// Settings of the network that a kernel has for each namespace, as files under /proc/sys/net.
#pragma once

namespace cotillion {

// In the namespace of the calling thread: set_network_setting("ipv4/ip_forward", "1"). False where
// there is no such setting, or where it may not be written.
[[nodiscard]] bool set_network_setting(const char* setting, const char* value);

}  // namespace cotillion
