#include "base/fingerprint.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/check.hpp"

namespace cotillion {

std::string fingerprint(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  COTILLION_CHECK(done == 1 && size == 32);
  std::string text = "sha256:";
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace cotillion
