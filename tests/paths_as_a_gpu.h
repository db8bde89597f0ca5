// SPDX-License-Identifier: Apache-2.0
// Path kernels on the host for fake GPUs: they read packed trades as real kernels do, and give the CPU's
// bits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/walk/cuda/compile/row_layout.h"
#include "engine/walk/cuda/device/device.h"
#include "kernels/arguments.h"
#include "kernels/draws.h"
#include "kernels/tile_result.h"
#include "products/program/evaluate.h"
#include "products/program/passes.h"
#include "products/program/precision.h"

namespace tilewalk::tests {

using cuda::launch;
using kernels::word32;
using kernels::word64;
using program::precision;

// A trade as a kernel finds it in memory, read by the rules of kernels/arguments.h alone.
struct trade_in_memory {
    const program::path_program& code;
    const double* terms;
    const double* initial;
    std::vector<const double*> rows;  // first row of numbers of each section
    const word32* keys;               // keys of streams, two words each
    std::vector<word32> masks;
    std::vector<std::size_t> pitches;  // distance between rows of numbers, by section
    std::size_t steps;

    trade_in_memory(const program::path_program& p, const kernels::path_arguments& a,
                    const kernels::trade_record& r)
        : code(p), steps(r.steps) {
        terms = static_cast<const double*>(a.numbers) + r.numbers_at;
        initial =
            terms + kernels::whole_pieces(static_cast<word32>(p.per_trade.columns.size()), sizeof(double));
        keys = a.words + r.words_at;
        const word32* words =
            keys + kernels::whole_pieces(static_cast<word32>(2 * streams()), sizeof(word32));
        const cuda::row_layout layout = cuda::layout_of_rows(p);
        for (std::size_t k = 0; k < p.sections.size(); ++k) {
            const std::size_t in = p.sections[k].is_on_every_step ? 0 : k;
            rows.push_back(terms + words[in] + layout.places[k]);
            pitches.push_back(kernels::row_pitch(static_cast<word32>(layout.widths[in]), sizeof(double)));
        }
        masks.assign(steps, layout.every_step);
        const word32* event = words + kernels::event_place(static_cast<word32>(p.sections.size()), 0);
        for (; event[0] != kernels::no_step; event += 2) masks[event[0]] |= event[1];
    }

    static std::size_t streams(const std::vector<std::uint32_t>& of, int slots) {
        if (of.empty()) return slots > 0 ? 1 : 0;
        return *std::ranges::max_element(of) + 1;
    }
    std::size_t streams() const {
        return streams(code.normal_streams, code.normals_per_step) +
               streams(code.uniform_streams, code.uniforms_per_step);
    }

