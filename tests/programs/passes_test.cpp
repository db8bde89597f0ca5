// SPDX-License-Identifier: Apache-2.0
// Random programs, and small programs that write states in every way: the program after each pass, and on the
// lane machine, has the bits of the recorded program walked node by node. Also tests what a recorder refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/cpu/lane_machine.h"
#include "engine/walk/cpu/lane_program.h"
#include "kernels/shocks.h"
#include "products/program/evaluate.h"
#include "products/program/guard.h"
#include "products/program/passes.h"
#include "products/program/recorder.h"
#include "tests/plain_walk.h"
#include "tilewalk/error.h"

namespace tilewalk::passes_test {
namespace {

using program::operation;
using program::path_data;
using program::path_program;
using program::program_data;
using program::recorder;
using program::value;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t seed_of_paths = 20260115;

// All NaNs count as equal: no operation tells them apart.
bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

std::string all_of(const std::vector<double>& numbers) {
    std::ostringstream text;
    text.precision(17);
    for (const double x : numbers) text << x << ' ';
    return text.str();
}

::testing::AssertionResult same_numbers(const std::vector<double>& got, const std::vector<double>& expected) {
    bool equal = got.size() == expected.size();
    for (std::size_t i = 0; equal && i < got.size(); ++i) equal = same(got[i], expected[i]);
    if (equal) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "got " << all_of(got) << "expected " << all_of(expected);
}

// The normal or uniform for `slot` of `step`, number step * per_step + slot of the path; each block has two.
double shock(operation kind, std::uint64_t path, std::size_t step, std::uint32_t slot, int per_step) {
    const auto number = static_cast<std::uint32_t>(step * static_cast<std::size_t>(per_step) + slot);
    const auto two = kind == operation::normal ? kernels::normals(seed_of_paths, path, number / 2)
                                               : kernels::uniforms(seed_of_paths, path, number / 2);
    return number % 2 == 0 ? two.first : two.second;
}

constexpr std::uint64_t scenario_paths = 300, scenario_rows = 3;
const std::vector<arrays::shock_cube>& scenario_arrays() {
    static const std::vector<double> numbers = [] {
        std::mt19937_64 random(5);
        std::vector<double> made(2 * scenario_rows * scenario_paths);
        for (double& x : made) x = std::normal_distribution<double>(0, 2)(random);
        made[7] = infinity;
        made[scenario_paths + 3] = -0.0;
        return made;
    }();
    const auto array = [](std::uint64_t first) {
        return arrays::shock_cube{numbers.data() + first, scenario_paths, scenario_paths, scenario_rows, 1,
                                  scenario_paths};
    };
    static const std::vector<arrays::shock_cube> arrays{array(0), array(scenario_rows * scenario_paths)};
    return arrays;
}

double scenario(const program::scenario_rows& of, std::size_t step, std::uint64_t path) {
    const auto* first = std::get<const double*>(scenario_arrays()[of.array].first);
    return first[of.rows[step] * scenario_paths + path];
}

struct place_on_path {
    std::uint64_t path = 0;
    std::size_t step = 0;
    int normals_per_step = 0, uniforms_per_step = 0;
    const std::vector<program::scenario_rows>& scenarios;
};

struct seen_table {
    const double* first = nullptr;
    std::size_t size = 0;
};

// Runs a section once, node by node. Nodes that a guard skips stay NaN.
void run_section(const std::vector<program::node>& nodes, const std::vector<program::state_write>& writes,
                 const double* terms, const double* row, const std::vector<seen_table>& tables,
                 const place_on_path& at, std::vector<double>& states,
                 const std::vector<program::guard>& guards = {}) {
    std::vector<double> v(nodes.size());
    const auto is_left_out = [&](std::size_t i) {
        for (const program::guard& g : guards) {
            if (i >= g.first && i < g.last) return (v[g.condition] != 0) != g.side;
        }
        return false;
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const program::node& n = nodes[i];
        if (is_left_out(i)) {
            v[i] = not_a_number;
            continue;
        }
        switch (n.code) {
            case operation::constant:
                v[i] = n.number;
                break;
            case operation::term:
                v[i] = terms[n.args[0]];
                break;
            case operation::row:
                v[i] = row[n.args[0]];
                break;
            case operation::state:
                v[i] = states[n.args[0]];
                break;
            case operation::normal:
                v[i] = shock(n.code, at.path, at.step, n.args[0], at.normals_per_step);
                break;
            case operation::uniform:
                v[i] = shock(n.code, at.path, at.step, n.args[0], at.uniforms_per_step);
                break;
            case operation::scenario:
                v[i] = scenario(at.scenarios[n.args[0]], at.step, at.path);
                break;
            case operation::interpolate: {
                const seen_table& t = tables.at(n.args[1]);
                v[i] = tests::plain_interpolate<double>(t.first, t.size, v[n.args[0]]);
                break;
            }
            default: {
                double x[3] = {0, 0, 0};
                for (int a = 0; a < program::entry_of(n.code).arity; ++a)
                    x[a] = v[n.args[static_cast<std::size_t>(a)]];
                v[i] = program::evaluate(n.code, x[0], x[1], x[2]);
            }
        }
    }
    for (const auto& w : writes) states[w.state] = v[w.node];
}

std::vector<double> results_of(const std::vector<double>& states, const std::vector<std::uint32_t>& outputs) {
    std::vector<double> out;
    for (const auto o : outputs) out.push_back(states[o]);
    return out;
}

std::vector<double> walk(const program::program& p, const program_data& data, const program::timeline& when,
                         std::uint64_t path) {
    std::vector<double> states = data.initial_states;
    const auto run = [&](std::size_t s, std::size_t row, std::size_t step) {
        std::vector<seen_table> tables;
        for (std::size_t t = 0; t < p.sections[s].tables.size(); ++t) {
            const std::size_t size = p.sections[s].tables[t].size;
            tables.push_back({data.tables[s][t].data() + row * size, size});
        }
        run_section(p.sections[s].nodes, p.sections[s].writes, data.terms.data(),
                    data.rows[s].data() + row * data.widths[s], tables,
                    {path, step, p.normals_per_step, p.uniforms_per_step, data.scenarios}, states);
    };
    for (std::size_t step = 0; step < when.steps(); ++step) {
        run(0, step, step);
        for (const auto& e : when.events_after(step)) run(e.section, e.row, step);
    }
    return results_of(states, p.outputs);
}

// Walks one path node by node. With `guarded`, skips nodes that only the untaken side of a choice needs.
std::vector<double> walk(const path_program& p, const path_data& data, const program::timeline& when,
                         std::uint64_t path, bool guarded = false) {
    std::vector<double> states = data.initial_states;
    const auto run = [&](std::size_t s, std::size_t row, std::size_t step) {
        const auto of = program::guarded(p.sections[s], guarded ? 1 : program::least_guarded_cost);
        const double* first = data.rows[s].data() + row * data.widths[s];
        std::vector<seen_table> tables;
        for (std::size_t t = 0; t < p.sections[s].tables.size(); ++t)
            tables.push_back({first + p.sections[s].place_of_table(t), p.sections[s].tables[t].size});
        const auto& code = guarded ? of.code : p.sections[s];
        run_section(code.nodes, code.writes, data.terms.data(), first, tables,
                    {path, step, p.normals_per_step, p.uniforms_per_step, data.scenarios}, states,
                    guarded ? of.guards : std::vector<program::guard>{});
    };
    for (std::size_t step = 0; step < when.steps(); ++step) {
        run(0, step, step);
        for (const auto& e : when.events_after(step)) run(e.section, e.row, step);
    }
    return results_of(states, p.outputs);
}

struct example {
    recorder::recorded made;
    program::timeline when;
};

std::string text_of(const program::program& p) {
    std::ostringstream text;
    text.precision(17);
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        text << "section " << s << "\n";
        for (std::size_t i = 0; i < p.sections[s].nodes.size(); ++i) {
            const auto& n = p.sections[s].nodes[i];
            text << "  v" << i << " = " << program::entry_of(n.code).name << ' ' << n.args[0] << ' '
                 << n.args[1] << ' ' << n.args[2] << ' ' << n.number << "\n";
        }
        for (const auto& w : p.sections[s].writes) text << "  s" << w.state << " <- v" << w.node << "\n";
    }
    text << "outputs";
    for (const auto o : p.outputs) text << " s" << o;
    return text.str();
}

// The lane machine returns only moments. They are compared with the moments of the expected payoffs, over all
// paths and over the first path alone.
void check_lane_machine(const example& e, const cpu::lane_program& compiled, const path_data& data,
                        const std::vector<std::vector<double>>& expected) {
    const auto sets = cpu::runnable_instruction_sets();
    const std::uint64_t paths = expected.size();
    for (int s = 0; s < sets.count; ++s) {
        const auto& operations = *sets.sets[static_cast<std::size_t>(s)];
        cpu::lane_machine machine(operations);
        std::vector<cpu::tile_result> results(compiled.outputs.size());
        for (const std::uint64_t count : {std::uint64_t{1}, paths}) {
            cpu::path_job job{&compiled, &data, &e.when, seed_of_paths, count};
            job.scenarios = scenario_arrays();
            machine.walk(job, 0, results);
            for (std::size_t o = 0; o < results.size(); ++o) {
                std::vector<double> payoffs(kernels::paths_per_tile, 0.0);
                std::uint64_t bad = 0, first_bad = ~0ull;
                for (std::uint64_t p = 0; p < count; ++p) {
                    payoffs[p] = expected[p][o];
                    if (!std::isfinite(payoffs[p]) && bad++ == 0) first_bad = p;
                }
                const auto m = bad == 0 ? kernels::tile_moments(payoffs.data(), static_cast<int>(count))
                                        : kernels::moments{};
                const auto& r = results[o];
                ASSERT_EQ(r.not_finite, bad) << operations.name << " output " << o;
                ASSERT_EQ(r.first_not_finite, first_bad) << operations.name << " output " << o;
                ASSERT_TRUE(
                    same_numbers({r.moments.count, r.moments.mean, r.moments.m2, r.moments.m3, r.moments.m4},
                                 {m.count, m.mean, m.m2, m.m3, m.m4}))
                    << operations.name << " output " << o << ", " << count << " paths";
            }
        }
    }
}

void check(const example& e, std::uint64_t paths, std::uint64_t interpreted_paths) {
    const auto& raw = e.made.code;
    SCOPED_TRACE(text_of(raw));
    std::vector<std::vector<double>> expected;
    for (std::uint64_t p = 0; p < paths; ++p) expected.push_back(walk(raw, e.made.data, e.when, p));

    const auto optimised = program::optimise(raw);
    struct after {
        std::string name;
        program::program code;
    };
    std::vector<after> all{{"optimise", optimised}};
    for (const program::pass& p : program::passes()) {
        if (p.is_fast) continue;
        all.push_back({std::string(p.name), p.run(raw)});
        all.push_back({"all but " + std::string(p.name), program::optimise(raw, {.left_out = {p.name}})});
    }
    ASSERT_EQ(all.size(), 7u);
    ASSERT_EQ(program::fault_of(raw), "");
    for (const auto& pass : all) {
        ASSERT_EQ(program::fault_of(pass.code), "") << pass.name << "\n" << text_of(pass.code);
        for (std::uint64_t p = 0; p < interpreted_paths; ++p) {
            ASSERT_TRUE(same_numbers(walk(pass.code, e.made.data, e.when, p), expected[p]))
                << pass.name << " path " << p << "\n"
                << text_of(pass.code);
        }
    }
    for (const auto* p : {&raw, &optimised}) {
        const path_program code = program::hoist(*p);
        ASSERT_EQ(program::fault_of(code), "") << program::print(code);
        const path_data data = program::bind(code, e.made.data);
        SCOPED_TRACE((p == &raw ? "hoisted as recorded\n" : "hoisted after optimise\n") +
                     program::print(code));
        for (std::uint64_t i = 0; i < interpreted_paths; ++i) {
            ASSERT_TRUE(same_numbers(walk(code, data, e.when, i), expected[i])) << "hoist, path " << i;
            ASSERT_TRUE(same_numbers(walk(code, data, e.when, i, true), expected[i]))
                << "guarded, path " << i;
        }
        check_lane_machine(e, cpu::compile(code), data, expected);
        check_lane_machine(e, cpu::compile(code, 1), data, expected);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

class generator {
  public:
    explicit generator(std::uint64_t seed) : random_(seed) {}

    example make() {
        example e;
        recorder into;
        const std::size_t states = 1 + below(5), sections = 1 + below(4), steps = 1 + below(4);
        for (std::size_t s = 0; s < states; ++s) into.state("s" + std::to_string(s), number());
        std::vector<std::vector<std::size_t>> after(sections);
        for (std::size_t s = 1; s < sections; ++s) {
            for (std::size_t i = 0; i < steps; ++i) {
                if (below(3) != 0) after[s].push_back(i);
            }
        }
        steps_ = steps;
        scenarios_.clear();
        terms_.clear();
        for (int t = 0; t < 4; ++t) terms_.push_back(number());
        // Sections are recorded in any order: the step may come last.
        const std::size_t turn = below(sections);
        for (std::size_t k = 0; k < sections; ++k) {
            const std::size_t s = (k + turn) % sections;
            into.open_section(s, "section" + std::to_string(s), s == 0 ? steps : after[s].size());
            record(into, states, s == 0 ? steps : after[s].size());
        }
        into.open_section(sections, "close", 1);
        close(into, states);

        std::vector<std::size_t> next(sections, 0);
        for (std::size_t i = 0; i < steps; ++i) {
            for (std::size_t s = 1; s < sections; ++s) {
                if (next[s] < after[s].size() && after[s][next[s]] == i) {
                    e.when.add({static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(next[s]++)});
                }
            }
            if (i + 1 == steps) e.when.add({static_cast<std::uint32_t>(sections), 0});
            e.when.times.push_back(static_cast<double>(i + 1));
            e.when.close_step();
        }
        e.made = std::move(into).finish();
        return e;
    }

  private:
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

    double number() {
        static constexpr double special[] = {0.0,       -0.0,         1.0,    -1.0,  0.5, 2.0,      infinity,
                                             -infinity, not_a_number, 1e-310, 1e308, 3.0, 0x1p-1022};
        if (below(2) == 0) return special[below(std::size(special))];
        return std::normal_distribution<double>(0, 2)(random_);
    }

    value leaf(recorder& into, std::size_t states, std::size_t runs) {
        switch (below(9)) {
            case 0:
            case 1:
                return into.constant(number());
            case 2: {
                const std::size_t t = below(terms_.size());
                return into.term("t" + std::to_string(t), terms_[t]);
            }
            case 3: {
                // Each row gets a new name, because rows of one name must have equal numbers.
                std::vector<double> numbers;
                for (std::size_t r = 0; r < runs; ++r) numbers.push_back(number());
                return into.row("r" + std::to_string(rows_++), numbers);
            }
            case 4:
                return into.normal();
            case 5:
                return into.uniform();
            case 6: {
                const std::size_t slot = below(scenarios_.size() + 1);
                if (slot == scenarios_.size()) {
                    auto& made = scenarios_.emplace_back();
                    made.array = static_cast<std::uint32_t>(below(2));
                    for (std::size_t i = 0; i < steps_; ++i)
                        made.rows.push_back(static_cast<std::uint32_t>(below(scenario_rows)));
                }
                return into.scenario("z" + std::to_string(slot), scenarios_[slot]);
            }
            default:
                return into.read(static_cast<std::uint32_t>(below(states)));
        }
    }

    program::tabulated any_table(recorder& into, std::size_t runs) {
        if (!tables_.empty() && below(2) == 0) return tables_[below(tables_.size())];
        const std::size_t size = 2 + below(4);
        std::vector<double> numbers;
        for (std::size_t i = 0; i < runs * size; ++i) numbers.push_back(number());
        tables_.push_back(into.table("table" + std::to_string(tables_.size()), numbers, size));
        return tables_.back();
    }

    void record(recorder& into, std::size_t states, std::size_t runs) {
        tables_.clear();
        std::vector<value> pool;
        for (std::size_t i = 0, n = 2 + below(7); i < n; ++i) pool.push_back(leaf(into, states, runs));
        const auto any = [&] {
            // Mostly recent values, so that expressions nest deeply.
            return below(2) == 0 ? pool[below(pool.size())]
                                 : pool[pool.size() - 1 - below(std::min<std::size_t>(pool.size(), 4))];
        };
        constexpr auto first = static_cast<std::size_t>(operation::neg);
        for (std::size_t i = 0, n = below(24); i < n; ++i) {
            const auto code = static_cast<operation>(first + below(program::operations.size() - first));
            if (program::is_ahead_of_paths(code)) continue;
            if (program::reads_table(code)) {
                pool.push_back(into.interpolate(any_table(into, runs), any()));
                continue;
            }
            const value a = any(), b = any(), c = any();
            pool.push_back(below(8) == 0 ? program::select(a, b, c) : into.apply(code, a, b, c));
        }
        for (std::uint32_t s = 0; s < states; ++s) {
            const auto how = below(5);
            if (how == 0) continue;
            into.write(s, how == 1 ? into.read(static_cast<std::uint32_t>(below(states))) : any());
        }
    }

    // Outputs some states as they are, and all states mapped to finite numbers that tell zeros, infinities
    // and NaN apart, so that every path counts in the moments.
    void close(recorder& into, std::size_t states) {
        for (std::uint32_t s = 0; s < states; ++s) {
            if (below(2) == 0) into.output(s);
            const value x = into.read(s), one = into.constant(1.0), zero = into.constant(0.0);
            const value small =
                into.apply(operation::less, into.apply(operation::abs, x), into.constant(1e-30));
            const value moderate =
                into.apply(operation::less, into.apply(operation::abs, x), into.constant(1e30));
            const value is_number = into.apply(operation::equal, x, x);
            const value sign = into.apply(
                operation::select, into.apply(operation::less, into.apply(operation::div, one, x), zero),
                into.constant(-3.0), into.constant(5.0));
            const value large = into.apply(operation::select, into.apply(operation::less, x, zero),
                                           into.constant(-7.0), into.constant(11.0));
            const value squeezed = into.apply(
                operation::select, is_number,
                into.apply(operation::select, small, sign, into.apply(operation::select, moderate, x, large)),
                into.constant(13.0));
            const auto seen = into.state("seen" + std::to_string(s), 0.0);
            into.write(seen, squeezed);
            into.output(seen);
        }
    }

    std::mt19937_64 random_;
    std::vector<double> terms_;
    std::vector<program::scenario_rows> scenarios_;
    std::vector<program::tabulated> tables_;
    std::size_t steps_ = 0;
    std::size_t rows_ = 0;
};

TEST(passes, change_no_bit_of_random_programs) {
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        SCOPED_TRACE("program " + std::to_string(seed));
        check(generator(seed).make(), seed % 50 == 0 ? 300 : 24, 6);
        ASSERT_FALSE(HasFatalFailure());
    }
}

TEST(passes, random_programs_have_every_operation_and_lively_results) {
    std::vector<int> uses(program::operations.size(), 0);
    int finite = 0, all = 0, moving = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const example e = generator(seed).make();
        const auto optimised = program::optimise(e.made.code);
        for (const auto& s : optimised.sections) {
            for (const auto& n : s.nodes) ++uses[static_cast<std::size_t>(n.code)];
        }
        const auto first = walk(e.made.code, e.made.data, e.when, 0),
                   second = walk(e.made.code, e.made.data, e.when, 1);
        for (std::size_t i = 0; i < first.size(); ++i) {
            ++all;
            finite += std::isfinite(first[i]);
            moving += !same(first[i], second[i]);
        }
    }
    for (const auto& entry : program::operations) {
        if (program::is_ahead_of_paths(entry.code)) continue;  // no script records these
        EXPECT_GT(uses[static_cast<std::size_t>(entry.code)], 50) << entry.name;
    }
    EXPECT_GT(finite, all / 2);
    EXPECT_GT(moving, all / 8);
}

// Three states, each written in every way: not at all; from a state (itself too), a constant, a term or a
// row; or from a result that reads states early or late. The writes come in every order.
TEST(passes_lane_program, every_way_to_write_three_states) {
    constexpr int ways = 9;
    const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int choice = 0; choice < ways * ways * ways; ++choice) {
        const int way[3] = {choice % ways, choice / ways % ways, choice / ways / ways};
        for (const auto& order : orders) {
            recorder into;
            for (std::uint32_t s = 0; s < 3; ++s) {
                into.output(into.state("s" + std::to_string(s), 1.0 + s));
            }
            into.open_section(0, "step", 3);
            const value early = into.read(0) + into.read(1) * into.normal();
            const value unused_later = early * into.read(2);
            const value late = into.read(2) + unused_later * into.read(0);
            for (const int s : order) {
                const auto to = static_cast<std::uint32_t>(s);
                switch (way[s]) {
                    case 0:
                        break;
                    case 1:
                    case 2:
                    case 3:
                        into.write(to, into.read(static_cast<std::uint32_t>(way[s] - 1)));
                        break;
                    case 4:
                        into.write(to, into.constant(0.25));
                        break;
                    case 5:
                        into.write(to, into.term("t", 7.5));
                        break;
                    case 6:
                        into.write(to, into.row("r", std::vector<double>{4, 5, 6}));
                        break;
                    case 7:
                        into.write(to, early);
                        break;
                    case 8:
                        into.write(to, late);
                        break;
                    default:
                        FAIL();
                }
            }
            example e;
            e.made = std::move(into).finish();
            for (int step = 0; step < 3; ++step) {
                e.when.times.push_back(step + 1.0);
                e.when.close_step();
            }
            check(e, 3, 1);
            ASSERT_FALSE(HasFatalFailure());
        }
    }
}

