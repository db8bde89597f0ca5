// SPDX-License-Identifier: Apache-2.0
// The pass `contract` fuses the products that it should, and changes results by nothing but rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "products/program/evaluate.h"
#include "tests/plain_walk.h"

namespace tilewalk::contract_test {
namespace {

using program::operation;
using program::value;

struct one_step {
    program::path_program code;
    program::path_data data;
    program::timeline when;

    explicit one_step(const std::function<value(value a, value b, value c, value d)>& record) {
        program::recorder into;
        into.output(into.state("out", 0.0));
        into.open_section(0, "step", 1);
        const auto a = into.normal(), b = into.normal(), c = into.normal(), d = into.normal();
        into.write(0, record(a, b, c, d));
        const auto recorded = std::move(into).finish();
        code = program::hoist(recorded.code);
        data = program::bind(code, recorded.data);
        when.times.push_back(1);
        when.close_step();
    }
    double payoff(const program::path_program& of, const std::vector<double>& shocks) const {
        const auto shock = [&](std::uint64_t n) { return shocks.at(n); };
        return tests::plain_walk<double>(of, data, when, shock, shock);
    }
    int count(operation code_, const program::path_program& of) const {
        int n = 0;
        for (const auto& node : of.sections.at(0).nodes) n += node.code == code_;
        return n;
    }
};

}  // namespace

TEST(contract, fuses_a_product_that_is_only_added_or_subtracted) {
    const struct {
        std::string name;
        std::function<value(value, value, value, value)> record;
        int products, fused, negated;
        std::function<double(double, double, double, double)> expected;
    } cases[] = {
        {"a b + c", [](auto a, auto b, auto c, auto) { return a * b + c; }, 0, 1, 0,
         [](double a, double b, double c, double) { return std::fma(a, b, c); }},
        {"c + a b", [](auto a, auto b, auto c, auto) { return c + a * b; }, 0, 1, 0,
         [](double a, double b, double c, double) { return std::fma(a, b, c); }},
        {"a b - c", [](auto a, auto b, auto c, auto) { return a * b - c; }, 0, 1, 1,
         [](double a, double b, double c, double) { return std::fma(a, b, -c); }},
        {"c - a b", [](auto a, auto b, auto c, auto) { return c - a * b; }, 0, 1, 1,
         [](double a, double b, double c, double) { return std::fma(-a, b, c); }},
        {"a b + c d", [](auto a, auto b, auto c, auto d) { return a * b + c * d; }, 1, 1, 0,
         [](double a, double b, double c, double d) { return std::fma(a, b, c * d); }},
        {"a b - c d", [](auto a, auto b, auto c, auto d) { return a * b - c * d; }, 1, 1, 1,
         [](double a, double b, double c, double d) { return std::fma(a, b, -(c * d)); }},
        {"(a b + c) d + a", [](auto a, auto b, auto c, auto d) { return (a * b + c) * d + a; }, 0, 2, 0,
         [](double a, double b, double c, double d) { return std::fma(std::fma(a, b, c), d, a); }},
        {"a b c", [](auto a, auto b, auto c, auto) { return a * b * c; }, 2, 0, 0,
         [](double a, double b, double c, double) { return a * b * c; }},
        {"p + exp(p)",
         [](auto a, auto b, auto, auto) {
             const auto p = a * b;
             return p + exp(p);
         },
         1, 0, 0, nullptr},
        {"p + p",
         [](auto a, auto b, auto, auto) {
             const auto p = a * b;
             return p + p;
         },
         1, 0, 0, [](double a, double b, double, double) { return a * b + a * b; }},
    };
    std::mt19937_64 random(1);
    const auto number = [&] { return std::ldexp(static_cast<double>(random() >> 11), -52) - 1; };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.name);
        const one_step made(c.record);
        const auto code = program::contract(made.code);
        SCOPED_TRACE(program::print(code));
        EXPECT_EQ(made.count(operation::mul, code), c.products);
        EXPECT_EQ(made.count(operation::fma, code), c.fused);
        EXPECT_EQ(made.count(operation::neg, code), c.negated);
        for (int round = 0; round < 100; ++round) {
            const std::vector<double> x{number(), number(), number(), number()};
            const double before = made.payoff(made.code, x);
            const double after = made.payoff(code, x);
            EXPECT_NEAR(after, before, 1e-15);
            if (c.expected) {
                EXPECT_EQ(after, c.expected(x[0], x[1], x[2], x[3]));
            }
        }
        // On whole numbers nothing is rounded, so the results are equal.
        for (int round = 0; round < 100; ++round) {
            std::vector<double> x(4);
            for (double& each : x) each = static_cast<double>(random() % 17) - 8;
            if (c.expected) {
                EXPECT_EQ(made.payoff(code, x), made.payoff(made.code, x));
            }
        }
    }
}

TEST(contract, keeps_what_data_hangs_on) {
    for (const int normals : {1, 3}) {
        const tests::shocked_program p(normals, 1, 5);
        const auto code = program::contract(p.code);
        EXPECT_NE(program::print(code), program::print(p.code));
        EXPECT_EQ(program::print(program::contract(code)), program::print(code));
        EXPECT_EQ(code.outputs, p.code.outputs);
        EXPECT_EQ(code.states, p.code.states);
        for (std::uint64_t path = 0; path < 50; ++path) {
            const double before =
                tests::plain_random_walk<double, kernels::double_draws>(p.code, p.data, p.when, 4, path);
            const double after =
                tests::plain_random_walk<double, kernels::double_draws>(code, p.data, p.when, 4, path);
            EXPECT_NEAR(after, before, 1e-14 * (1 + std::abs(before)));
        }
    }
}

}  // namespace tilewalk::contract_test
