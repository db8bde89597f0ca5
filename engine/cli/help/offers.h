// SPDX-License-Identifier: Apache-2.0
// Values that a shell offers for an option, stored in the parser's option.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace tilewalk::cli {

const std::vector<std::string>& format_words();
const std::vector<std::string>& result_format_words();
std::vector<std::string> greek_words();
std::vector<std::string> greek_method_words();
std::vector<std::string> greek_view_words();
const std::vector<std::string>& stage_words();

// Offers these words; the option may accept others. Returns the option.
CLI::Option* offers(CLI::Option* option, const std::vector<std::string>& words);
CLI::Option* offers_files(CLI::Option* option, const std::vector<std::string>& endings);
// Offers the names of products. They are read only when a shell asks for values.
CLI::Option* offers_products(CLI::Option* option);

struct offered_values {
    enum class source { nothing, words, files, folders, trades, keys };
    source from = source::nothing;
    std::vector<std::string> words{};  // if from files: their endings, empty for any file
};
// Returns the values offered explicitly, else those that the help's placeholder implies: FILE, DIR, ID.
offered_values offered_by(CLI::Option& option);

}  // namespace tilewalk::cli
