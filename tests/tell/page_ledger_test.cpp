// SPDX-License-Identifier: Apache-2.0
// Digests of every section of result pages, to catch changes that other tests miss. After an intended change,
// `make bits` writes the ledger anew, and the author looks at the pages.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/ledger.h"
#include "tilewalk/page.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::page_ledger_test {
namespace {

const std::filesystem::path source = TILEWALK_SOURCE_DIR;

void add_page(tests::kept_words& to, const std::string& name, const std::string& page) {
    std::size_t begin = 0, number = 0;
    while (begin < page.size()) {
        std::size_t end = page.find("<section", begin + 1);
        if (end == page.npos) end = page.size();
        tests::add_text(to, name + " " + std::to_string(number++), page.substr(begin, end - begin));
        begin = end;
    }
}

// The results with all that differs between machines and builds replaced by fixed values.
results settled(results r) {
    run_manifest& m = r.manifest;
    const run_manifest found = std::exchange(m, {});
    m.version = "1.2.3";
    m.as_of = found.as_of;
    m.seed = found.seed;
    m.paths = found.paths;
    m.part_paths = found.part_paths;
    m.path_steps = found.path_steps;
    m.threads = 2;
    m.started = "2026-01-15T08:00:00Z";
    m.plan_seconds = 0.25;
    m.path_seconds = 1.5;
    m.total_seconds = 2;
    return r;
}

run_options few_paths() {
    run_options how;
    how.overrides.paths = 16384;
    how.overrides.device = "cpu";
    how.overrides.threads = 2;
    return how;
}

void add_pages(tests::kept_words& to) {
    const engine by;
    const auto demo = source / "configs/books/demo.yaml", notes = source / "configs/books/notes.yaml";
    const book all = book::load(demo);
    const market& in = *all.market();
    add_page(to, "page of prices", page_of(settled(by.price(all, few_paths()))));
    const results greeks = settled(
        by.greeks(all, in, {{"delta", "gamma", "vega", "theta"}, greek_method::automatic}, few_paths()));
    add_page(to, "page of sensitivities",
             page_of(greeks, {.command = {"tilewalk", "greeks", "a book.yaml", "--greeks", "delta"}}));
    const scenario_list asked = scenario_list::load(source / "configs/scenarios/demo.yaml", in);
    const scenario_results s = by.scenarios(all.only({"acme_call", "cashcow_put"}), in, asked, few_paths());
    add_page(to, "page of scenarios", page_of(settled(s.base), {.scenarios = &s}));
    results failing = settled(by.price(book::load(notes), few_paths()));
    for (std::size_t i = 0; i < failing.rows.size(); i += 3) {
        failing.rows[i].status = trade_status::failed;
        failing.rows[i].message = i % 2 == 0 ? "it has no paths" : "its barrier is below 0 & <so>";
    }
    for (std::size_t i = 1; i < failing.rows.size(); i += 3) failing.rows[i].error_steps = 0.5;
    add_page(to, "page of failures", page_of(failing));
    add_page(to, "page of nothing", page_of(settled({})));
}

TEST(page_ledger, sections_are_those_of_the_ledger) {
    tests::kept_words made;
    add_pages(made);
    EXPECT_GT(made.size(), 30U);
    tests::expect_as_kept(made, source / "tests/data/pages.txt",
                          "# Digests and sizes of sections of pages. Written by `make bits`.\n");
}

}  // namespace
}  // namespace tilewalk::page_ledger_test
