// SPDX-License-Identifier: Apache-2.0
// The elements of pictures as SVG: texts, lines, and the frame around them.
#pragma once

#include <string>
#include <string_view>

namespace tilewalk::pictures {

std::string escaped(std::string_view text);

std::string at(double x);
// Estimated width of a text in a font of 12 pixels.
inline constexpr double character_width = 7.2;
double width_of(std::string_view text);

// `more` are further attributes, with a space before each.
std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    const std::string& more = {});
std::string stroke(double x0, double y0, double x1, double y1, const std::string& look);

// A picture of this size, which shrinks with the page around it. `name` is for screen readers.
std::string framed(double width, double height, const std::string& kind, std::string_view name,
                   const std::string& body);

}  // namespace tilewalk::pictures
