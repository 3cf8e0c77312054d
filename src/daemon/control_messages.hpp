// The plain messages of job/messages.hpp as protobuf's and back. What comes from the wire is
// checked here as far as one message shows it: enumerations, ranges, what must be there.
#pragma once

#include "control.pb.h"
#include "job/messages.hpp"

namespace cotillion {

[[nodiscard]] control::Envelope to_envelope(const Message& message);
[[nodiscard]] Result<Message> from_envelope(const control::Envelope& envelope);

}  // namespace cotillion
