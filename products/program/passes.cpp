// SPDX-License-Identifier: Apache-2.0
#include "products/program/passes.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <tuple>

namespace tilewalk::program {

namespace {

using index = std::uint32_t;
constexpr index nowhere = ~index{0};

bool is(const node& n, double number) {
    return n.code == operation::constant &&
           std::bit_cast<std::uint64_t>(n.number) == std::bit_cast<std::uint64_t>(number);
}

// Rebuilds each section node by node: `put` sees a node whose operands are already renamed and says which
// node of the new section stands for it.
program rebuild(const program& p, const std::function<index(section& into, const node&)>& put) {
    program out = p;
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        const section& from = p.sections[s];
        section& into = out.sections[s];
        into.nodes.clear();
        std::vector<index> renamed(from.nodes.size());
        for (std::size_t i = 0; i < from.nodes.size(); ++i) {
            node n = from.nodes[i];
            if (!is_leaf(n.code)) {
                for (int a = 0; a < entry_of(n.code).arity; ++a) {
                    index& arg = n.args[static_cast<std::size_t>(a)];
                    arg = renamed[arg];
                }
            }
            renamed[i] = put(into, n);
        }
        for (state_write& w : into.writes) w.node = renamed[w.node];
    }
    return out;
}

index append(section& into, const node& n) {
    into.nodes.push_back(n);
    return static_cast<index>(into.nodes.size() - 1);
}

// Marks, from the back, every node that a root needs.
std::vector<bool> needed_nodes(const std::vector<node>& nodes, std::vector<bool> roots) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
        if (!roots[i] || is_leaf(nodes[i].code)) continue;
        for (int a = 0; a < entry_of(nodes[i].code).arity; ++a)
            roots[nodes[i].args[static_cast<std::size_t>(a)]] = true;
    }
    return roots;
}

std::vector<bool> write_roots(const section& s, const std::vector<bool>& live_states) {
    std::vector<bool> roots(s.nodes.size(), false);
    for (const state_write& w : s.writes) {
        if (live_states[w.state]) roots[w.node] = true;
    }
    return roots;
}

}  // namespace

program fold(const program& p, evaluator evaluate) {
    return rebuild(p, [&](section& into, const node& n) -> index {
        // What stands in a table is data.
        if (is_leaf(n.code) || reads_table(n.code)) return append(into, n);
        const int arity = entry_of(n.code).arity;
        const auto arg = [&](int i) -> const node& {
            return into.nodes[n.args[static_cast<std::size_t>(i)]];
        };
        bool all_constant = true;
        for (int i = 0; i < arity; ++i) all_constant = all_constant && arg(i).code == operation::constant;
        if (all_constant) {
            const auto number = [&](int i) { return i < arity ? arg(i).number : 0.0; };
            return append(into, {operation::constant, {}, evaluate(n.code, number(0), number(1), number(2))});
        }
        // Only identities that hold for every operand, -0.0, infinities and not-a-number included.
        switch (n.code) {
            case operation::mul:
                if (is(arg(1), 1.0)) return n.args[0];
                if (is(arg(0), 1.0)) return n.args[1];
                break;
            case operation::div:
                if (is(arg(1), 1.0)) return n.args[0];
                break;
            case operation::sub:
                if (is(arg(1), 0.0)) return n.args[0];
                break;
            case operation::add:
                if (is(arg(1), -0.0)) return n.args[0];
                if (is(arg(0), -0.0)) return n.args[1];
                break;
            case operation::neg:
                if (arg(0).code == operation::neg) return arg(0).args[0];
                break;
            case operation::logical_and:
                if (is(arg(0), 1.0) && entry_of(arg(1).code).result == result_type::truth) return n.args[1];
                if (is(arg(1), 1.0) && entry_of(arg(0).code).result == result_type::truth) return n.args[0];
                break;
            case operation::logical_or:
                if (is(arg(0), 0.0) && entry_of(arg(1).code).result == result_type::truth) return n.args[1];
                if (is(arg(1), 0.0) && entry_of(arg(0).code).result == result_type::truth) return n.args[0];
                break;
            case operation::select:
                if (arg(0).code == operation::constant) return arg(0).number != 0 ? n.args[1] : n.args[2];
                if (n.args[1] == n.args[2]) return n.args[1];
                break;
            default:
                break;
        }
        return append(into, n);
    });
}

