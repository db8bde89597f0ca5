// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/program_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/row_layout.h"
#include "products/program/guard.h"
#include "products/program/quarters.h"

namespace tilewalk::cuda {

namespace {

// A literal with the exact number, which is rounded once if `real` is float.
std::string literal(double number) {
    if (std::isnan(number)) return "format<real>::nan";
    if (std::isinf(number)) return number > 0 ? "format<real>::infinity" : "-format<real>::infinity";
    const double size = std::fabs(number);
    if (size > std::numeric_limits<float>::max() || (size > 0 && size < std::numeric_limits<float>::min())) {
        // Written as bits, because the compiler warns about literals that become 0 or infinity in float.
        return "real(from_bits(" + std::to_string(std::bit_cast<std::uint64_t>(number)) + "ull))";
    }
    std::array<char, 40> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), std::fabs(number), std::chars_format::hex).ptr;
    return std::string("real(") + (std::signbit(number) ? "-0x" : "0x") + std::string(text.data(), end) + ")";
}

// C++ for one node. In the text, `z` has the normals of the step, then its uniforms, then its scenarios.
std::string expression(const program::node& n, const program::lane_section& of,
                       const program::path_program& p, std::size_t in_row) {
    const auto slot = std::to_string(n.args[0]);
    switch (n.code) {
        case program::operation::constant:
            return literal(n.number);
        case program::operation::term:
            return "term[" + slot + "]";
        case program::operation::row:
            return "row[" + std::to_string(in_row + n.args[0]) + "]";
        case program::operation::state:
            return "s[" + slot + "]";
        case program::operation::normal:
            return "real(z[" + slot + "])";
        case program::operation::uniform:
            return "real(z[" + std::to_string(static_cast<std::uint32_t>(p.normals_per_step) + n.args[0]) +
                   "])";
        case program::operation::scenario:
            return "real(z[" +
                   std::to_string(static_cast<std::uint32_t>(p.normals_per_step + p.uniforms_per_step) +
                                  n.args[0]) +
                   "])";
        default:
            break;
    }
    const program::operation_entry& entry = program::entry_of(n.code);
    if (program::reads_table(n.code)) {
        return "math::" + std::string(entry.name) + "(row.table(" +
               std::to_string(in_row + of.place_of_table(n.args[1])) + "), " +
               std::to_string(of.tables[n.args[1]].size) + ", v" + slot + ")";
    }
    std::string text = "math::" + std::string(entry.name) + "(";
    for (int a = 0; a < entry.arity; ++a) {
        if (a > 0) text += ", ";
        text += "v" + std::to_string(n.args[static_cast<std::size_t>(a)]);
    }
    return text + ")";
}

// C++ for a section's nodes. Nodes under a guard are declared before its `if`, since later nodes read them.
std::string statements(const program::guarded_section& of, const program::path_program& p,
                       std::size_t in_row) {
    const std::string indent(12, ' ');
    std::string out;
    std::size_t next = 0;
    const auto print = [&](std::size_t last, const std::string& start) {
        for (; next < last; ++next) {
            out += indent + start + "v" + std::to_string(next) + " = " +
                   expression(of.code.nodes[next], of.code, p, in_row) + ";\n";
        }
    };
    for (const program::guard& g : of.guards) {
        print(g.first, "const real ");
        out += indent + "real ";
        for (std::size_t i = g.first; i < g.last; ++i)
            out += (i == g.first ? "v" : ", v") + std::to_string(i);
        out += ";\n" + indent + "if (v" + std::to_string(g.condition) + (g.side ? " != " : " == ") +
               "real(0)) {\n";
        print(g.last, "    ");
        out += indent + "}\n";
    }
    print(of.code.nodes.size(), "const real ");
    return out;
}

std::string constant(const std::string& name, std::size_t number) {
    return "    static constexpr int " + name + " = " + std::to_string(number) + ";\n";
}

std::string stream_slots(const std::string& name, const std::vector<std::uint32_t>& streams, int slots) {
    std::string all;
    for (const program::place_in_stream& p : program::places_in_streams(streams, slots))
        all += (all.empty() ? "" : ", ") + std::to_string(p.stream);
    return "    using " + name + " = stream_slots<" + all + ">;\n";
}

}  // namespace