    std::string bytes() const {
        std::string out;
        const auto add = [&](const auto* first, std::size_t count) {
            out.append(reinterpret_cast<const char*>(first), count * sizeof *first);
        };
        add(terms, code.per_trade.columns.size());
        add(initial, code.states.size());
        add(keys, 2 * streams());
        add(masks.data(), steps);
        for (std::size_t k = 0; k < code.sections.size(); ++k) {
            std::size_t runs = k == 0 ? steps : 0;
            for (std::size_t step = 0; k > 0 && step < steps; ++step) runs += masks[step] >> k & 1;
            if (!code.sections[k].is_on_every_step) add(rows[k], runs * pitches[k]);
        }
        return out;
    }
};

template <class maker>
std::vector<double> shocks(std::size_t per_block, const maker& draw, word64 seed, word64 path,
                           std::size_t step, const std::vector<std::uint32_t>& streams, int per_step,
                           const word32* keys) {
    std::vector<double> out;
    for (const program::place_in_stream& p : program::places_in_streams(streams, per_step)) {
        const std::size_t number = step * p.dimensions + p.dimension;
        const word32* key = keys + 2 * std::size_t{p.stream};
        out.push_back(
            draw(seed, path, static_cast<word32>(number / per_block), kernels::stream_key{key[0], key[1]})
                .x[number % per_block]);
    }
    return out;
}

inline void run_section(const program::lane_section& s, std::vector<double>& states, const double* terms,
                        const double* row, const std::vector<double>& normals,
                        const std::vector<double>& uniforms) {
    std::vector<double> values;
    for (const program::node& n : s.nodes) {
        const auto value_of = [&](std::size_t arg) {
            return n.args[arg] < values.size() ? values[n.args[arg]] : 0.0;
        };
        using program::operation;
        switch (n.code) {
            case operation::constant:
                values.push_back(n.number);
                break;
            case operation::term:
                values.push_back(terms[n.args[0]]);
                break;
            case operation::row:
                values.push_back(row[n.args[0]]);
                break;
            case operation::state:
                values.push_back(states[n.args[0]]);
                break;
            case operation::normal:
                values.push_back(normals[n.args[0]]);
                break;
            case operation::uniform:
                values.push_back(uniforms[n.args[0]]);
                break;
            default:
                values.push_back(program::evaluate(n.code, value_of(0), value_of(1), value_of(2)));
        }
    }
    std::vector<double> after = states;
    for (const auto& w : s.writes) after[w.state] = values[w.node];
    states = after;
}

template <class draws>
double payoff(const trade_in_memory& t, word64 seed, word64 path) {
    std::vector<double> states(t.initial, t.initial + t.code.states.size());
    std::vector<const double*> rows = t.rows;
    for (std::size_t step = 0; step < t.steps; ++step) {
        const auto z = shocks(
            draws::per_block, [](auto... at) { return draws::normals(at...); }, seed, path, step,
            t.code.normal_streams, t.code.normals_per_step, t.keys);
        const auto u = shocks(
            draws::per_block, [](auto... at) { return draws::uniforms(at...); }, seed, path, step,
            t.code.uniform_streams, t.code.uniforms_per_step,
            t.keys + 2 * trade_in_memory::streams(t.code.normal_streams, t.code.normals_per_step));
        for (std::size_t k = 0; k < t.code.sections.size(); ++k) {
            if (k > 0 && (t.masks[step] >> k & 1) == 0) continue;
            run_section(t.code.sections[k], states, t.terms, rows[k], z, u);
            rows[k] += t.pitches[k];
        }
    }
    return states[t.code.outputs[0]];
}

inline kernels::tile_result walk_tile(const trade_in_memory& t, precision in, word64 seed, word64 paths,
                                      word64 tile) {
    // Remembers tiles: these tests walk the same numbers hundreds of times.
    static std::mutex lock;
    const std::lock_guard guard(lock);
    static std::map<std::string, kernels::tile_result> known;
    const std::array<word64, 4> what{static_cast<word64>(in), seed, paths, tile};
    const std::string key = program::shape_of(t.code) + t.bytes() +
                            std::string(reinterpret_cast<const char*>(&what), sizeof what);
    const auto at = known.find(key);
    if (at != known.end()) return at->second;
    kernels::tile_result r;
    std::array<double, kernels::paths_per_tile> payoffs{};
    const int count = kernels::paths_in_tile(paths, tile);
    for (int i = 0; i < count; ++i) {
        const word64 path = tile * kernels::paths_per_tile + static_cast<word64>(i);
        double& x = payoffs[static_cast<std::size_t>(i)];
        x = in == precision::mixed ? payoff<kernels::single_draws>(t, seed, path)
                                   : payoff<kernels::double_draws>(t, seed, path);
        if (!std::isfinite(x) && r.not_finite++ == 0) r.first_not_finite = path;
    }
    if (r.not_finite == 0) r.moments = kernels::tile_moments(payoffs.data(), count);
    return known[key] = r;
}

// Merges a trade's tiles pairwise, into m[0].
inline void merge_row(kernels::tile_result* m, word32 tiles) {
    for (word32 count = tiles; count > 1; count = (count + 1) / 2) {
        for (word32 i = 0; i < (count + 1) / 2; ++i)
            m[i] = 2 * i + 1 < count ? kernels::merge(m[2 * i], m[2 * i + 1]) : m[2 * i];
    }
}

template <class user>
void for_each_block(const launch& how, const kernels::path_arguments& a, const user& use) {
    for (word32 block = 0; block < how.blocks; ++block) {
        const word32 inner = a.trades_first != 0 ? a.trade_count : a.tiles;
        const word32 trade = a.trades_first != 0 ? block % inner : block / inner;
        const word32 tile = a.trades_first != 0 ? block / inner : block % inner;
        use(a.trades[trade], tile);
    }
}

inline void run_walk(const program::path_program& code, precision in, const launch& how,
                     const kernels::path_arguments& a) {
    EXPECT_EQ(how.blocks, a.trade_count * a.tiles);
    for_each_block(how, a, [&](const kernels::trade_record& r, word32 tile) {
        kernels::tile_result* tiles = a.results + word64{r.result} * a.tiles;
        tiles[tile] = walk_tile(trade_in_memory(code, a, r), in, a.seed, a.paths, a.first_tile + tile);
        if (a.finished == nullptr) return;
        const word32 part = tile / a.part_tiles, first = part * a.part_tiles;
        const word32 count = std::min(a.part_tiles, a.tiles - first);
        const word64 at = word64{r.result} * kernels::parts_of(a.tiles, a.part_tiles) + part;
        if (++a.finished[at] != count) return;
        merge_row(tiles + first, count);
        a.merged[at] = tiles[first];
    });
}

inline void run_merge(const launch& how, const kernels::merge_arguments& a) {
    const word32 parts = kernels::parts_of(a.tiles_per_trade, a.part_tiles);
    for (word32 block = 0; block < how.blocks; ++block) {
        const word32 first = block % parts * a.part_tiles;
        kernels::tile_result* m = a.tiles + word64{block / parts} * a.tiles_per_trade + first;
        merge_row(m, std::min(a.part_tiles, a.tiles_per_trade - first));
        a.merged[block] = m[0];
    }
}

}  // namespace tilewalk::tests
