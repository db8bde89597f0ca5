// SPDX-License-Identifier: Apache-2.0
// The lane machine's adjoint against an adjoint of one path at a time: sums of derivatives over a tile, in
// every precision, in one piece and in many, on every instruction set.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_machine.h"
#include "kernels/shocks.h"
#include "tests/both_ways.h"
#include "tests/every_model.h"
#include "tests/made_book.h"
#include "tests/plain_gradient.h"
#include "tilewalk/book.h"

namespace tilewalk::way_back_test {
namespace {

constexpr std::uint64_t seed = 20260115;

struct compiled_both_ways : tests::both_ways {
    cpu::lane_program forth_lanes, again_lanes, back_lanes;
    cpu::lane_way_back way;

    explicit compiled_both_ways(const books::trade& t, const market& in,
                                program::precision to = program::precision::double_)
        : both_ways(t, in, to),
          forth_lanes(cpu::compile(made.code)),
          again_lanes(cpu::compile(back.again)),
          back_lanes(cpu::compile(back.back)),
          way(back, again_lanes, back_lanes, data_of_back, made.when) {}

    cpu::path_job job(std::uint64_t paths, program::precision in = program::precision::double_) const {
        cpu::path_job out{&forth_lanes, &made.data, &made.when, seed, paths, in, {}, {}};
        out.back = &way;
        return out;
    }
};

struct found_by_tile {
    std::vector<cpu::tile_result> results;
    std::vector<double> derivatives;
};

found_by_tile walked(const compiled_both_ways& of, std::uint64_t paths, std::uint64_t tile,
                     const cpu::lane_operations& with, program::precision in = program::precision::double_) {
    cpu::lane_machine machine(with);
    found_by_tile out;
    out.results.resize(1);
    out.derivatives.resize(of.way.places.size);
    machine.walk(of.job(paths, in), tile, out.results, out.derivatives);
    return out;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) return false;
    }
    return true;
}

tests::noise_of_path drawn(const compiled_both_ways& of, std::uint64_t path) {
    const auto number_of = [&of, path](const std::vector<std::uint32_t>& streams, int per_step,
                                       const std::vector<program::stream_name>& names, auto draw) {
        return [=](std::size_t step, std::size_t slot) {
            const auto place = program::places_in_streams(streams, per_step)[slot];
            const std::uint64_t number = step * place.dimensions + place.dimension;
            const auto two = draw(seed, path, static_cast<std::uint32_t>(number / 2),
                                  kernels::stream_key_of(program::key_of(names, place.stream)));
            return number % 2 == 0 ? two.first : two.second;
        };
    };
    const program::path_program& code = of.made.code;
    return {number_of(code.normal_streams, code.normals_per_step, of.made.data.normal_names,
                      [](auto... at) { return kernels::normals(at...); }),
            number_of(code.uniform_streams, code.uniforms_per_step, of.made.data.uniform_names,
                      [](auto... at) { return kernels::uniforms(at...); }),
            {}};
}

std::vector<double> in_line(const compiled_both_ways& of, tests::number_vector plain) {
    program::path_data as_data = of.made.data;
    as_data.initial_states = plain.initial_states;
    as_data.terms = plain.terms;
    as_data.rows = plain.rows;
    return program::numbers_in_line(of.back, as_data);
}

}  // namespace

// Both sides add the same numbers in another order; sums for tables are rounded to multiples of 2^-64.
TEST(way_back, finds_the_derivatives_of_every_path) {
    const auto& best = *cpu::runnable_instruction_sets().sets[0];
    constexpr std::uint64_t paths = 300;  // one full pass of 256 paths and a part
    std::size_t trades = 0, numbers = 0;
    const auto compare = [&](const book& all, const market& in, std::size_t every) {
        for (std::size_t i = 0; i < state_of(all).trades.size(); i += every) {
            const books::trade& t = state_of(all).trades[i];
            const compiled_both_ways of(t, in);
            if (of.made.is_certain() || of.made.code.scenarios_per_step > 0) continue;
            const found_by_tile found = walked(of, paths, 0, best);
            std::vector<double> sum(of.way.places.size), size(sum.size());
            for (std::uint64_t p = 0; p < paths; ++p) {
                const std::vector<double> d =
                    in_line(of, tests::gradient_along(of.back, of.made.data, of.made.when, drawn(of, p)));
                for (std::size_t k = 0; k < d.size(); ++k) {
                    sum[k] += d[k];
                    size[k] += std::abs(d[k]);
                }
            }
            for (std::size_t k = 0; k < sum.size(); ++k) {
                ASSERT_NEAR(found.derivatives[k], sum[k], 1e-13 * size[k] + 1e-16)
                    << t.id << ", number " << k << " of " << sum.size();
            }
            ++trades;
            numbers += sum.size();
        }
    };
    compare(book_of_every_kind(), tests::demo_market(), 5);
    const book models = book::parse(book_of_every_model());
    compare(models, *models.market(), 1);
    EXPECT_GE(trades, 100u);
    EXPECT_GE(numbers, 10000u);
}

TEST(way_back, leaves_the_price_as_it_is) {
    const auto& best = *cpu::runnable_instruction_sets().sets[0];
    const book models = book::parse(book_of_every_model());
    for (const books::trade& t : state_of(models).trades) {
        const compiled_both_ways of(t, *models.market());
        cpu::lane_machine machine(best);
        std::vector<cpu::tile_result> alone(1);
        machine.walk(of.job(700), 0, alone);
        const kernels::moments m = walked(of, 700, 0, best).results[0].moments;
        EXPECT_EQ(std::bit_cast<std::uint64_t>(m.mean), std::bit_cast<std::uint64_t>(alone[0].moments.mean))
            << t.id;
        EXPECT_EQ(std::bit_cast<std::uint64_t>(m.m2), std::bit_cast<std::uint64_t>(alone[0].moments.m2))
            << t.id;
    }
}

TEST(way_back, is_the_same_in_any_pieces) {
    const auto& best = *cpu::runnable_instruction_sets().sets[0];
    const book models = book::parse(book_of_every_model());
    for (const program::precision in :
         {program::precision::double_, program::precision::single, program::precision::mixed}) {
        for (const books::trade& t : state_of(models).trades) {
            compiled_both_ways of(t, *models.market(), in);
            const found_by_tile whole = walked(of, 1024, 0, best, in);
            of.way.pieces.clear();
            for (std::size_t s = 0; s < of.made.when.steps(); s += 1 + s % 5) of.way.pieces.push_back(s);
            const found_by_tile pieces = walked(of, 1024, 0, best, in);
            EXPECT_TRUE(same_bits(whole.derivatives, pieces.derivatives)) << t.id;
        }
    }
}

TEST(way_back, has_the_same_bits_on_every_instruction_set) {
    const auto sets = cpu::runnable_instruction_sets();
    const book models = book::parse(book_of_every_model());
    for (const program::precision in : {program::precision::double_, program::precision::single}) {
        for (const books::trade& t : state_of(models).trades) {
            const compiled_both_ways of(t, *models.market(), in);
            const found_by_tile first = walked(of, 1000, 0, *sets.sets[0], in);
            for (const double d : first.derivatives) ASSERT_TRUE(std::isfinite(d)) << t.id;
            for (int s = 1; s < sets.count; ++s) {
                EXPECT_TRUE(
                    same_bits(first.derivatives,
                              walked(of, 1000, 0, *sets.sets[static_cast<std::size_t>(s)], in).derivatives))
                    << t.id;
            }
        }
    }
}

}  // namespace tilewalk::way_back_test
