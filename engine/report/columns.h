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
    explicit columns(std::vector<head> heads) : heads_(std::move(heads)) {}

    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    // Titles, a rule, the rows; two spaces between columns, none at a line's end. Where lines would be longer
    // than `most`, the last column goes on below itself; 0 is no limit.
    std::string text(std::size_t most = 0) const;

  private:
    std::vector<head> heads_;
    std::vector<std::vector<std::string>> rows_;
};

// The cells padded so that their decimal points are below each other; blank ones stay blank.
void align_points(std::vector<std::string>& cells);
// How many columns of a terminal the text takes: its code points.
std::size_t width(std::string_view utf8);
// Broken into lines of at most `most` columns, each with `indent` spaces in front; the text's own line breaks
// stay.
std::string wrapped(std::string_view text, std::size_t most, std::size_t indent);

}  // namespace tilewalk::report
