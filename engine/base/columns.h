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
    // A way to make lines shorter: the column shrinks to no less than `least`, its cells with dots in their
    // middle, or, where that is 0, is left out.
    struct measure {
        std::string title;
        std::size_t least = 0;
    };
    // Takes the measures in their order until no line is longer than `most`; the last column counts for at
    // most `last` where it may go on below itself. Returns the titles left out.
    std::vector<std::string> fit(std::size_t most, const std::vector<measure>& measures,
                                 std::size_t last = std::string::npos);

    // Titles, a rule, the rows; two spaces between columns, none at a line's end. The last column goes on
    // below itself where lines would be longer than `most`, but is at least `least_last` wide; 0: no limit.
    std::string text(std::size_t most = 0) const;

  private:
    std::size_t width_of(std::size_t column) const;

    std::vector<head> heads_;
    std::vector<std::vector<std::string>> rows_;
};

// The table as lines of at most `most` columns have room for it, and the columns that they have no room for.
std::string fitted(columns& table, std::size_t most, const std::vector<columns::measure>& measures);

// The cells padded so that their decimal points are below each other; blank ones stay blank.
void align_points(std::vector<std::string>& cells);
// The columns of a terminal that the text takes: two for each wide character of East Asia and each emoji,
// none for a character that combines with the one before it.
std::size_t width(std::string_view utf8);
// The text in at most `most` columns, with dots for what is taken out of its middle.
std::string shortened(std::string_view utf8, std::size_t most);
// Broken into lines of at most `most` columns, between words where they fit, each with `indent` spaces in
// front; the text's own line breaks stay.
std::string wrapped(std::string_view text, std::size_t most, std::size_t indent);

// The text as it is if it fits, else broken into lines, all but the first with `indent` spaces in front. Ends
// with a line break.
std::string hanging(std::string_view text, std::size_t most, std::size_t indent);

}  // namespace tilewalk::report
