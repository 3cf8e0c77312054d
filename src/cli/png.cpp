#include "cli/png.hpp"

#include <cairo.h>
#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>

namespace cotillion {
namespace {

constexpr double kPixelsMost = 16384;  // to a side; cairo itself ends at 32,767

struct Release {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(GError* error) const { g_error_free(error); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
template <class T>
using Owned = std::unique_ptr<T, Release>;

std::string message_of(GError* error) {
  const Owned<GError> owned(error);
  return owned ? owned->message : "librsvg gives no reason";
}

cairo_status_t append(void* text, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

Result<std::string> png_of_svg(const std::string& svg, double scale) {
  GError* error = nullptr;
  // Without a base address the handle follows no reference to any file.
  const Owned<RsvgHandle> handle(
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  if (!handle) return failure("cannot read the drawing: " + message_of(error));
  double width = 0, height = 0;
  if (!rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height))
    return failure("the drawing has no size in pixels");
  width = std::ceil(width * scale);
  height = std::ceil(height * scale);
  if (!(width >= 1 && height >= 1 && width <= kPixelsMost && height <= kPixelsMost))
    return failure("the picture would be larger than 16,384 pixels to a side, or empty");

  const Owned<cairo_surface_t> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, int(width), int(height)));
  const Owned<cairo_t> context(cairo_create(surface.get()));
  cairo_set_source_rgb(context.get(), 1, 1, 1);
  cairo_paint(context.get());
  const RsvgRectangle viewport{0, 0, width, height};
  if (!rsvg_handle_render_document(handle.get(), context.get(), &viewport, &error))
    return failure("cannot draw the picture: " + message_of(error));
  std::string png;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
  if (status != CAIRO_STATUS_SUCCESS)
    return failure(std::string("cannot write the picture: ") + cairo_status_to_string(status));
  return png;
}

}  // namespace cotillion
