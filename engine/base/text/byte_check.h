// SPDX-License-Identifier: Apache-2.0
// Refuses non-UTF-8 bytes, invisible characters, indenting tabs and endless lines before YAML is parsed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewalk::config {

class byte_check {
  public:
    // With `takes_json`, a text that begins with "{" may have longer lines until refuse_long_lines().
    byte_check(std::string name, std::size_t most_line_bytes, bool takes_json = false)
        : name_(std::move(name)), most_line_bytes_(most_line_bytes), takes_json_(takes_json) {}

    // Checks bytes added to `text` since the last call. Throws tilewalk::error (input) at the first bad byte.
    void look(std::string_view text, bool is_whole);
    std::size_t checked() const { return at_; }
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
    std::size_t tab_ = none_;  // position of a tab, while its line is only indentation
    static constexpr std::size_t none_ = static_cast<std::size_t>(-1);
};

}  // namespace tilewalk::config
