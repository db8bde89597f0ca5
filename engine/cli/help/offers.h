// SPDX-License-Identifier: Apache-2.0
// Values that a shell offers for an option: they ride on the parser's option, beside its name and its help.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace tilewalk::cli {

// The names of the formats of text, in the order of output_format, and of results, in that of result_format.
const std::vector<std::string>& format_words();
const std::vector<std::string>& result_format_words();
// The words of --greeks, --greeks-method and --view, and of --stage.
std::vector<std::string> greek_words();
std::vector<std::string> greek_method_words();
std::vector<std::string> greek_view_words();
const std::vector<std::string>& stage_words();

// The option takes these words, and may take others. Returns the option.
CLI::Option* offers(CLI::Option* option, const std::vector<std::string>& words);
// The option takes a file, most likely one with such an ending (".yaml").
CLI::Option* offers_files(CLI::Option* option, const std::vector<std::string>& endings);
// The option takes the name of a product. The products are read only when somebody asks for the values.
CLI::Option* offers_products(CLI::Option* option);

struct offered_values {
    enum class source { nothing, words, files, folders, trades, keys };
    source from = source::nothing;
    std::vector<std::string> words{};  // of files: their endings; none: any file
};
// The values said of the option, else those that its word in the help stands for: FILE, DIR, ID and others.
offered_values offered_by(CLI::Option& option);

}  // namespace tilewalk::cli
