// SPDX-License-Identifier: Apache-2.0
// Checks programs: operand order, operands that an operation does not take, empty slots.
#include <algorithm>
#include <string>

#include "products/program/passes.h"
#include "products/program/quarters.h"

namespace tilewalk::program {

namespace {

struct slots {
    std::size_t terms = 0, rows = 0, states = 0, normals = 0, uniforms = 0, scenarios = 0, tables = 0;
};

std::string fault_of(const std::vector<node>& nodes, const slots& there) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const node& n = nodes[i];
        const auto wrong = [&](const std::string& what) { return "node " + std::to_string(i) + " " + what; };
        const auto beyond = [&](const std::string& kind, std::size_t slot, std::size_t count) {
            return slot < count
                       ? ""
                       : wrong("reads " + kind + " " + std::to_string(slot) + " of " + std::to_string(count));
        };
        std::string fault;
        switch (n.code) {
            case operation::constant:
                break;
            case operation::term:
                fault = beyond("term", n.args[0], there.terms);
                break;
            case operation::row:
                fault = beyond("row", n.args[0], there.rows);
                break;
            case operation::state:
                fault = beyond("state", n.args[0], there.states);
                break;
            case operation::normal:
                fault = beyond("normal", n.args[0], there.normals);
                break;
            case operation::uniform:
                fault = beyond("uniform", n.args[0], there.uniforms);
                break;
            case operation::scenario:
                fault = beyond("scenario", n.args[0], there.scenarios);
                break;
            default:
                if (std::ranges::any_of(operands(n), [&](std::uint32_t arg) { return arg >= i; }))
                    fault = wrong("takes what comes after it");
                if (fault.empty() && reads_table(n.code)) fault = beyond("table", n.args[1], there.tables);
        }
        if (!fault.empty()) return fault;
    }
    return {};
}

std::string fault_of(const std::vector<state_write>& writes, std::size_t nodes, std::size_t states) {
    std::vector<bool> is_written(states);
    for (const state_write& w : writes) {
        if (w.state >= states)
            return "writes state " + std::to_string(w.state) + " of " + std::to_string(states);
        if (w.node >= nodes) return "writes node " + std::to_string(w.node) + " of " + std::to_string(nodes);
        if (is_written[w.state]) return "writes state " + std::to_string(w.state) + " twice";
        is_written[w.state] = true;
    }
    return {};
}

std::string fault_of_outputs(const std::vector<std::uint32_t>& outputs,
                             const std::vector<output_pair>& crossed, std::size_t states) {
    for (const std::uint32_t o : outputs) {
        if (o >= states) return "its output is state " + std::to_string(o) + " of " + std::to_string(states);
    }
    for (const output_pair& p : crossed) {
        if (!is_possible(p, outputs.size()))
            return "outputs " + std::to_string(p.first) + " and " + std::to_string(p.second) + " of " +
                   std::to_string(outputs.size()) + " are no pair";
    }
    return {};
}

std::string fault_of_streams(const std::vector<std::uint32_t>& streams, int slots, const std::string& kind) {
    if (!streams.empty() && streams.size() != static_cast<std::size_t>(slots))
        return "the streams of " + std::to_string(streams.size()) + " of " + std::to_string(slots) + " " +
               kind + " are known";
    std::uint32_t next = 0;
    for (const std::uint32_t s : streams) {
        if (s > next) return "stream " + std::to_string(next) + " of the " + kind + " has no number";
        next = std::max(next, s + 1);
    }
    return {};
}

template <class any_program>
std::string fault_besides_sections(const any_program& p) {
    for (const std::string& fault : {fault_of_streams(p.normal_streams, p.normals_per_step, "normals"),
                                     fault_of_streams(p.uniform_streams, p.uniforms_per_step, "uniforms")}) {
        if (!fault.empty()) return fault;
    }
    for (const std::uint32_t slot : p.lone_normals) {
        if (slot >= static_cast<std::uint32_t>(p.normals_per_step))
            return "normal " + std::to_string(slot) + " builds no path, and there is none";
    }
    return fault_of_outputs(p.outputs, p.crossed, p.states.size());
}

}  // namespace

std::string fault_of(const program& p) {
    for (const section& s : p.sections) {
        const slots there{p.terms.size(),
                          s.rows.size(),
                          p.states.size(),
                          static_cast<std::size_t>(p.normals_per_step),
                          static_cast<std::size_t>(p.uniforms_per_step),
                          static_cast<std::size_t>(p.scenarios_per_step),
                          s.tables.size()};
        for (const std::string& fault :
             {fault_of(s.nodes, there), fault_of(s.writes, s.nodes.size(), p.states.size())}) {
            if (!fault.empty()) return s.name + ": " + fault;
        }
    }
    return fault_besides_sections(p);
}

std::string fault_of(const path_program& p) {
    const auto of_uniform = [](const uniform_code& code, const slots& there) {
        if (std::string fault = fault_of(code.nodes, there); !fault.empty()) return fault;
        for (const std::uint32_t c : code.columns) {
            if (!code.nodes.empty() && c >= code.nodes.size())
                return "a column is node " + std::to_string(c) + " of " + std::to_string(code.nodes.size());
        }
        return std::string();
    };
    const std::size_t terms = p.per_trade.columns.size();
    if (const std::string fault = of_uniform(p.per_trade, {.terms = p.per_trade.inputs.size()});
        !fault.empty())
        return "once for the trade: " + fault;
    for (const lane_section& s : p.sections) {
        const slots of_run{.terms = terms, .rows = s.per_run.inputs.size()};
        const slots of_path{terms,
                            s.per_run.columns.size(),
                            p.states.size(),
                            static_cast<std::size_t>(p.normals_per_step),
                            static_cast<std::size_t>(p.uniforms_per_step),
                            static_cast<std::size_t>(p.scenarios_per_step),
                            s.tables.size()};
        for (const std::string& fault : {of_uniform(s.per_run, of_run), fault_of(s.nodes, of_path),
                                         fault_of(s.writes, s.nodes.size(), p.states.size())}) {
            if (!fault.empty()) return s.name + ": " + fault;
        }
    }
    return fault_besides_sections(p);
}

}  // namespace tilewalk::program
