// SPDX-License-Identifier: Apache-2.0
// Passes over a program. Only `regroup` and `contract` change bits. A pass returns a new program and keeps
// state, term, row and table slots, so the data recorded beside the program stays valid.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "products/program/precision.h"
#include "products/program/program.h"
#include "products/program/timeline.h"

namespace tilewalk::program {

// Evaluates operations on constants and drops identities (x * 1, x - 0, select(c, x, x)).
program fold(const program& p);
// Merges equal operations on equal operands into one node.
program share(const program& p);
// Drops nodes, writes and whole states that no output depends on.
program drop_dead(const program& p);

// For single_fast: gathers factors and divisors that all paths share. Paths then multiply once by their
// product, and divide by none.
program regroup(const program& p);

// Compares logarithms where a level that all paths share is compared with the least or greatest of products
// of exponentials. Every decision stays the same; an exponential that no payoff reads disappears.
program compare_logarithms(const program& p);

struct pass {
    std::string_view name, what;  // `what` completes the sentence "the pass ..."
    program (*run)(const program& p);
    bool is_fast;  // runs for precision single_fast alone
};
// All passes, in the order in which they run.
std::span<const pass> passes();

struct pass_options {
    bool is_fast = false;                      // for precision single_fast
    std::vector<std::string_view> left_out{};  // names of passes not to run
};
program optimise(const program& p, const pass_options& with = {});

// Describes the first fault of a program: an operand that comes after its node, an empty slot, a state that
// is written twice. Empty if there is none. Debug builds check after every pass.
std::string fault_of(const program& p);

struct uniform_code {
    std::vector<node> nodes;
    std::vector<std::uint32_t> columns;  // nodes whose results the paths read, by column
    // Names of inputs, by slot, for people; no part of the shape. Empty in a united program.
    std::vector<std::string> inputs{};
};

struct lane_table {
    std::uint32_t source = 0;
    std::uint32_t size = 0;
};

struct lane_section {
    std::string name;
    // Code run once for each run of the section: `term` reads a column of per_trade, `row` a recorded row.
    uniform_code per_run;
    // Code run on each path: `term` reads a column of per_trade, `row` a column of per_run.
    std::vector<node> nodes;
    std::vector<state_write> writes;
    std::vector<lane_table> tables{};  // by slot
    // Runs after every step, before any section that does not (see mark_every_step).
    bool is_on_every_step = false;

    // Numbers in a row of the section's data: the columns of per_run, then the tables.
    std::size_t row_width() const { return place_of_table(tables.size()); }
    std::size_t place_of_table(std::size_t slot) const {
        std::size_t place = per_run.columns.size();
        for (std::size_t t = 0; t < slot; ++t) place += tables[t].size;
        return place;
    }
};

// The program that the back ends run: uniform work is hoisted, dead states are dropped.
struct path_program {
    uniform_code per_trade;
    std::vector<lane_section> sections;
    std::vector<std::string> states;
    std::vector<std::uint32_t> state_sources;  // by state: its number in the recorded program
    std::vector<std::uint32_t> outputs;
    int normals_per_step = 0;
    int uniforms_per_step = 0;
    int scenarios_per_step = 0;
    std::vector<output_pair> crossed{};                              // pairs of indices into `outputs`
    std::vector<std::uint32_t> normal_streams{}, uniform_streams{};  // by slot, as in `program`
    std::vector<std::uint32_t> lone_normals{};                       // slots, as in `program`

    // Rows of a tally: the outputs, then the sums of pairs.
    std::size_t results() const { return outputs.size() + crossed.size(); }
    // Payoffs of a tile that a walk keeps at once: all outputs, and one sum of a pair.
    std::size_t payoff_rows() const { return outputs.size() + (crossed.empty() ? 0 : 1); }
    // Numbers that a step reads for each path: normals, uniforms, scenarios, in this order.
    int slots_per_step() const { return normals_per_step + uniforms_per_step + scenarios_per_step; }
};

path_program hoist(const program& p);
std::string fault_of(const path_program& p);

// The name of a term or row; empty if it is computed from others. A term or row is found by its column of
// per_trade or per_run, an input by its slot.
std::string name_of_input(const uniform_code& code, std::size_t slot);
std::string name_of_term(const path_program& p, std::size_t column);
std::string name_of_row(const path_program& p, std::size_t section, std::size_t column);

struct path_data {
    std::vector<double> terms;              // by column of per_trade
    std::vector<std::vector<double>> rows;  // by section: row-major, one row a run, with its tables
    std::vector<std::size_t> runs, widths;  // by section: how many rows, and how many numbers each has
    std::vector<double> initial_states;
    std::vector<scenario_rows> scenarios{};                    // by slot
    std::vector<stream_name> normal_names{}, uniform_names{};  // by stream
};

// A program with the numbers of a trade and its timeline.
struct whole_program {
    path_program code;
    path_data data;
    timeline when;
};

// `walked_in` is the number type of the paths' states.
path_data bind(const path_program& p, const program_data& data, number_type walked_in = number_type::double_);

// False if a factor is not positive or a level not finite: such a trade is walked without compare_logarithms.
bool has_all_logarithms(const path_program& p, const path_data& data);

// Marks the sections that run after every step of the path, so that a walk need not test for them. In a step
// they run before all other sections. Sections that write nothing never run. `is_of_intervals` tells, by
// section, those that belong to steps rather than dates; on a path of one step only these are marked, because
// a section that ends such a path is not on every step of a longer path, which shares its kernel. A section
// whose number has no bit in a kernel's mask is not marked.
void mark_every_step(path_program& p, const timeline& when, const std::vector<bool>& is_of_intervals = {});

// For precision single_fast: a product used in a single sum or difference becomes a fused multiply-add, fixed
// in the program so that no compiler chooses it. Data bound to p fits the result too.
path_program contract(const path_program& p);

// Returns a fingerprint of a program's structure: equal for programs that run the same code.
std::string shape_of(const path_program& p);

std::string print(const path_program& p);

}  // namespace tilewalk::program
