// SPDX-License-Identifier: Apache-2.0
// The elements of pictures as SVG: texts, lines, and the frame around them.
#pragma once

#include <string>
#include <string_view>

namespace tilewalk::pictures {

// Text for XML and HTML, with controls made visible.
std::string escaped(std::string_view text);

// A length in pixels.
std::string at(double x);
// About as wide as a text is drawn, in a font of 12 pixels.
inline constexpr double character_width = 7.2;
double width_of(std::string_view text);

// `more` are further attributes, with a space before each.
std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    const std::string& more = {});
// `look` are the attributes that say how the line looks.
std::string stroke(double x0, double y0, double x1, double y1, const std::string& look);

// A picture of this size, which shrinks with the page around it. `name` is for those who do not see it.
std::string framed(double width, double height, const std::string& kind, std::string_view name,
                   const std::string& body);

}  // namespace tilewalk::pictures
