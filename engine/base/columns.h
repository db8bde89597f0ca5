// SPDX-License-Identifier: Apache-2.0
// Rows of cells set as aligned columns of plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::report {

enum class align {
    left,
    right,
    point,  // right, with the decimal points below each other
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
    // A way to make lines shorter: shrink a column to no less than `least` by putting dots into its cells,
    // or, if `least` is 0, leave the column out.
    struct measure {
        std::string title;
        std::size_t least = 0;
    };
    // Takes measures in order until no line is longer than `most`. The last column counts for at most `last`,
    // since it may wrap. Returns the titles left out.
    std::vector<std::string> fit(std::size_t most, const std::vector<measure>& measures,
                                 std::size_t last = std::string::npos);

    // Titles and rows with two spaces between columns and no trailing ones. The last column wraps where lines
    // would be longer than `most` (0: no limit), but stays at least `least_last` wide.
    std::string text(std::size_t most = 0) const;

  private:
    std::size_t width_of(std::size_t column) const;

    std::vector<head> heads_;
    std::vector<std::vector<std::string>> rows_;
};

// The table cut down to lines of at most `most` columns, with a note of the columns left out.
std::string fitted(columns& table, std::size_t most, const std::vector<columns::measure>& measures);

// Pads the cells so that their decimal points line up; blank ones stay blank.
void align_points(std::vector<std::string>& cells);
// Columns of a terminal: two for a wide East Asian character or an emoji, none for a combining one.
std::size_t width(std::string_view utf8);
// The text cut to `most` columns, with dots in its middle.
std::string shortened(std::string_view utf8, std::size_t most);
// Breaks a text into lines of at most `most` columns, each indented by `indent`. Keeps its line breaks.
std::string wrapped(std::string_view text, std::size_t most, std::size_t indent);

// The text as it is if it fits, else wrapped with all lines but the first indented. Ends with a line break.
std::string hanging(std::string_view text, std::size_t most, std::size_t indent);

}  // namespace tilewalk::report