std::vector<double> handed_on(const std::vector<int>& from, std::size_t steps) {
    recorder into;
    for (std::size_t s = 0; s < from.size(); ++s) {
        into.output(into.state("s" + std::to_string(s), static_cast<double>(s) + 1));
    }
    into.open_section(0, "step", steps);
    for (std::uint32_t s = 0; s < from.size(); ++s) {
        if (from[s] >= 0) into.write(s, into.read(static_cast<std::uint32_t>(from[s])));
    }
    const auto made = std::move(into).finish();
    program::timeline when;
    for (std::size_t step = 0; step < steps; ++step) {
        when.times.push_back(static_cast<double>(step + 1));
        when.close_step();
    }
    const auto code = program::hoist(program::optimise(made.code));
    const auto data = program::bind(code, made.data);
    const auto compiled = cpu::compile(code);
    cpu::lane_machine machine(*cpu::runnable_instruction_sets().sets[0]);
    std::vector<cpu::tile_result> results(from.size());
    machine.walk({&compiled, &data, &when, 1, 1}, 0, results);
    std::vector<double> out;
    for (const auto& r : results) out.push_back(r.moments.mean);
    return out;
}

TEST(passes_lane_program, states_handed_on) {
    EXPECT_EQ(handed_on({1, 0}, 1), (std::vector<double>{2, 1})) << "a swap";
    EXPECT_EQ(handed_on({1, 0}, 2), (std::vector<double>{1, 2}));
    EXPECT_EQ(handed_on({1, 2, 0}, 1), (std::vector<double>{2, 3, 1})) << "a ring";
    EXPECT_EQ(handed_on({2, 0, 1}, 1), (std::vector<double>{3, 1, 2})) << "the other way round";
    EXPECT_EQ(handed_on({1, 0, 3, 2}, 3), (std::vector<double>{2, 1, 4, 3})) << "two swaps";
    EXPECT_EQ(handed_on({1, 0, 3, 4, 2}, 1), (std::vector<double>{2, 1, 4, 5, 3})) << "a swap beside a ring";
    EXPECT_EQ(handed_on({1, 0, 0, 1}, 1), (std::vector<double>{2, 1, 1, 2})) << "a swap that others look at";
    EXPECT_EQ(handed_on({-1, 0, 1, 2}, 1), (std::vector<double>{1, 1, 2, 3})) << "a chain";
    EXPECT_EQ(handed_on({-1, 0, 1, 2}, 3), (std::vector<double>{1, 1, 1, 1}));
    EXPECT_EQ(handed_on({1, 2, 3, -1}, 1), (std::vector<double>{2, 3, 4, 4}))
        << "a chain the other way round";
    EXPECT_EQ(handed_on({0, 1}, 1), (std::vector<double>{1, 2})) << "to itself";
    EXPECT_EQ(handed_on({-1, -1}, 2), (std::vector<double>{1, 2})) << "never written";
}