std::string program_text(const program::path_program& p, const std::string& name) {
    const row_layout rows = layout_of_rows(p);
    std::string widths;
    for (const std::size_t w : rows.widths) widths += (widths.empty() ? "" : ", ") + std::to_string(w);
    std::string out = "struct " + name + " {\n";
    out += stream_slots("normal_slots", p.normal_streams, p.normals_per_step) +
           stream_slots("uniform_slots", p.uniform_streams, p.uniforms_per_step);
    out += constant("states", p.states.size()) + constant("terms", p.per_trade.columns.size()) +
           constant("sections", p.sections.size()) +
           constant("normals", static_cast<std::size_t>(p.normals_per_step)) +
           constant("uniforms", static_cast<std::size_t>(p.uniforms_per_step)) +
           constant("scenarios", static_cast<std::size_t>(p.scenarios_per_step)) +
           constant("output", p.outputs.at(0));
    out += "    static constexpr int row_width(int k) {\n        constexpr int widths[] = {" + widths +
           "};\n        return widths[k];\n    }\n\n";
    // Members that few programs need are left out, so that the texts of all other programs stay as they were.
    if (p.outputs.size() > 1) {
        std::string states;
        for (const auto o : p.outputs) states += (states.empty() ? "" : ", ") + std::to_string(o);
        out += constant("outputs", p.outputs.size()) +
               "    static constexpr int output_of(int k) {\n        constexpr int states[] = {" + states +
               "};\n        return states[k];\n    }\n\n";
    }
    if (!p.crossed.empty()) {
        const auto places = [&](const std::string& called, std::uint32_t program::output_pair::*of) {
            std::string all;
            for (const program::output_pair& c : p.crossed)
                all += (all.empty() ? "" : ", ") + std::to_string(c.*of);
            return "    static constexpr int " + called + "(int k) {\n        constexpr int outputs[] = {" +
                   all + "};\n        return outputs[k];\n    }\n";
        };
        if (std::ranges::any_of(p.crossed, program::is_quarter))
            out += "    static constexpr bool has_quarters = true;\n";
        out += constant("sums", p.crossed.size()) + places("first_of", &program::output_pair::first) +
               places("second_of", &program::output_pair::second) + "\n";
    }
    std::size_t step_nodes = 0;
    for (const program::lane_section& s : p.sections)
        if (&s == &p.sections[0] || s.is_on_every_step) step_nodes += s.nodes.size();
    out += constant("step_nodes", step_nodes);
    if (rows.every_step != 0)
        out += "    static constexpr word32 every_step = " + std::to_string(rows.every_step) + ";\n\n";
    if (rows.step_has_tables) out += "    static constexpr bool step_has_tables = true;\n\n";
    out +=
        "    template <int k, class real, class shock, class row_numbers, class numbers>\n"
        "    static void section(real (&s)[states], const shock* z, const row_numbers& row, const numbers& "
        "term) "
        "{\n";
    for (std::size_t k = 0; k < p.sections.size(); ++k) {
        if (p.sections[k].writes.empty()) continue;
        const program::guarded_section of = program::guarded(p.sections[k]);
        out +=
            "        if constexpr (k == " + std::to_string(k) + ") {\n" + statements(of, p, rows.places[k]);
        for (const program::state_write& w : of.code.writes) {
            out += "            s[" + std::to_string(w.state) + "] = v" + std::to_string(w.node) + ";\n";
        }
        out += "        }\n";
    }
    return out + "    }\n};\n";
}

std::string table_text(const std::string& head, const std::string& index,
                       const std::vector<std::uint64_t>& numbers) {
    std::string all;
    for (const std::uint64_t x : numbers) all += (all.empty() ? "" : ", ") + std::to_string(x);
    return "static constexpr int " + head + " { constexpr int of[] = {" + (all.empty() ? "0" : all) +
           "}; return of[" + index + "]; }\n";
}

std::string includes_text(const std::vector<std::string>& headers) {
    std::string out;
    for (const std::string& header : headers) out += "#include \"" + header + "\"\n";
    return out;
}

std::string draws_text(const program::precision_traits& words, int rounds, const std::string& scenarios) {
    const std::string draws(words.draws);
    return "feeds::random_draws<" + (words.is_fast ? draws + "<" + std::to_string(rounds) + ">" : draws) +
           ", program::normal_slots, program::uniform_slots, " + scenarios + ">";
}

std::string scenarios_text(const program::path_program& p, std::string_view space) {
    if (p.scenarios_per_step == 0) return "no_scenarios";
    return "scenarios_in_memory<shape, " + std::to_string(p.scenarios_per_step) +
           ", spaces::" + std::string(space) + ">";
}

std::string shape_text(const kernel_decision& how, int slots) {
    const feed_entry& feed = feed_named(how.feed);
    const auto used = [&](knob_id k, int otherwise) { return feed.makes_use_of(k) ? how[k] : otherwise; };
    const int layout = used(knobs::layout, static_cast<int>(kernels::ring_layout::plain));
    const bool is_padded = layout == static_cast<int>(kernels::ring_layout::padded);
    return fmt::format("feed_shape<{}, {}, {}, {}, {}, {}, ring_layout::{}, {}>",
                       word_of(program::shock_type(how.precision)), slots, how[knobs::width],
                       how[knobs::block], used(knobs::distance, 1), used(knobs::rows, 1),
                       text_of(knobs::layout.line(), layout), is_padded ? how[knobs::padding] : 0);
}

std::string bounds_text(std::uint32_t threads, int resident_blocks) {
    const std::string bounds = std::to_string(threads);
    return resident_blocks == 0 ? bounds
                                : fmt::format("{} TILEWALK_RESIDENT_BLOCKS({})", bounds, resident_blocks);
}

}  // namespace tilewalk::cuda
