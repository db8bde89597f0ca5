// SPDX-License-Identifier: Apache-2.0
// Elements of pictures as SVG: texts, lines, and the frame around a picture.
#pragma once

#include <string>
#include <string_view>

namespace tilewalk::pictures {

std::string escaped(std::string_view text);

std::string px(double x);
// Estimated width of a character of a 12-pixel font, in pixels.
inline constexpr double character_width = 7.2;
double width_of(std::string_view text);

// `more` are further attributes of the element, each after a space.
std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    const std::string& more = {});
std::string stroke(double x0, double y0, double x1, double y1, const std::string& look);

// A picture of this size in pixels, which shrinks with its page. `name` tells screen readers what it shows.
std::string framed(double width, double height, const std::string& kind, std::string_view name,
                   const std::string& body);

}  // namespace tilewalk::pictures
