// SPDX-License-Identifier: Apache-2.0
// The elements of an HTML page. Functions escape texts and return markup that is also well-formed XML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/tell/pictures/svg.h"

namespace tilewalk::page {

using pictures::escaped;

std::string element(std::string_view name, std::string_view markup, std::string_view attributes = {});
std::string paragraph(std::string_view text);
// Markup that a click on a line of text unfolds below it.
std::string folded(std::string_view line, std::string_view markup, bool is_open = false);

// A table whose first column has the names of the rows. It scrolls if it is wider than the page.
class table {
  public:
    enum class of : unsigned char { text, numbers, pictures };
    struct head {
        std::string title;
        of what = of::numbers;
    };
    // `name` tells screen readers what the table shows.
    table(std::string name, std::vector<head> heads) : name_(std::move(name)), heads_(std::move(heads)) {}

    // Adds a row of cells, which are markup. Numbers in a column are aligned at their points. `kind` is a CSS
    // class for the row, or empty.
    void add(const std::vector<std::string>& cells, std::string_view kind = {});
    bool empty() const { return rows_.empty(); }
    std::string text() const;

  private:
    std::string name_;
    std::vector<head> heads_;
    struct row {
        std::vector<std::string> cells;
        std::string kind;
    };
    std::vector<row> rows_;
};

// CSS rules that pad cells so that points are aligned: class "r3" adds the width of one digit and a half.
inline constexpr int most_room = 40;
std::string rules_of_room();

std::string style();

}  // namespace tilewalk::page