// State x is overwritten while another state keeps its old value, which must cost a copy but no register.
TEST(passes_lane_program, a_kept_value_costs_no_register) {
    recorder into;
    const auto x = into.state("x", 0.5), before = into.state("x_before", 0.0);
    into.output(x);
    into.output(before);
    into.open_section(0, "step", 1);
    const value old = into.read(x);
    into.write(before, old);
    into.write(x, old * into.normal());
    const auto code = cpu::compile(program::hoist(program::optimise(std::move(into).finish().code)));
    EXPECT_EQ(code.registers, 2U);
    EXPECT_EQ(code.operations(), 2U);
}

TEST(passes_lane_program, computes_operations_on_numbers_alone) {
    const std::array numbers{0.375, 1.5, 2.25};
    for (const program::operation_entry& e : program::operations) {
        if (e.arity == 0 || program::reads_table(e.code)) continue;
        if (e.code == program::operation::least_log_reaching || e.code == program::operation::least_log_above)
            continue;  // computed ahead of paths, never on them
        program::path_program code;
        code.states = {"out"};
        code.outputs = {0};
        program::lane_section& step = code.sections.emplace_back();
        program::node made{e.code};
        for (std::uint32_t a = 0; a < 3; ++a) {
            step.nodes.push_back({program::operation::term, {a}});
            made.args[a] = a;
        }
        step.nodes.push_back(made);
        step.writes.push_back({0, 3});
        step.is_on_every_step = true;
        program::path_data data;
        data.terms.assign(numbers.begin(), numbers.end());
        data.rows.resize(1);
        data.runs = {1};
        data.widths = {0};
        data.initial_states = {0};
        program::timeline when;
        when.times.push_back(1);
        when.close_step();
        const auto compiled = cpu::compile(code);
        for (int set = 0; set < cpu::runnable_instruction_sets().count; ++set) {
            cpu::lane_machine machine(*cpu::runnable_instruction_sets().sets[static_cast<std::size_t>(set)]);
            cpu::tile_result result;
            machine.walk({&compiled, &data, &when, 1, 1}, 0, {&result, 1});
            EXPECT_EQ(result.moments.mean, program::evaluate(e.code, numbers[0], numbers[1], numbers[2]))
                << e.name;
        }
    }
}

