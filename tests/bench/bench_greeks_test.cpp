// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (millions of path-steps both ways)
// The suite `greeks` without a GPU: trades have the sensitivities of their names, rows of one core are
// results, and each check can fail.
#include "bench/suites/greeks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "bench/measure/suites.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"

namespace tilewalk::bench::bench_greeks_test {
namespace {

constexpr stop_rule short_rule{1, 1, 1, 0};

const greeks::example& named(std::string_view name) {
    for (const greeks::example& e : greeks::examples())
        if (e.name == name) return e;
    throw std::logic_error("no example " + std::string(name));
}

row measured(const greeks::example& of, const std::string& precision, std::uint64_t paths) {
    std::vector<row> rows;
    greeks::measure({"cpu", precision, paths, paths, 1}, of, short_rule, nullptr,
                    [&](row r) { rows.push_back(std::move(r)); });
    EXPECT_EQ(rows.size(), 1u);
    return rows.at(0);
}

TEST(bench_greeks, rows_of_one_core_are_results) {
    for (const greeks::example& e : greeks::examples()) {
        const row r = measured(e, "double", 1 << 14);
        EXPECT_TRUE(r.is_result()) << e.name << ": " << r.wrong << r.skipped;
        for (const char* figure :
             {"milliseconds", "price_milliseconds", "call_milliseconds", "times_the_price"})
            EXPECT_GT(r.figures.value(figure, 0.0), 0) << e.name << " " << figure;
        EXPECT_EQ(r.figures.at("numbers"), e.numbers);
        EXPECT_DOUBLE_EQ(
            r.figures.at("times_the_price"),
            r.figures.at("milliseconds").get<double>() / r.figures.at("price_milliseconds").get<double>());
        // Smoothing of jumps takes further walks to try its widths.
        const double walks = r.figures.at("walks");
        if (e.name == "worst_of_autocallable") {
            EXPECT_GT(walks, 2);
        } else {
            EXPECT_EQ(walks, 1) << e.name;
        }
    }
}

TEST(bench_greeks, targets_are_those_of_device_and_precision) {
    const greeks::example& e = named("asian_by_date");
    EXPECT_EQ(e.target("gpu", "double"), 1.7);
    EXPECT_EQ(e.target("gpu", "single_fast"), 2.2);
    EXPECT_EQ(e.target("gpu", "single"), 0);
    EXPECT_EQ(e.target("cpu", "double"), 3.5);
    EXPECT_EQ(e.target("cpu", "single"), 0);
}

struct found {
    results got, price, on_cpu, moved;
    std::string wrong(const greeks::example& of, bool has_bits = true) const {
        return greeks::why_wrong(got, price, on_cpu, moved, of, has_bits);
    }
};

greek_row& row_of(results& r, const std::string& key) {
    for (greek_row& g : r.greeks)
        if (g.key == key) return g;
    throw std::logic_error("no sensitivity to " + key);
}

TEST(bench_greeks, what_is_wrong_is_not_timed) {
    const greeks::example& of = named("asian");
    const book b = book::parse(of.book());
    run_options options;
    options.overrides.paths = 1 << 14;
    options.overrides.device = "cpu";
    const engine e;
    const found sound{e.greeks(b, *b.market(), {of.wanted}, options), e.price(b, *b.market(), options),
                      e.greeks(b, *b.market(), {of.wanted}, options),
                      e.greeks(b, *b.market(), {of.differenced, greek_method::bump}, options)};
    EXPECT_EQ(sound.wrong(of), "");

    found other_price = sound;
    other_price.price.rows[0].price = std::nextafter(other_price.price.rows[0].price, 100);
    EXPECT_NE(other_price.wrong(of).find("alone"), std::string::npos) << other_price.wrong(of);

    found other_bits = sound;
    double& value = row_of(other_bits.on_cpu, "USD.rate").value;
    value = std::nextafter(value, 100);
    EXPECT_NE(other_bits.wrong(of).find("on the processor"), std::string::npos) << other_bits.wrong(of);
    EXPECT_EQ(other_bits.wrong(of, false), "");

    found far_off = sound;
    greek_row& vega = row_of(far_off.on_cpu, "A.volatility");
    vega.value += 7 * vega.standard_error;
    EXPECT_NE(far_off.wrong(of, false).find("further apart"), std::string::npos) << far_off.wrong(of, false);

    found wrong_sign = sound;
    for (results* r : {&wrong_sign.got, &wrong_sign.on_cpu}) row_of(*r, "A.volatility").value *= -1;
    EXPECT_NE(wrong_sign.wrong(of).find("by moving it"), std::string::npos) << wrong_sign.wrong(of);

    found one_less = sound;
    std::erase_if(one_less.got.greeks, [](const greek_row& g) { return g.key == "USD.rate"; });
    EXPECT_NE(one_less.wrong(of).find("found sensitivities to 2 numbers"), std::string::npos)
        << one_less.wrong(of);

    found failed = sound;
    failed.on_cpu.rows[0].status = trade_status::failed;
    failed.on_cpu.rows[0].message = "no luck";
    EXPECT_EQ(failed.wrong(of), "asian: no luck");
}

TEST(bench_greeks, without_a_gpu_its_rows_say_so) {
    std::vector<row> rows;
    request asked;
    asked.subject = "asian";
    asked.paths = 1 << 12;
    suite_named("greeks").run_on_cpu({short_rule, [](const std::string&) {}, nullptr}, asked, "there is none",
                                     [&](row r) { rows.push_back(std::move(r)); });
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_TRUE(rows[0].is_result()) << rows[0].wrong;
    EXPECT_TRUE(rows[1].is_result()) << rows[1].wrong;
    EXPECT_EQ(rows[2].skipped, "there is none");
}

}  // namespace
}  // namespace tilewalk::bench::bench_greeks_test
