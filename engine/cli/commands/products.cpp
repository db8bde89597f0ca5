// SPDX-License-Identifier: Apache-2.0
// tilewalk products: the catalogue, and a page for each product with the price of its example.
#include "tilewalk/products.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/output.h"
#include "engine/cli/settings.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/engine.h"

namespace tilewalk::cli {

namespace {

struct products_arguments {
    std::string name;
    std::string format = "table";
};

const product_page& find_page(const std::vector<product_page>& pages, const std::string& name) {
    const auto at = std::ranges::find(pages, name, &product_page::name);
    if (at != pages.end()) return *at;
    std::vector<std::string> known;
    for (const auto& page : pages) known.push_back(page.name);
    const std::string near = suggestion(name, known);
    throw error(error_kind::usage, fmt::format("unknown product '{}'{}", name,
                                               near.empty() ? "; 'tilewalk products' lists them all" : near));
}

void price_example(product_page& page) {
    run_options how;
    how.overrides.device = "cpu";  // a help page should not start GPUs
    const results priced = engine().price(example_book(page), how);
    const price_row& row = priced.rows.at(0);
    if (row.status != trade_status::priced)
        throw error(error_kind::internal, "the example: " + row.message, row.where);
    page.worth = row;
    page.worth_as_of = priced.manifest.as_of;
}

int show(const products_arguments& asked) {
    const output_format format = parse_format(asked.format, "--format");
    const auto pages = product_pages();
    std::ostringstream text;
    if (!asked.name.empty()) {
        product_page page = find_page(pages, asked.name);
        if (format != output_format::csv) price_example(page);  // CSV has parameters alone
        write(text, page, format, form_of_stdout());
    } else {
        write(text, pages, format, form_of_stdout());
        if (format == output_format::table)
            text << "\ntilewalk products NAME shows parameters, script and an example\n";
    }
    output("-").write(text.view());
    return all_well;
}

}  // namespace

command add_products(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("products", "List the products, or show one: parameters, script, example")
            ->group("Commands");
    const auto asked = std::make_shared<products_arguments>();
    offers_products(app->add_option("NAME", asked->name, "The product to show; a list of all if left out"));
    offers(app->add_option("--format", asked->format, "table, csv or json (default table)"), format_words())
        ->type_name("NAME");
    app->footer(
        "Examples:\n"
        "  tilewalk products\n"
        "  tilewalk products barrier\n"
        "  tilewalk products --format json");
    return {app, [asked] { return show(*asked); }};
}

}  // namespace tilewalk::cli