program::program one_section(const std::function<void(recorder&)>& record) {
    recorder into;
    into.output(into.state("out", 0.0));
    into.state("other", 0.0);
    into.open_section(0, "step", 1);
    record(into);
    return std::move(into).finish().code;
}

std::size_t operations_left(const std::function<value(recorder&, value x)>& made) {
    const auto p =
        program::optimise(one_section([&](recorder& into) { into.write(0, made(into, into.normal())); }));
    std::size_t left = 0;
    for (const auto& n : p.sections[0].nodes) left += !program::is_leaf(n.code);
    return left;
}

TEST(passes, fold_drops_what_returns_an_operand_and_nothing_else) {
    EXPECT_EQ(operations_left([](recorder&, value x) { return x * 1.0; }), 0U);
    EXPECT_EQ(operations_left([](recorder&, value x) { return 1.0 * x; }), 0U);
    EXPECT_EQ(operations_left([](recorder&, value x) { return x / 1.0; }), 0U);
    EXPECT_EQ(operations_left([](recorder&, value x) { return x - 0.0; }), 0U);
    EXPECT_EQ(operations_left([](recorder&, value x) { return x + -0.0; }), 0U);
    EXPECT_EQ(operations_left([](recorder&, value x) { return -(-x); }), 0U);
    EXPECT_EQ(operations_left([](recorder& r, value x) { return x < r.constant(1.0) && r.truth(true); }), 1U);
    EXPECT_EQ(operations_left([](recorder& r, value x) { return r.truth(false) || x < r.constant(1.0); }),
              1U);
    // Rewrites that change -0.0, an infinity or NaN, or turn a number into a truth value.
    EXPECT_EQ(operations_left([](recorder&, value x) { return x + 0.0; }), 1U);
    EXPECT_EQ(operations_left([](recorder&, value x) { return 0.0 - x; }), 1U);
    EXPECT_EQ(operations_left([](recorder&, value x) { return x * 0.0; }), 1U);
    EXPECT_EQ(operations_left([](recorder&, value x) { return x - x; }), 1U);
    EXPECT_EQ(operations_left([](recorder&, value x) { return x / x; }), 1U);
    EXPECT_EQ(operations_left([](recorder& r, value x) { return x && r.truth(true); }), 1U);
    EXPECT_EQ(operations_left([](recorder&, value x) { return !!x; }), 2U);
}

