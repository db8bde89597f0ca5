// SPDX-License-Identifier: Apache-2.0
// Checks of the bytes, ahead of YAML: they refuse bytes that are not UTF-8, invisible characters, tabs as
// indentation, lines without end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewalk::config {

// Looks at a text that is still growing, each byte once.
class byte_check {
  public:
    // `name` is the text's name in errors. `takes_json`: a text that begins with "{" may have longer lines,
    // until it is known to be no JSON.
    byte_check(std::string name, std::size_t most_line_bytes, bool takes_json = false)
        : name_(std::move(name)), most_line_bytes_(most_line_bytes), takes_json_(takes_json) {}

    // Goes on where it stopped; `is_whole` says that nothing will follow. Throws tilewalk::error (input) with
    // the place of the first bad byte.
    void look(std::string_view text, bool is_whole);
    // So many bytes are known to be good.
    std::size_t checked() const { return at_; }
    // A line is longer than that.
    bool has_long_line() const { return has_long_line_ || at_ - line_start_ > most_line_bytes_; }
    void refuse_long_lines() { takes_json_ = false; }

  private:
    [[noreturn]] void refuse(std::size_t at, const std::string& message) const;

    std::string name_;
    std::size_t most_line_bytes_;
    bool takes_json_;
    bool has_long_line_ = false;
    std::size_t at_ = 0, line_start_ = 0;
    int line_ = 1;
    bool in_indentation_ = true;
    std::size_t tab_ = none_;  // of the indentation of a line that has nothing else so far
    static constexpr std::size_t none_ = static_cast<std::size_t>(-1);
};

}  // namespace tilewalk::config
