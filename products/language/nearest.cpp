// SPDX-License-Identifier: Apache-2.0
// Finds the known name nearest to a misspelt one by Damerau-Levenshtein distance, ignoring case.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "products/language/nearest.h"
#include "products/language/product.h"

namespace tilewalk::language {

namespace {

// Longer names get no suggestion, which bounds the cost of a hostile name.
constexpr std::size_t longest_name = 64;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::size_t distance(std::string_view a, std::string_view b) {
    using row = std::array<std::size_t, longest_name + 1>;
    row before_last{}, last{}, now{};
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
                now[j] = std::min(now[j], before_last[j - 2] + 1);
            }
        }
        before_last = last;
        last = now;
    }
    return last[b.size()];
}

}  // namespace

std::string joined(const std::vector<std::string>& words, std::string_view between, std::string_view last) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool is_last = i + 1 == words.size() && !last.empty();
        if (i > 0) out += is_last ? last : between;
        out += words[i];
    }
    return out;
}

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known) {
    const std::string near = nearest(wrong, known);
    return near.empty() ? "" : "; did you mean '" + near + "'?";
}

std::string alternatives(std::string_view wrong, const std::string& what,
                         const std::vector<std::string>& known) {
    const std::string near = suggestion(wrong, known);
    return (near.empty() ? "; " : near + " ") + what + " " + listed(wrong, known);
}

std::string listed(std::string_view wrong, const std::vector<std::string>& known) {
    constexpr std::size_t most_at_all = 24, most_bytes_at_all = 600, most_of_a_cut_list = 8,
                          most_compared = 1000;
    if (known.size() <= most_at_all) {
        std::string all = joined(known);
        if (all.size() <= most_bytes_at_all || known.size() <= most_of_a_cut_list) return all;
    }
    // Compare only the first names of a very long list, which bounds the time; nobody reads so many.
    std::vector<std::pair<std::size_t, std::string>> by_distance;
    for (std::size_t i = 0; i < std::min(known.size(), most_compared); ++i) {
        const bool is_long = wrong.size() > longest_name || known[i].size() > longest_name;
        by_distance.emplace_back(is_long ? longest_name : distance(wrong, known[i]), known[i]);
    }
    std::ranges::stable_sort(by_distance, {}, &std::pair<std::size_t, std::string>::first);
    std::vector<std::string> told;
    for (std::size_t i = 0; i < most_of_a_cut_list; ++i) told.push_back(by_distance[i].second);
    return joined(told) + " and " + std::to_string(known.size() - most_of_a_cut_list) + " more";
}

std::string nearest(std::string_view wrong, const std::vector<std::string>& known) {
    if (wrong.empty() || wrong.size() > longest_name) return {};
    std::string best;
    std::size_t best_distance = longest_name;
    for (const std::string& name : known) {
        if (name.empty() || name.size() > longest_name) continue;
        const std::size_t close = (std::max(wrong.size(), name.size()) + 1) / 3;
        const std::size_t d = distance(wrong, name);
        if (d <= close && d < best_distance) {
            best = name;
            best_distance = d;
        }
    }
    return best;
}

}  // namespace tilewalk::language