TEST(passes, equal_work_is_done_once_and_dead_work_never) {
    EXPECT_EQ(operations_left([](recorder&, value x) { return exp(x) + exp(x); }), 2U);
    EXPECT_EQ(operations_left([](recorder& r, value x) {
                  r.write(1, exp(x));  // no output depends on this
                  return sin(x);
              }),
              1U);
    // 0.0 and -0.0 are equal numbers but different constants.
    EXPECT_EQ(operations_left([](recorder&, value x) { return (x + 0.0) / (x * -0.0); }), 3U);
    const auto p = one_section([](recorder& into) { into.write(0, into.read(0) + 1.0); });
    EXPECT_EQ(program::drop_dead(p).states.size(), 2U) << "slots stay as they were";
    EXPECT_EQ(program::hoist(p).states.size(), 1U) << "what is gone is gone for the back ends";
}

// min(a, b) and min(b, a) differ if one is NaN, or if both are zeros. An operation that the order of its
// operands can change by even a bit is not merged with the same one of swapped operands.
TEST(passes, what_the_order_of_operands_can_change_is_not_shared) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                     infinite = std::numeric_limits<double>::infinity();
    const double numbers[] = {nan, 0.0, -0.0, 1.0, -2.5, 3.0, infinite, -infinite};
    const auto bits = [](double x) {
        return std::isnan(x) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(x);
    };
    std::set<std::string_view> ordered;
    for (const program::operation_entry& op : program::operations) {
        if (op.arity != 2 || program::reads_table(op.code)) continue;
        bool is_ordered = false;
        for (const double a : numbers) {
            for (const double b : numbers) {
                is_ordered = is_ordered || bits(program::evaluate(op.code, a, b, 0)) !=
                                               bits(program::evaluate(op.code, b, a, 0));
            }
        }
        if (!is_ordered) continue;
        ordered.insert(op.name);
        EXPECT_EQ(operations_left([&](recorder& into, value x) {
                      const value y = exp(x);
                      return sin(into.apply(op.code, x, y)) / sin(into.apply(op.code, y, x));
                  }),
                  6U)
            << op.name;
        // The two sines stay apart also where they are hoisted off the paths.
        const auto uniform = program::hoist(program::optimise(one_section([&](recorder& into) {
            const value x = into.term("x", 2.0), y = into.term("y", 3.0);
            into.write(0, into.normal() * sin(into.apply(op.code, x, y)) / sin(into.apply(op.code, y, x)));
        })));
        EXPECT_EQ(uniform.per_trade.nodes.size(), 6U) << op.name;
    }
    for (const std::string_view known : {"min", "max", "sub", "div", "pow", "less", "less_equal"})
        EXPECT_TRUE(ordered.contains(known)) << known;
    EXPECT_EQ(operations_left([](recorder&, value x) {
                  const value y = exp(x);
                  return sin(min(x, y)) / sin(min(x, y));
              }),
              4U);
}

TEST(passes, uniform_work_leaves_the_paths) {
    const auto p = one_section([](recorder& into) {
        const value term = into.term("t", 2.0), row = into.row("r", std::vector<double>{3.0});
        into.write(0, exp(term) * log(row) * into.normal());
    });
    const auto code = program::hoist(p);
    EXPECT_EQ(code.per_trade.nodes.size(), 2U);            // term, exp
    EXPECT_EQ(code.sections[0].per_run.nodes.size(), 4U);  // row, log, exp of the term, product
    EXPECT_EQ(code.sections[0].nodes.size(), 3U);          // row, normal, product
}

// Counts the operations left on a path after hoisting, by name.
std::map<std::string, int> work_of_path(const std::function<value(recorder&, value)>& of) {
    const auto p = one_section([&](recorder& into) { into.write(0, of(into, into.normal())); });
    const auto regrouped = program::hoist(program::optimise(program::regroup(p)));
    std::map<std::string, int> out;
    for (const auto& n : regrouped.sections[0].nodes) {
        if (!program::is_leaf(n.code)) ++out[std::string(program::entry_of(n.code).name)];
    }
    return out;
}

