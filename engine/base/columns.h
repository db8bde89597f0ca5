// SPDX-License-Identifier: Apache-2.0
// Sets rows of cells as aligned columns of plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::report {

enum class align {
    left,
    right,
    point,  // to the right, with decimal points in one column
};

class columns {
  public:
    struct head {
        std::string title;
        align to = align::left;
    };
    static constexpr std::size_t least_last = 24;
    explicit columns(std::vector<head> heads) : heads_(std::move(heads)) {}

    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    // A way to make lines shorter: shrink a column to `least` or more by dots in its cells, or leave the
    // column out if `least` is 0.
    struct measure {
        std::string title;
        std::size_t least = 0;
    };
    // Takes `measures` in order until no line is longer than `most`. The last column may wrap, so that at
    // most `last` of its width counts. Returns the titles of the columns left out.
    std::vector<std::string> fit(std::size_t most, const std::vector<measure>& measures,
                                 std::size_t last = std::string::npos);

    // Returns titles and rows, with two spaces between columns and none at line ends. If lines would be
    // longer than `most` (0: no limit), the last column wraps, but stays at least `least_last` wide.
    std::string text(std::size_t most = 0) const;

  private:
    std::size_t width_of(std::size_t column) const;

    std::vector<head> heads_;
    std::vector<std::vector<std::string>> rows_;
};

// Returns the table with lines of at most `most` columns, and a note of the columns that were left out.
std::string fitted(columns& table, std::size_t most, const std::vector<columns::measure>& measures);

// Pads the cells so that their decimal points line up. Blank cells stay blank.
void align_points(std::vector<std::string>& cells);
// Returns the columns that a text takes in a terminal; see cluster_width.
std::size_t width(std::string_view utf8);
// Returns the text cut to `most` columns, with dots in its middle if anything was cut.
std::string shortened(std::string_view utf8, std::size_t most);
// Breaks a text into lines of at most `most` columns, each indented by `indent`. Keeps its line breaks.
std::string wrapped(std::string_view text, std::size_t most, std::size_t indent);

// Returns the text as it is if it fits into `most` columns, else wrapped, with all lines but the first
// indented by `indent`. The result ends with a line break.
std::string hanging(std::string_view text, std::size_t most, std::size_t indent);

}  // namespace tilewalk::report
