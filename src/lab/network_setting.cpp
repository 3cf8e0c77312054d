#include "lab/network_setting.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "lab/descriptor.hpp"

namespace cotillion {

bool set_network_setting(const char* setting, const char* value) {
  const std::string path = std::string("/proc/sys/net/") + setting;
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.is_open() &&
         ::write(file.get(), value, std::strlen(value)) == ssize_t(std::strlen(value));
}

}  // namespace cotillion