TEST(passes, regrouped_paths_divide_by_nothing_uniform_and_multiply_once) {
    using counts = std::map<std::string, int>;
    const auto term = [](recorder& r, const char* name) { return r.term(name, 3.0); };
    EXPECT_EQ(work_of_path([&](recorder& r, value x) { return x / term(r, "a"); }), (counts{{"mul", 1}}));
    EXPECT_EQ(work_of_path([&](recorder& r, value x) { return term(r, "a") * exp(x) / term(r, "b"); }),
              (counts{{"exp", 1}, {"mul", 1}}));
    EXPECT_EQ(work_of_path([&](recorder& r, value x) {
                  return (x * term(r, "a") / r.row("r", std::vector<double>{2.0})) * term(r, "b") / 7.0;
              }),
              (counts{{"mul", 1}}));
    EXPECT_EQ(work_of_path([&](recorder& r, value x) { return term(r, "a") / x; }), (counts{{"div", 1}}));
    EXPECT_EQ(work_of_path([&](recorder& r, value x) { return (x + term(r, "a")) * x / exp(x); }),
              (counts{{"add", 1}, {"div", 1}, {"exp", 1}, {"mul", 1}}));
}

// Lists the guards: each side and condition, then the names of the operations skipped with it, in order.
std::vector<std::string> guards_of(const std::function<value(recorder&, value)>& of) {
    const auto code =
        program::hoist(one_section([&](recorder& into) { into.write(0, of(into, into.normal())); }));
    const auto found = program::guarded(code.sections[0]);
    std::vector<std::string> out;
    for (const program::guard& g : found.guards) {
        const auto name = [&](std::size_t i) { return program::entry_of(found.code.nodes[i].code).name; };
        std::string text = std::string(g.side ? "if " : "unless ") + std::string(name(g.condition)) + ":";
        for (std::size_t i = g.first; i < g.last; ++i) {
            if (!program::is_leaf(found.code.nodes[i].code)) text += " " + std::string(name(i));
        }
        out.push_back(text);
    }
    return out;
}

TEST(passes, what_one_side_of_a_choice_alone_needs_is_guarded_if_it_costs_much) {
    using guards = std::vector<std::string>;
    const auto dear = [](value x) { return norm_cdf(norm_inv(exp(x))); };
    const auto is_low = [](recorder& r, value x) { return x < r.constant(0.5); };
    EXPECT_EQ(guards_of([&](recorder& r, value x) { return select(is_low(r, x), dear(x), x); }),
              (guards{"if less: exp norm_inv norm_cdf"}));
    EXPECT_EQ(guards_of([&](recorder& r, value x) { return select(is_low(r, x), x, dear(x) + 1.0); }),
              (guards{"unless less: exp norm_inv norm_cdf add"}));
    EXPECT_EQ(guards_of([&](recorder& r, value x) { return select(is_low(r, x), exp(x), log(x)); }), guards{})
        << "too cheap";
    EXPECT_EQ(guards_of([&](recorder& r, value x) {
                  const value y = dear(x);
                  return select(is_low(r, x), y, x) + y;
              }),
              guards{})
        << "asked for elsewhere";
    EXPECT_EQ(guards_of([&](recorder& r, value x) {
                  const value y = dear(x), more = y + 1.0, square = y * y, low = is_low(r, x);
                  return select(low, more, x) / select(low, square, x);
              }),
              (guards{"if less: exp norm_inv norm_cdf add mul"}))
        << "two choices of one condition";
    EXPECT_EQ(guards_of([&](recorder& r, value x) {
                  const value y = dear(x), low = is_low(r, x);
                  return select(low, y, x) / select(low, x, y);
              }),
              guards{})
        << "both sides ask for it";
    EXPECT_EQ(guards_of([&](recorder& r, value x) {
                  const value lower = x < r.constant(0.1), other = exp(x), y = dear(x + 1.0);
                  return select(is_low(r, x), select(lower, y, other), x);
              }),
              (guards{"if less: less exp add exp norm_inv norm_cdf select"}))
        << "a choice within a choice";
}

TEST(passes, regrouped_programs_give_the_same_numbers_but_for_rounding) {
    recorder into;
    into.output(into.state("s", 1.0));
    into.open_section(0, "step", 2);
    const value a = into.term("a", 3.0), b = into.term("b", -7.0),
                row = into.row("r", std::vector<double>{0.3, 11.0});
    into.write(0, a * exp(into.normal()) / b * row - into.read(0) / row / a);
    const auto made = std::move(into).finish();
    program::timeline when;
    for (const double time : {1.0, 2.0}) {
        when.times.push_back(time);
        when.close_step();
    }
    const auto value_of = [&](const program::program& p) {
        const auto code = program::hoist(p);
        const auto data = program::bind(code, made.data);
        return tests::plain_walk<double>(
            code, data, when, [](std::uint64_t n) { return n == 0 ? 0.7 : -1.3; },
            [](std::uint64_t) { return 0.5; });
    };
    const double exact = value_of(made.code), regrouped = value_of(program::regroup(made.code));
    EXPECT_NE(exact, 0);
    EXPECT_NEAR(regrouped / exact, 1, 1e-14);
}

TEST(passes, the_shape_tells_structures_apart_and_not_numbers) {
    const auto shape = [](double constant, double term, bool swap) {
        return program::shape_of(program::hoist(one_section([&](recorder& into) {
            const value a = into.normal(), b = into.uniform();
            into.write(0, (swap ? b - a : a - b) * into.term("t", term) + constant);
        })));
    };
    EXPECT_EQ(shape(2, 3, false), shape(2, 4, false));
    EXPECT_NE(shape(2, 3, false), shape(2, 3, true));
    EXPECT_NE(shape(2, 3, false), shape(std::nextafter(2.0, 3.0), 3, false));
    EXPECT_NE(shape(0.0, 3, false), shape(-0.0, 3, false));
}

std::string defect(const std::function<void(recorder&)>& record) {
    recorder into;
    into.state("s", 0.0);
    try {
        record(into);
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::internal);
        return e.message();
    }
    return "accepted";
}

TEST(passes_recorder, values_stay_in_their_section) {
    EXPECT_EQ(defect([](recorder& into) {
                  into.open_section(0, "step", 1);
                  const value x = into.normal();
                  into.open_section(1, "one", 1);
                  into.apply(operation::add, into.constant(1.0), x);
              }),
              "recording: an operand of 'add' belongs to another section");
    EXPECT_EQ(defect([](recorder& into) {
                  into.open_section(0, "step", 1);
                  const value x = into.normal();
                  into.open_section(1, "one", 1);
                  into.write(0, x);
              }),
              "recording: a state is written with a value of another section");
    EXPECT_EQ(defect([](recorder& into) {
                  into.open_section(0, "step", 1);
                  const value x = into.normal();
                  into.open_section(1, "one", 1);
                  const value y = into.normal();  // x and y are node 0 of different sections
                  program::select(y, x, y);
              }),
              "recording: an operand of 'select' belongs to another section");
    EXPECT_EQ(defect([](recorder& into) {
                  into.set_eager(true);
                  const value x = into.constant(1.0);
                  into.set_eager(false);
                  into.open_section(0, "step", 1);
                  program::abs(x);
              }),
              "recording: an operand of 'abs' belongs to another section");
}

