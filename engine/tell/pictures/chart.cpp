// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/pictures/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "engine/tell/pictures/axis.h"
#include "engine/tell/pictures/svg.h"

namespace tilewalk::pictures {

namespace {

// Lengths in pixels, for a drawing as wide as the page.
constexpr double edge = 14, title_height = 26, legend_height = 19;
constexpr double left_of_panel = 46, above_panel = 24, below_panel = 24, axis_title_height = 20;
constexpr double height_of_one = 340, height_of_many = 190;
constexpr double swatch_width = 34, label_height = 14;
constexpr std::size_t most_end_labels = 12;
constexpr double inset = 16;  // between a panel's edges and the first and last x

struct style {
    std::string_view light, dark, dash;
};
// Colours have a contrast ratio of at least 3:1 against the background. Six marker shapes, filled and hollow,
// tell twelve lines apart without colour.
constexpr std::array<style, 12> styles{{{"#6b6b6b", "#a6a6a6", ""},
                                        {"#1a1a1a", "#ececec", "7 3"},
                                        {"#0065a8", "#66b5f0", ""},
                                        {"#1583b8", "#8fd6f7", "2 3"},
                                        {"#9a6b00", "#e3b341", "7 3 2 3"},
                                        {"#c9500a", "#ff9a52", "7 3"},
                                        {"#b5123e", "#ff7b94", ""},
                                        {"#00806a", "#45d0ab", "2 3"},
                                        {"#4d8a10", "#a4d65e", "7 3 2 3"},
                                        {"#7138b0", "#bb97f5", "7 3"},
                                        {"#84533a", "#d3a684", "2 3"},
                                        {"#b0468c", "#f0a3d2", "7 3 2 3"}}};
constexpr std::array<std::string_view, 6> shapes{
    "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z",
    "M-3.5 -3.5H3.5V3.5H-3.5Z",
    "M0 -5L5 0L0 5L-5 0Z",
    "M0 -4.6L4.6 3.6H-4.6Z",
    "M0 4.6L4.6 -3.6H-4.6Z",
    "M-1.6 -4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z",
};

std::string line_look(std::size_t which) {
    const style& s = styles[which % styles.size()];
    return "class=\"line s" + std::to_string(which % styles.size()) + "\"" +
           (s.dash.empty() ? "" : " stroke-dasharray=\"" + std::string(s.dash) + "\"");
}

std::string symbol(std::size_t which, double x, double y, const std::string& says, bool on_line) {
    const std::size_t n = which % styles.size();
    const std::string fill = n / shapes.size() % 2 == 0 ? " full" : " hollow";
    return "<path class=\"mark" + fill + (on_line ? "" : " beside") + " s" + std::to_string(n) +
           "\" transform=\"translate(" + px(x) + ' ' + px(y) + (on_line ? ")" : ") scale(0.7)") + "\" d=\"" +
           std::string(shapes[n % shapes.size()]) + "\"" +
           (says.empty() ? "/>\n" : "><title>" + escaped(says) + "</title></path>\n");
}

struct box {
    double left, top, right, bottom;
    double x(const axis& by, double value) const {
        return left + inset + by.place(value) * (right - left - 2 * inset);
    }
    double y(const axis& by, double value) const { return bottom - by.place(value) * (bottom - top); }
};

std::string frame_of(const panel& p, const box& in, const axis& xs, const axis& ys) {
    std::string out;
    for (const double tick : ys.ticks) {
        out += stroke(in.left, in.y(ys, tick), in.right, in.y(ys, tick), "class=\"grid\"");
        out += text_at(in.left - 6, in.y(ys, tick) + 4, "end", tick_text(tick));
    }
    // Leave out the label of a tick if it would overlap the label before.
    double free_from = -std::numeric_limits<double>::infinity();
    for (const double tick : xs.ticks) {
        const double x = in.x(xs, tick);
        out += stroke(x, in.bottom, x, in.bottom + 4, "class=\"axis\"");
        const std::string text = tick_text(tick);
        const double half = 0.5 * character_width * static_cast<double>(text.size());
        if (x - half < free_from) continue;
        out += text_at(x, in.bottom + 17, "middle", text);
        free_from = x + half + 4;
    }
    out += stroke(in.left, in.bottom, in.right, in.bottom, "class=\"axis\"");
    if (!p.title.empty()) {
        out += text_at(in.left, in.top - 9, "start", p.title, " class=\"panel\"");
    }
    return out;
}

std::vector<const mark*> path_of(const chart_line& of) {
    std::vector<const mark*> path;
    for (const mark& m : of.marks) {
        if (m.on_line && m.x) path.push_back(&m);
    }
    std::ranges::stable_sort(path, {}, [](const mark* m) { return *m->x; });
    return path;
}

std::string lines_of(const panel& p, const box& in, const axis& xs, const axis& ys) {
    std::string paths, bars, symbols;
    for (const chart_line& line : p.lines) {
        std::string d;
        for (const mark* m : path_of(line)) {
            d += (d.empty() ? 'M' : 'L') + px(in.x(xs, *m->x)) + ' ' + px(in.y(ys, m->y));
        }
        if (d.find('L') != std::string::npos)
            paths += "<path " + line_look(line.style) + " d=\"" + d + "\"/>\n";
        for (const mark& m : line.marks) {
            const double y = in.y(ys, m.y);
            const double x = m.x ? in.x(xs, *m.x) : in.left + 0.5 * inset;
            if (!m.x && m.on_line) paths += stroke(in.left, y, in.right, y, line_look(line.style));
            if (m.bar && m.on_line) {
                const double low = in.y(ys, m.bar->first), high = in.y(ys, m.bar->second);
                const std::string s = std::to_string(line.style % styles.size());
                bars += "<path class=\"bar s" + s + "\" d=\"M" + px(x - 3) + ' ' + px(low) + "h6M" +
                        px(x - 3) + ' ' + px(high) + "h6M" + px(x) + ' ' + px(low) + 'V' + px(high) +
                        "\"/>\n";
            }
            symbols += symbol(line.style, x, y, m.says, m.on_line);
        }
    }
    return paths + bars + symbols;
}

// Writes each line's name at the right, beside the line's end; names too close to each other are moved apart.
std::string end_labels(const panel& p, const box& in, const axis& ys) {
    struct label {
        const chart_line* of;
        double end, y;
    };
    std::vector<label> labels;
    for (const chart_line& line : p.lines) {
        const auto path = path_of(line);
        const double y = in.y(ys, path.empty() ? line.marks.back().y : path.back()->y);
        labels.push_back({&line, y, y});
    }
    std::ranges::stable_sort(labels, {}, &label::end);
    for (std::size_t i = 1; i < labels.size(); ++i) {
        labels[i].y = std::max(labels[i].y, labels[i - 1].y + label_height);
    }
    double floor = in.bottom;
    for (std::size_t i = labels.size(); i-- > 0;) {
        labels[i].y = std::min(labels[i].y, floor);
        floor = labels[i].y - label_height;
    }
    std::string out;
    for (const label& l : labels) {
        const double x = in.right + 10;
        if (std::abs(l.y - l.end) > 1)
            out += stroke(in.right - inset + 7, l.end, x - 2, l.y, "class=\"leader\"");
        out += stroke(x, l.y, x + 24, l.y, line_look(l.of->style));
        out += symbol(l.of->style, x + 12, l.y, "", true);
        out += text_at(x + 29, l.y + 4, "start", l.of->name);
    }
    return out;
}

using legend_entry = std::pair<std::string, std::size_t>;

// Legend entries in the order of styles. Lines of equal name and style share an entry; a line without a name
// has none.
std::vector<legend_entry> legend_of(const chart& of) {
    std::vector<legend_entry> out;
    for (const panel& p : of.panels) {
        for (const chart_line& line : p.lines) {
            const legend_entry one{line.name, line.style};
            if (!line.name.empty() && std::ranges::find(out, one) == out.end()) out.push_back(one);
        }
    }
    std::ranges::stable_sort(out, {}, &legend_entry::second);
    return out;
}

double draw_legend(std::string& out, const std::vector<legend_entry>& entries, double width, double top) {
    double x = edge, y = top + 0.5 * legend_height;
    for (const auto& [name, which] : entries) {
        const double wide = swatch_width + width_of(name) + 16;
        if (x > edge && x + wide > width - edge) {
            x = edge;
            y += legend_height;
        }
        out += stroke(x, y, x + 26, y, line_look(which));
        out += symbol(which, x + 13, y, "", true);
        out += text_at(x + swatch_width, y + 4, "start", name);
        x += wide;
    }
    return entries.empty() ? top : y + 0.5 * legend_height;
}

std::string drawn(const chart& of, const std::string& style_element) {
    std::size_t columns = 1, rows = 1;
    std::vector<double> all_x;
    std::map<std::size_t, std::vector<double>> all_y;  // by number of the shared scale
    for (const panel& p : of.panels) {
        columns = std::max(columns, p.column + 1);
        rows = std::max(rows, p.row + 1);
        std::vector<double>& ys = all_y[p.scale];
        if (of.level) ys.push_back(*of.level);
        for (const chart_line& line : p.lines) {
            for (const mark& m : line.marks) {
                if (m.x) all_x.push_back(*m.x);
                ys.push_back(m.y);
                if (m.bar && m.on_line) ys.insert(ys.end(), {m.bar->first, m.bar->second});
            }
        }
    }
    const axis xs = x_axis(all_x);
    const bool is_one = of.panels.size() == 1;
    const std::vector<legend_entry> names = legend_of(of);
    const bool at_ends = is_one && !names.empty() && of.panels[0].lines.size() <= most_end_labels;

    std::string body;
    body += text_at(edge, title_height - 7, "start", of.title, " class=\"title\"");
    double top = title_height;
    if (!at_ends) top = draw_legend(body, names, of.width, top + 2) + 2;
    body += text_at(edge, top + 16, "start", of.y_title, " class=\"quiet\"");
    top += 20;

    double labels_width = 0;
    if (at_ends) {
        for (const chart_line& line : of.panels[0].lines) {
            labels_width = std::max(labels_width, 44 + width_of(line.name));
        }
        labels_width = std::min(labels_width, 0.5 * of.width);
    }
    const double cell_width = (of.width - 2 * edge - labels_width) / static_cast<double>(columns);
    const double panel_height = of.panel_height > 0 ? of.panel_height
                                : is_one            ? height_of_one
                                                    : height_of_many;
    const double cell_height = above_panel + panel_height + below_panel;
    for (const panel& p : of.panels) {
        const double left = edge + cell_width * static_cast<double>(p.column) + left_of_panel;
        const double from = top + cell_height * static_cast<double>(p.row) + above_panel;
        const box in{left, from, left + cell_width - left_of_panel - 6, from + panel_height};
        std::vector<double>& values = all_y[p.scale];
        if (values.empty()) values = {0, 1};
        const axis ys = y_axis(values, of.by_logarithm);
        body += frame_of(p, in, xs, ys);
        if (of.level) {
            body += stroke(in.left, in.y(ys, *of.level), in.right, in.y(ys, *of.level), "class=\"level\"");
        }
        body += lines_of(p, in, xs, ys);
        if (at_ends) body += end_labels(p, in, ys);
    }
    top += cell_height * static_cast<double>(rows);
    body += text_at(0.5 * (of.width - labels_width), top + 12, "middle", of.x_title, " class=\"quiet\"");
    const double height = top + axis_title_height;
    return framed(of.width, height, "chart", of.title,
                  "<title>" + escaped(of.title) + "</title>\n" + style_element +
                      "<rect class=\"paper\" width=\"" + px(of.width) + "\" height=\"" + px(height) +
                      "\"/>\n" + body);
}

}  // namespace

std::string chart_style() {
    const auto colours = [](std::string_view style::*which) {
        std::string out;
        for (std::size_t i = 0; i < styles.size(); ++i) {
            const std::string name = ".chart .s" + std::to_string(i), colour(styles[i].*which);
            out += name + "{stroke:" + colour + "}" + name + ".full{fill:" + colour + "}\n";
        }
        return out;
    };
    return ".chart{max-width:100%;height:auto}\n"
           ".chart text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#222}\n"
           ".chart .title{font-size:14px;font-weight:bold}\n"
           ".chart .panel{font-weight:bold}\n"
           ".chart .quiet{fill:#555}\n"
           ".chart .paper{fill:#fff}\n"
           ".chart .grid,.chart .axis,.chart .level,.chart .leader{fill:none;stroke:#e2e2e2}\n"
           ".chart .axis,.chart .leader{stroke:#8a8a8a}\n"
           ".chart .level{stroke:#555;stroke-dasharray:1 3}\n"
           ".chart .line{fill:none;stroke-width:1.7;stroke-linejoin:round}\n"
           ".chart .mark{stroke-width:1.3}\n"
           ".chart .hollow{fill:#fff}\n"
           ".chart .beside{opacity:0.45}\n"
           ".chart .bar{fill:none;stroke-width:1}\n" +
           colours(&style::light) +
           "@media screen and (prefers-color-scheme:dark){\n"
           ".chart text{fill:#e8e8e8}\n"
           ".chart .quiet{fill:#b0b0b0}\n"
           ".chart .paper,.chart .hollow{fill:#161616}\n"
           ".chart .grid{stroke:#333}\n"
           ".chart .level{stroke:#b0b0b0}\n" +
           colours(&style::dark) + "}\n";
}

std::string svg(const chart& of) {
    return drawn(of, "<style>\n" + chart_style() + "</style>\n");
}

std::string inline_svg(const chart& of) {
    return drawn(of, "");
}

}  // namespace tilewalk::pictures