program share(const program& p) {
    using key = std::tuple<operation, std::array<index, 3>, std::uint64_t>;
    std::map<key, index> seen;
    const section* of = nullptr;
    return rebuild(p, [&](section& into, const node& n) -> index {
        if (of != &into) {
            seen.clear();
            of = &into;
        }
        const key k{n.code, n.args, std::bit_cast<std::uint64_t>(n.number)};
        if (const auto found = seen.find(k); found != seen.end()) return found->second;
        const index i = append(into, n);
        seen.emplace(k, i);
        return i;
    });
}

program drop_dead(const program& p) {
    // A state is live if it is an output or some live state's next value reads it, in any section.
    std::vector<bool> live(p.states.size(), false);
    for (const index o : p.outputs) live[o] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (const section& s : p.sections) {
            const auto needed = needed_nodes(s.nodes, write_roots(s, live));
            for (std::size_t i = 0; i < s.nodes.size(); ++i) {
                if (!needed[i] || s.nodes[i].code != operation::state || live[s.nodes[i].args[0]]) continue;
                live[s.nodes[i].args[0]] = true;
                changed = true;
            }
        }
    }
    program out = p;
    for (section& s : out.sections) {
        std::erase_if(s.writes, [&](const state_write& w) {
            const node& n = s.nodes[w.node];
            return !live[w.state] || (n.code == operation::state && n.args[0] == w.state);
        });
        const auto needed = needed_nodes(s.nodes, write_roots(s, live));
        std::vector<node> kept;
        std::vector<index> renamed(s.nodes.size(), nowhere);
        for (std::size_t i = 0; i < s.nodes.size(); ++i) {
            if (!needed[i]) continue;
            node n = s.nodes[i];
            if (!is_leaf(n.code)) {
                for (int a = 0; a < entry_of(n.code).arity; ++a) {
                    index& arg = n.args[static_cast<std::size_t>(a)];
                    arg = renamed[arg];
                }
            }
            renamed[i] = static_cast<index>(kept.size());
            kept.push_back(n);
        }
        for (state_write& w : s.writes) w.node = renamed[w.node];
        s.nodes = std::move(kept);
    }
    return out;
}

program optimise(const program& p, evaluator evaluate) {
    return drop_dead(share(fold(p, evaluate)));
}

namespace {

// How widely one value of a node holds.
enum class reach : std::uint8_t { trade, run, path };

// Goes on to all nodes where `out` stands for the first of them.
void extend(std::vector<reach>& out, const std::vector<node>& nodes) {
    for (std::size_t i = out.size(); i < nodes.size(); ++i) {
        const node& n = nodes[i];
        out.push_back(reach::trade);
        switch (n.code) {
            case operation::constant:
            case operation::term:
                break;
            case operation::row:
                out[i] = reach::run;
                break;
            case operation::state:
            case operation::normal:
            case operation::uniform:
            case operation::scenario:
            case operation::interpolate:  // paths have the tables
                out[i] = reach::path;
                break;
            default:
                for (int a = 0; a < entry_of(n.code).arity; ++a) {
                    out[i] = std::max(out[i], out[n.args[static_cast<std::size_t>(a)]]);
                }
        }
    }
}

std::vector<reach> reaches(const std::vector<node>& nodes) {
    std::vector<reach> out;
    extend(out, nodes);
    return out;
}

// Collects uniform nodes, each once whatever section it came from, and hands out columns for those that are
// read.
class collector {
  public:
    explicit collector(uniform_code& into) : into_(into) {}

    index add(const node& n) {
        const key k{n.code, n.args, std::bit_cast<std::uint64_t>(n.number)};
        if (const auto found = seen_.find(k); found != seen_.end()) return found->second;
        into_.nodes.push_back(n);
        return seen_[k] = static_cast<index>(into_.nodes.size() - 1);
    }
    index column(index of_node) {
        if (const auto found = columns_.find(of_node); found != columns_.end()) return found->second;
        into_.columns.push_back(of_node);
        return columns_[of_node] = static_cast<index>(into_.columns.size() - 1);
    }

  private:
    using key = std::tuple<operation, std::array<index, 3>, std::uint64_t>;
    uniform_code& into_;
    std::map<key, index> seen_;
    std::map<index, index> columns_;
};

}  // namespace