TEST(passes_recorder, values_stay_in_their_recorder) {
    recorder other;
    other.open_section(0, "step", 1);
    const value foreign = other.normal();
    EXPECT_EQ(defect([&](recorder& into) {
                  into.open_section(0, "step", 1);
                  into.write(0, foreign);
              }),
              "recording: a state is written with a value of another recorder");
    EXPECT_EQ(defect([&](recorder& into) {
                  into.open_section(0, "step", 1);
                  into.normal() + foreign;
              }),
              "recording: an operand of 'add' is missing");
    EXPECT_EQ(defect([&](recorder& into) {
                  into.open_section(0, "step", 1);
                  into.normal();
                  into.write(0, value{});
              }),
              "recording: a state is written with a value of another recorder");
    EXPECT_EQ(defect([&](recorder&) { value{} + value{}; }),
              "recording: an operation on values of no recorder");
}

TEST(passes_recorder, a_name_means_one_number) {
    EXPECT_EQ(defect([](recorder& into) {
                  into.open_section(0, "step", 1);
                  into.term("strike", 100.0);
                  into.term("strike", 100.0);
                  into.term("strike", 101.0);
              }),
              "recording: term 'strike' has two numbers");
    EXPECT_EQ(defect([](recorder& into) {
                  into.open_section(0, "step", 1);
                  into.term("zero", 0.0);
                  into.term("zero", -0.0);
              }),
              "recording: term 'zero' has two numbers");
    EXPECT_EQ(defect([](recorder& into) {
                  into.open_section(0, "step", 2);
                  into.row("drift", std::vector<double>{1, 2});
                  into.row("drift", std::vector<double>{1, 2});
                  into.row("drift", std::vector<double>{1, 3});
              }),
              "recording: row 'drift' is given twice");
    EXPECT_EQ(defect([](recorder& into) {
                  into.open_section(0, "step", 2);
                  into.row("drift", std::vector<double>{1});
              }),
              "recording: row 'drift' does not have one number a run");
}

TEST(passes_recorder, sections_are_opened_once_and_first) {
    EXPECT_EQ(defect([](recorder& into) { into.constant(1.0); }), "recording: no section is open");
    EXPECT_EQ(defect([](recorder& into) {
                  into.open_section(2, "two", 1);
                  into.open_section(2, "again", 1);
              }),
              "recording: section 'again' is recorded twice");
}

