// SVG to PNG, for readers whose tools want pixels. It is the one place that knows librsvg; the
// figures themselves are drawn without any library.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cotillion {

// The bytes of a PNG file, `scale` times as many pixels as the drawing is large. Nothing outside
// the given text is read.
[[nodiscard]] Result<std::string> png_of_svg(const std::string& svg, double scale);

}  // namespace cotillion