program regroup(const program& p) {
    std::vector<reach> known;
    const section* of = nullptr;
    return rebuild(p, [&](section& into, const node& n) -> index {
        if (of != &into) {
            known.clear();
            of = &into;
        }
        extend(known, into.nodes);
        if (n.code != operation::mul && n.code != operation::div) return append(into, n);
        const auto is_uniform = [&](index i) { return known[i] != reach::path; };
        index of_path = n.args[0], factor = n.args[1];
        if (n.code == operation::mul && is_uniform(of_path)) std::swap(of_path, factor);
        if (is_uniform(of_path) || !is_uniform(factor)) return append(into, n);
        if (n.code == operation::div) {
            const index one = append(into, {operation::constant, {}, 1.0});
            factor = append(into, {operation::div, {one, factor, 0}, 0});
        }
        // A product stands here with what is uniform behind.
        const node inner = into.nodes[of_path];
        if (inner.code == operation::mul && is_uniform(inner.args[1])) {
            of_path = inner.args[0];
            factor = append(into, {operation::mul, {inner.args[1], factor, 0}, 0});
        }
        return append(into, {operation::mul, {of_path, factor, 0}, 0});
    });
}

path_program hoist(const program& p) {
    path_program out;
    out.normals_per_step = p.normals_per_step;
    out.uniforms_per_step = p.uniforms_per_step;
    out.scenarios_per_step = p.scenarios_per_step;

    std::vector<bool> used(p.states.size(), false);
    for (const index o : p.outputs) used[o] = true;
    for (const section& s : p.sections) {
        for (const state_write& w : s.writes) used[w.state] = true;
        for (const node& n : s.nodes) {
            if (n.code == operation::state) used[n.args[0]] = true;
        }
    }
    std::vector<index> new_state(p.states.size(), nowhere);
    for (index i = 0; i < p.states.size(); ++i) {
        if (!used[i]) continue;
        new_state[i] = static_cast<index>(out.states.size());
        out.states.push_back(p.states[i]);
        out.state_sources.push_back(i);
    }
    for (const index o : p.outputs) out.outputs.push_back(new_state[o]);

    collector trade(out.per_trade);
    for (const section& s : p.sections) {
        lane_section& into = out.sections.emplace_back();
        into.name = s.name;
        std::vector<index> new_table(s.tables.size(), nowhere);
        collector run(into.per_run);
        const auto reach_of = reaches(s.nodes);
        // Where each recorded node went: its index in the trade's, the run's or the path's code.
        std::vector<index> in_trade(s.nodes.size(), nowhere), in_run(s.nodes.size(), nowhere),
            in_path(s.nodes.size(), nowhere);

        // A constant stands wherever it is used; it needs no column.
        const auto trade_operand = [&](index i) {
            return s.nodes[i].code == operation::constant ? trade.add(s.nodes[i]) : in_trade[i];
        };
        const auto run_operand = [&](index i) {
            if (reach_of[i] == reach::run) return in_run[i];
            const node& n = s.nodes[i];
            if (n.code == operation::constant) return run.add(n);
            return run.add({operation::term, {trade.column(in_trade[i]), 0, 0}, 0});
        };
        const auto path_operand = [&](index i) {
            if (in_path[i] != nowhere) return in_path[i];
            const node& n = s.nodes[i];
            node leaf = n;
            if (reach_of[i] == reach::run) {
                leaf = {operation::row, {run.column(in_run[i]), 0, 0}, 0};
            } else if (n.code != operation::constant) {
                leaf = {operation::term, {trade.column(in_trade[i]), 0, 0}, 0};
            }
            into.nodes.push_back(leaf);
            return in_path[i] = static_cast<index>(into.nodes.size() - 1);
        };
        for (index i = 0; i < s.nodes.size(); ++i) {
            node n = s.nodes[i];
            const int arity = is_leaf(n.code) ? 0 : entry_of(n.code).arity;
            const auto rename = [&](const auto& operand) {
                for (int a = 0; a < arity; ++a) {
                    index& arg = n.args[static_cast<std::size_t>(a)];
                    arg = operand(arg);
                }
            };
            switch (reach_of[i]) {
                case reach::trade:
                    if (n.code == operation::constant) break;
                    rename(trade_operand);
                    in_trade[i] = trade.add(n);
                    break;
                case reach::run:
                    rename(run_operand);
                    in_run[i] = run.add(n);
                    break;
                case reach::path:
                    rename(path_operand);
                    if (n.code == operation::state) n.args[0] = new_state[n.args[0]];
                    if (n.code == operation::interpolate) {
                        index& to = new_table[n.args[1]];
                        if (to == nowhere) {
                            to = static_cast<index>(into.tables.size());
                            into.tables.push_back({n.args[1], s.tables[n.args[1]].size});
                        }
                        n.args[1] = to;
                    }
                    into.nodes.push_back(n);
                    in_path[i] = static_cast<index>(into.nodes.size() - 1);
                    break;
            }
        }
        for (const state_write& w : s.writes)
            into.writes.push_back({new_state[w.state], path_operand(w.node)});
    }
    return out;
}