TEST(passes_recorder, the_same_name_is_the_same_slot_across_sections) {
    recorder into;
    into.output(into.state("s", 0.0));
    into.open_section(1, "one", 1);
    const value a = into.term("a", 1.0);
    into.write(0, a + into.term("b", 2.0));
    into.open_section(0, "step", 1);
    const value b = into.term("b", 2.0);
    into.write(0, b + into.term("a", 1.0));
    const auto made = std::move(into).finish();
    EXPECT_EQ(made.code.terms, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(made.data.terms, (std::vector<double>{1, 2}));
    EXPECT_EQ(made.code.sections[0].nodes[0].args[0], 1U);
}

TEST(passes_recorder, rows_stand_run_by_run) {
    recorder into;
    into.open_section(0, "step", 2);
    into.row("a", std::vector<double>{1, 2});
    into.row("b", std::vector<double>{3, 4});
    const auto made = std::move(into).finish();
    EXPECT_EQ(made.data.rows[0], (std::vector<double>{1, 3, 2, 4}));
    EXPECT_EQ(made.data.widths[0], 2U);
    EXPECT_EQ(made.data.runs[0], 2U);
}

TEST(passes_recorder, the_last_write_counts_and_reads_see_the_start) {
    recorder into;
    into.output(into.state("s", 1.0));
    into.open_section(0, "step", 1);
    into.write(0, into.constant(5.0));
    into.write(0, into.read(0) + 10.0);
    const auto made = std::move(into).finish();
    program::timeline when;
    when.times.push_back(1);
    when.close_step();
    EXPECT_EQ(walk(made.code, made.data, when, 0), std::vector<double>{11.0});
    EXPECT_EQ(made.code.sections[0].writes.size(), 1U);
}

TEST(passes_recorder, constants_fold_as_they_are_recorded) {
    recorder into;
    into.open_section(0, "step", 1);
    const value two = into.constant(2.0), x = into.normal();
    ASSERT_TRUE((two * 3.0).is_constant());
    EXPECT_EQ((two * 3.0).constant(), 6.0);
    EXPECT_TRUE(same(exp(two).constant(), program::evaluate(operation::exp, 2.0, 0, 0)));
    EXPECT_FALSE((two * x).is_constant());
    EXPECT_EQ(program::select(into.truth(true), x, two).index(), x.index());
    EXPECT_EQ(program::select(into.truth(false), x, two).index(), two.index());
    EXPECT_EQ(program::select(into.constant(not_a_number), x, two).index(), x.index())
        << "any number but zero is true";
    EXPECT_EQ(program::select(x, two, two).index(), two.index());
    EXPECT_THROW(x.constant(), error);
}

TEST(passes_recorder, eager_plays_at_once) {
    recorder into;
    const auto s = into.state("s", 3.0);
    into.output(s);
    into.set_eager(true);
    const value sum = into.read(s) + into.term("t", 4.0) * into.row("r", std::vector<double>{0.5});
    ASSERT_TRUE(sum.is_constant());
    EXPECT_EQ(sum.constant(), 5.0);
    into.write(s, sum);
    EXPECT_EQ(into.read(s).constant(), 5.0) << "what is written is read at once";
    EXPECT_EQ(into.term("t", 7.0).constant(), 7.0) << "no slots, so a name may mean something else each time";
    into.set_eager(false);
    const auto made = std::move(into).finish();
    EXPECT_EQ(made.data.initial_states, std::vector<double>{5.0});
    EXPECT_TRUE(made.code.terms.empty());
    EXPECT_TRUE(made.code.sections.empty());

    const auto in_the_past = [](const std::function<void(recorder&)>& does) {
        return defect([&](recorder& r) {
            r.set_eager(true);
            does(r);
        });
    };
    EXPECT_EQ(in_the_past([](recorder& r) { r.normal(); }), "recording: a shock in the past");
    EXPECT_EQ(in_the_past([](recorder& r) { r.uniform(); }), "recording: a shock in the past");
    EXPECT_EQ(in_the_past([](recorder& r) { r.scenario("z", {}); }), "recording: a scenario in the past");
    EXPECT_EQ(in_the_past([](recorder& r) {
                  r.row("r", std::vector<double>{1, 2});
              }),
              "recording: row 'r' is eager and has not one number");
    EXPECT_EQ(in_the_past([](recorder& r) { r.write(0, value{}); }),
              "recording: a state is written with a value of another recorder");
}

TEST(passes_recorder, shocks_take_slots_across_sections) {
    recorder into;
    into.output(into.state("s", 0.0));
    into.open_section(1, "one", 1);
    into.write(0, into.normal() + into.uniform());
    into.open_section(0, "step", 1);
    into.write(0, into.normal() * into.normal());
    const auto made = std::move(into).finish();
    EXPECT_EQ(made.code.normals_per_step, 3);
    EXPECT_EQ(made.code.uniforms_per_step, 1);
    EXPECT_EQ(made.code.sections[0].nodes[0].args[0], 1U);
}

TEST(passes_recorder, scenarios_take_slots_by_name) {
    recorder into;
    into.output(into.state("s", 0.0));
    into.open_section(1, "one", 1);
    into.write(0, into.scenario("b", {1, {0, 2}}));
    into.open_section(0, "step", 2);
    const value first = into.scenario("a", {0, {1, 1}});
    into.write(0, first * into.scenario("b", {1, {0, 2}}));
    const auto made = std::move(into).finish();
    EXPECT_EQ(made.code.scenarios_per_step, 2);
    EXPECT_EQ(made.code.sections[1].nodes[0].args[0], 0U);
    EXPECT_EQ(made.code.sections[0].nodes[0].args[0], 1U);
    EXPECT_EQ(made.code.sections[0].nodes[1].args[0], 0U);
    ASSERT_EQ(made.data.scenarios.size(), 2U);
    EXPECT_EQ(made.data.scenarios[0].array, 1U);
    EXPECT_EQ(made.data.scenarios[1].rows, (std::vector<std::uint32_t>{1, 1}));
    EXPECT_EQ(defect([](recorder& r) {
                  r.open_section(0, "step", 1);
                  r.scenario("a", {0, {1}});
                  r.scenario("a", {0, {2}});
              }),
              "recording: scenario 'a' is given twice");
}

// Each fault planted into a program is found, including one that a pass for single_fast would leave behind.
TEST(passes, faults_are_found) {
    recorder into;
    into.output(into.state("x", 0.0));
    into.open_section(0, "step", 1);
    into.write(0, into.read(0) + into.normal() * into.term("a", 2) * into.row("b", std::vector<double>{3}));
    const auto right = std::move(into).finish().code;
    ASSERT_EQ(program::fault_of(right), "");
    const path_program hoisted = program::hoist(right);
    ASSERT_EQ(program::fault_of(hoisted), "");
    ASSERT_EQ(program::fault_of(program::optimise(right, {.is_fast = true})), "");

    const auto first = [](auto& nodes, operation code) -> program::node& {
        return *std::ranges::find(nodes, code, &program::node::code);
    };
    using change = void (*)(program::program&, const decltype(first)&);
    const std::vector<std::pair<std::string, change>> faults{
        {"reads term 7 of 1",
         [](auto& p, const auto& at) { at(p.sections[0].nodes, operation::term).args[0] = 7; }},
        {"reads row 1 of 1",
         [](auto& p, const auto& at) { at(p.sections[0].nodes, operation::row).args[0] = 1; }},
        {"reads normal 1 of 1",
         [](auto& p, const auto& at) { at(p.sections[0].nodes, operation::normal).args[0] = 1; }},
        {"reads state 4 of 1",
         [](auto& p, const auto& at) { at(p.sections[0].nodes, operation::state).args[0] = 4; }},
        {"takes what comes after it",
         [](auto& p, const auto& at) { at(p.sections[0].nodes, operation::mul).args[1] = 100; }},
        {"writes node 99", [](auto& p, const auto&) { p.sections[0].writes[0].node = 99; }},
        {"writes state 0 twice",
         [](auto& p, const auto&) { p.sections[0].writes.push_back(p.sections[0].writes[0]); }},
        {"its output is state 1 of 1", [](auto& p, const auto&) { p.outputs[0] = 1; }},
    };
    for (const auto& [expected, plant] : faults) {
        program::program wrong = right;
        plant(wrong, first);
        EXPECT_NE(program::fault_of(wrong).find(expected), std::string::npos)
            << expected << ": '" << program::fault_of(wrong) << "'";
    }
    path_program wrong = hoisted;
    first(wrong.sections[0].nodes, operation::row).args[0] = 5;
    EXPECT_NE(program::fault_of(wrong).find("reads row 5 of 1"), std::string::npos)
        << program::fault_of(wrong);
    wrong = hoisted;
    wrong.per_trade.columns.push_back(50);
    EXPECT_NE(program::fault_of(wrong).find("a column is node 50"), std::string::npos);
}

TEST(passes, names_of_terms_and_rows_survive) {
    recorder into;
    into.output(into.state("x", 0.0));
    into.open_section(0, "step", 2);
    const value z = into.normal(), strike = into.term("strike", 100), rate = into.term("rate", 0.05);
    const value drift = into.row("drift", std::vector<double>{0.1, 0.2});
    const value noise = into.row("noise", std::vector<double>{0.3, 0.4});
    into.write(0, z * noise * strike + drift * exp(rate) + rate * z);
    const auto recorded = std::move(into).finish();
    path_program code = program::hoist(program::optimise(recorded.code));
    const path_data data = program::bind(code, recorded.data);
    const std::map<std::string, double> terms{{"strike", 100}, {"rate", 0.05}};
    std::set<std::string> named;
    for (std::size_t c = 0; c < data.terms.size(); ++c) {
        const std::string name = program::name_of_term(code, c);
        if (name.empty()) continue;
        named.insert(name);
        EXPECT_EQ(data.terms[c], terms.at(name)) << name;
    }
    for (std::size_t c = 0; c < data.widths.at(0); ++c) {
        const std::string name = program::name_of_row(code, 0, c);
        if (name.empty()) continue;
        named.insert(name);
        EXPECT_TRUE(name != "noise" || data.rows.at(0).at(c) == 0.3);
    }
    EXPECT_TRUE(named.contains("strike") && named.contains("rate") && named.contains("noise"));
    EXPECT_FALSE(named.contains("drift")) << "paths read its product with something else";
    EXPECT_NE(program::print(code).find(", strike\n"), std::string::npos) << program::print(code);
    EXPECT_EQ(program::name_of_term(code, 1000), "");

    // The shape, and so the kernel, does not depend on names.
    const std::string shape = program::shape_of(code);
    code.per_trade.inputs.clear();
    for (auto& s : code.sections) s.per_run.inputs.clear();
    EXPECT_EQ(program::shape_of(code), shape);
}

}  // namespace
}  // namespace tilewalk::passes_test
