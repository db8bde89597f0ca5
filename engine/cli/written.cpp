// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/written.h"

#include <sstream>
#include <utility>

#include "tilewalk/columns.h"

namespace tilewalk::cli {

namespace {

template <class Results>
std::string written(const Results& r, result_format as, const text_form& form,
                    column_table (*columns)(const Results&),
                    void (*write_text)(std::ostream&, const Results&, output_format, const text_form&)) {
    std::ostringstream out;
    if (as == result_format::parquet) {
        write_parquet(out, columns(r));
    } else {
        write_text(out, r, static_cast<output_format>(as), form);
    }
    return std::move(out).str();
}

}  // namespace

std::string written_prices(const results& r, result_format as, const text_form& form) {
    return written(r, as, form, price_columns, write);
}

std::string written_greeks(const results& r, result_format as, const text_form& form) {
    return written(r, as, form, greek_columns, write_greeks);
}

std::string written_gains(const scenario_results& r, result_format as, const text_form& form) {
    return written(r, as, form, gain_columns, write);
}

std::string written_totals(const results& r, const std::string& file, const text_form& form) {
    const result_format as = result_format_of_ending(file).value_or(result_format::csv);
    return written(r, as, form, total_columns, write_totals);
}

}  // namespace tilewalk::cli
