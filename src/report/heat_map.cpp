#include "report/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/text.hpp"
#include "report/chart.hpp"

namespace cotillion {
namespace {

constexpr double kHeatNameSize = 12;
constexpr double kNameLeast = 7;  // smaller ones cannot be read and are left out
constexpr double kHeatValueLeast = 7.5;
constexpr double kPanelHead = 26;
constexpr double kHeatPanelGap = 26;
constexpr double kCellWidest = 46;
constexpr double kHeatNamesWidest = 110;

// From white to the palette's blue; halfway it is still light enough for black letters.
std::string tint(double share) {
  const auto mix = [&](int full) { return int(std::lround(255 + (full - 255) * share)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0x00), mix(0x72), mix(0xb2));
}

// No more digits than fit: ".33" rather than "0.333".
std::string cell_value_text(double value, double cell) {
  if (value == 0) return "";
  for (const int decimals : {3, 2}) {
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (text.starts_with("0.")) text.erase(0, 1);
    if (text_width(text, kHeatValueLeast) <= cell - 4) return text;
  }
  return "";
}

class HeatDrawing {
 public:
  explicit HeatDrawing(const HeatMap& map) : map_(map) {
    for (const HeatPanel& panel : map.panels)
      COTILLION_CHECK(panel.values.size() == map.names.size() * map.names.size());
    shown_ = std::min(map.panels.size(), kHeatPanelsMax);
    std::string caption = map.caption;
    if (map.panels.size() > shown_)
      caption += fmt::format(" {} not drawn.", counted(map.panels.size() - shown_, "more panel"));
    caption_ = caption_lines(caption, map.width);
    lay_out();
  }

  [[nodiscard]] std::string svg() const {
    Svg svg(map_.width, height_, map_.title);
    draw_title(svg, map_.title, map_.width);
    for (std::size_t p = 0; p < shown_; ++p) draw_panel(svg, p);
    draw_caption(svg, caption_, height_);
    return svg.finish();
  }

 private:
  void lay_out() {
    const double n = double(std::max<std::size_t>(1, map_.names.size()));
    for (const std::string& name : map_.names)
      names_ = std::max(names_, text_width(name, kHeatNameSize));
    names_ = std::min(names_, kHeatNamesWidest);
    // Small ones stand in one line as far as they go, others in pairs.
    const double across = map_.width - 2 * kMargin + kHeatPanelGap;
    const auto fit = std::size_t(across / (names_ + 8 + n * kCellWidest + kHeatPanelGap));
    per_line_ = std::clamp<std::size_t>(std::max<std::size_t>(fit, n <= 16 ? 2 : 1), 1,
                                        std::max<std::size_t>(1, shown_));
    const double each = across / double(per_line_) - kHeatPanelGap;
    cell_ = std::min(kCellWidest, (each - names_ - 8) / n);
    name_size_ = std::min(kHeatNameSize, cell_ - 1);
    // Names of columns stand upright where they are wider than a cell.
    turned_ = names_ > cell_ - 2;
    above_ = kPanelHead + (name_size_ < kNameLeast ? 0 : (turned_ ? names_ + 6 : 18));
    pitch_ = {names_ + 8 + cell_ * n + kHeatPanelGap, above_ + cell_ * n + kHeatPanelGap};
    const double lines = std::ceil(double(shown_) / double(per_line_));
    height_ =
        kTitleHeight + pitch_.y * std::max(lines, 1.0) + double(caption_.size()) * kCaptionLine + 8;
  }

  void draw_panel(Svg& svg, std::size_t index) const {
    const HeatPanel& panel = map_.panels[index];
    const std::size_t line = index / per_line_;
    const Point corner{kMargin + pitch_.x * double(index % per_line_),
                       kTitleHeight + pitch_.y * double(line)};
    const Point origin{corner.x + names_ + 8, corner.y + above_};
    svg.text({corner.x, corner.y + 14}, panel.name, {.size = 13, .bold = true});
    const double most = *std::max_element(panel.values.begin(), panel.values.end());
    const std::size_t n = map_.names.size();
    for (std::size_t i = 0; i < n; ++i) {
      draw_names(svg, origin, i);
      for (std::size_t j = 0; j < n; ++j)
        draw_cell(svg, {origin.x + cell_ * double(j), origin.y + cell_ * double(i), cell_, cell_},
                  panel.values[i * n + j], most);
    }
    svg.rect({origin.x, origin.y, cell_ * double(n), cell_ * double(n)},
             {.stroke = kInk, .width = 1});
  }

  void draw_names(Svg& svg, Point origin, std::size_t i) const {
    if (name_size_ < kNameLeast) return;
    const double along = cell_ * (double(i) + 0.5);
    const std::string name = fitted(map_.names[i], name_size_, names_);
    svg.text({origin.x - 6, origin.y + along + name_size_ * 0.36}, name,
             {.size = name_size_, .anchor = Anchor::kEnd});
    if (turned_)
      svg.text({origin.x + along + name_size_ * 0.36, origin.y - 6}, name,
               {.size = name_size_, .turn = -90});
    else
      svg.text({origin.x + along, origin.y - 6}, name,
               {.size = name_size_, .anchor = Anchor::kMiddle});
  }

  void draw_cell(Svg& svg, const Box& box, double value, double most) const {
    const double share = most > 0 ? value / most : 0;
    const std::string fill = tint(share);
    svg.rect(box, {.stroke = kGrid, .width = cell_ > 6 ? 0.6 : 0.1, .fill = fill});
    const std::string text = cell_value_text(value, cell_);
    if (text.empty()) return;
    const double size =
        std::min(12.0, kHeatValueLeast * (cell_ - 4) / text_width(text, kHeatValueLeast));
    svg.text({box.centre().x, box.centre().y + size * 0.36}, text,
             {.size = size, .anchor = Anchor::kMiddle, .colour = share > 0.6 ? kWhite : kInk});
  }

  const HeatMap& map_;
  std::vector<std::string> caption_;
  std::size_t shown_ = 0, per_line_ = 1;
  double names_ = 0, cell_ = 0, name_size_ = 0, above_ = 0, height_ = 0;
  bool turned_ = false;
  Point pitch_;
};

}  // namespace

std::string heat_map_svg(const HeatMap& map) {
  return HeatDrawing(map).svg();
}

}  // namespace cotillion
