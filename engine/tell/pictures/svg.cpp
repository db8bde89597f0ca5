// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/pictures/svg.h"

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "tilewalk/printable.h"

namespace tilewalk::pictures {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    // XML does not allow the characters U+FFFE and U+FFFF.
    for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
        for (std::size_t i = out.find(none); i != std::string::npos; i = out.find(none, i)) {
            out.replace(i, none.size(), "?");
        }
    }
    return out;
}

std::string px(double x) {
    std::string text = report::fixed(x, 1);
    return text == "-0.0" ? "0.0" : text;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    const std::string& more) {
    return "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" text-anchor=\"" + std::string(anchor) + "\"" +
           more + ">" + escaped(text) + "</text>\n";
}

std::string stroke(double x0, double y0, double x1, double y1, const std::string& look) {
    return "<path " + look + " d=\"M" + px(x0) + ' ' + px(y0) + 'L' + px(x1) + ' ' + px(y1) + "\"/>\n";
}

double width_of(std::string_view text) {
    return character_width * static_cast<double>(report::width(printable(text)));
}

std::string framed(double width, double height, const std::string& kind, std::string_view name,
                   const std::string& body) {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"" + kind + "\" role=\"img\" aria-label=\"" +
           escaped(name) + "\" viewBox=\"0 0 " + px(width) + ' ' + px(height) + "\" width=\"" + px(width) +
           "\" height=\"" + px(height) + "\">\n" + body + "</svg>\n";
}

}  // namespace tilewalk::pictures