namespace {

void compute(const uniform_code& code, const double* terms, const double* row, evaluator evaluate,
             std::vector<double>& scratch, double* out) {
    scratch.resize(code.nodes.size());
    for (std::size_t i = 0; i < code.nodes.size(); ++i) {
        const node& n = code.nodes[i];
        switch (n.code) {
            case operation::constant:
                scratch[i] = n.number;
                break;
            case operation::term:
                scratch[i] = terms[n.args[0]];
                break;
            case operation::row:
                scratch[i] = row[n.args[0]];
                break;
            default: {
                std::array<double, 3> x{};
                for (std::size_t a = 0; a < static_cast<std::size_t>(entry_of(n.code).arity); ++a) {
                    x[a] = scratch[n.args[a]];
                }
                scratch[i] = evaluate(n.code, x[0], x[1], x[2]);
            }
        }
    }
    for (std::size_t c = 0; c < code.columns.size(); ++c) out[c] = scratch[code.columns[c]];
}

}  // namespace

path_data bind(const path_program& p, const program_data& data, evaluator evaluate) {
    path_data out;
    std::vector<double> scratch;
    out.terms.resize(p.per_trade.columns.size());
    compute(p.per_trade, data.terms.data(), nullptr, evaluate, scratch, out.terms.data());
    out.rows.resize(p.sections.size());
    out.runs = data.runs;
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        const uniform_code& code = p.sections[s].per_run;
        const std::size_t width = p.sections[s].row_width();
        out.widths.push_back(width);
        if (width == 0) continue;
        const std::size_t recorded_width = data.widths[s];
        const std::size_t runs = data.runs[s];
        out.rows[s].resize(runs * width);
        for (std::size_t r = 0; r < runs; ++r) {
            double* row = out.rows[s].data() + r * width;
            compute(code, out.terms.data(), data.rows[s].data() + r * recorded_width, evaluate, scratch, row);
            row += code.columns.size();
            for (const lane_table& t : p.sections[s].tables)
                row = std::copy_n(data.tables[s][t.source].data() + r * t.size, t.size, row);
        }
    }
    for (const index from : p.state_sources) out.initial_states.push_back(data.initial_states[from]);
    out.scenarios = data.scenarios;
    return out;
}

namespace {

lane_section contracted(const lane_section& s) {
    std::vector<int> uses(s.nodes.size(), 0);
    for (const node& n : s.nodes) {
        if (is_leaf(n.code)) continue;
        for (int a = 0; a < entry_of(n.code).arity; ++a) ++uses[n.args[static_cast<std::size_t>(a)]];
    }
    for (const state_write& w : s.writes) ++uses[w.node];
    // The operand of a sum or difference that is a product for it alone; the first of two.
    const auto product_in = [&](const node& n) -> index {
        if (n.code != operation::add && n.code != operation::sub) return nowhere;
        for (const index arg : {n.args[0], n.args[1]}) {
            if (s.nodes[arg].code == operation::mul && uses[arg] == 1) return arg;
        }
        return nowhere;
    };
    std::vector<bool> fused(s.nodes.size(), false);
    for (const node& n : s.nodes) {
        if (const index product = product_in(n); product != nowhere) fused[product] = true;
    }

    lane_section out = s;
    out.nodes.clear();
    std::vector<index> renamed(s.nodes.size(), nowhere);
    const auto append = [&](const node& n) {
        out.nodes.push_back(n);
        return static_cast<index>(out.nodes.size() - 1);
    };
    const auto negative = [&](index i) { return append({operation::neg, {i, 0, 0}, 0}); };
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
        node n = s.nodes[i];
        if (fused[i]) continue;
        if (const index product = product_in(n); product != nowhere) {
            index x = renamed[s.nodes[product].args[0]];
            const index y = renamed[s.nodes[product].args[1]];
            const bool is_first = n.args[0] == product;
            index rest = renamed[n.args[is_first ? 1 : 0]];
            if (n.code == operation::sub) (is_first ? rest : x) = negative(is_first ? rest : x);
            n = {operation::fma, {x, y, rest}, 0};
        } else if (!is_leaf(n.code)) {
            for (int a = 0; a < entry_of(n.code).arity; ++a) {
                index& arg = n.args[static_cast<std::size_t>(a)];
                arg = renamed[arg];
            }
        }
        renamed[i] = append(n);
    }
    for (state_write& w : out.writes) w.node = renamed[w.node];
    return out;
}

}  // namespace

path_program contract(const path_program& p) {
    path_program out = p;
    for (lane_section& s : out.sections) s = contracted(s);
    return out;
}

}  // namespace tilewalk::program
