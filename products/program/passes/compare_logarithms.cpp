// SPDX-License-Identifier: Apache-2.0
// Replaces comparisons of exponentials by comparisons of their logarithms.
#include <cmath>
#include <optional>

#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

namespace {

// scale * exp(x) / divisor, as nodes; a missing factor is the constant 1.
struct curve {
    index x = 0, scale = nowhere, divisor = nowhere;
};

class rewriter {
  public:
    explicit rewriter(const section& from) : from_(from), into_(from), reach_(reaches(from.nodes)) {
        into_.nodes.clear();
    }

    section result() {
        std::vector<index> renamed(from_.nodes.size(), nowhere);
        for (index i = 0; i < from_.nodes.size(); ++i) {
            node n = from_.nodes[i];
            for (index& arg : operands(n)) arg = renamed[arg];
            renamed_ = &renamed;
            const index compared = in_logarithms(from_.nodes[i]);
            renamed[i] = compared != nowhere ? compared : append(into_, n);
        }
        for (state_write& w : into_.writes) w.node = renamed[w.node];
        return into_;
    }

  private:
    static constexpr std::size_t most_curves = 256;

    bool is_uniform(index i) const { return reach_[i] != reach::path; }
    bool is(index i, operation code) const { return from_.nodes[i].code == code; }

    std::optional<curve> curve_at(index i) const {
        curve out;
        if (is(i, operation::div) && is_uniform(from_.nodes[i].args[1])) {
            out.divisor = from_.nodes[i].args[1];
            i = from_.nodes[i].args[0];
        }
        if (is(i, operation::mul)) {
            const auto& args = from_.nodes[i].args;
            const bool is_first = is_uniform(args[0]);
            if (!is_first && !is_uniform(args[1])) return std::nullopt;
            out.scale = args[is_first ? 0 : 1];
            i = args[is_first ? 1 : 0];
        }
        if (!is(i, operation::exp)) return std::nullopt;
        out.x = from_.nodes[i].args[0];
        return out;
    }

    // Collects the curves whose least or greatest is node `i`, in operand order; false beyond most_curves.
    bool find_curves(index i, operation of, std::vector<curve>& out) const {
        if (out.size() > most_curves) return false;
        if (is(i, of)) {
            const auto& args = from_.nodes[i].args;
            return find_curves(args[0], of, out) && find_curves(args[1], of, out);
        }
        const auto one = curve_at(i);
        if (one) out.push_back(*one);
        return one.has_value();
    }

    index put(operation code, index a, index b = 0, index c = 0) {
        return append(into_, {code, {a, b, c}, 0});
    }
    index put_number(index i) {
        return i == nowhere ? append(into_, {operation::constant, {}, 1.0}) : (*renamed_)[i];
    }

    // Compares logarithms: the least value reaches a level if all values do, the greatest if any value does.
    index in_logarithms(const node& n) {
        const bool is_strict = n.code == operation::less;
        if (!is_strict && n.code != operation::less_equal) return nowhere;
        const bool level_is_first = is_uniform(n.args[0]);
        if (level_is_first == is_uniform(n.args[1])) return nowhere;
        const index level = n.args[level_is_first ? 0 : 1], value = n.args[level_is_first ? 1 : 0];
        const bool is_greatest = is(value, operation::max);
        std::vector<curve> curves;
        if (!find_curves(value, is_greatest ? operation::max : operation::min, curves)) return nowhere;

        const operation bound =
            is_strict == level_is_first ? operation::least_log_above : operation::least_log_reaching;
        const operation both = is_greatest == level_is_first ? operation::logical_or : operation::logical_and;
        index out = nowhere;
        for (const curve& c : curves) {
            const index scale = put_number(c.scale), divisor = put_number(c.divisor);
            const index least = put(bound, (*renamed_)[level], scale, divisor);
            const index x = (*renamed_)[c.x];
            const index one =
                level_is_first ? put(operation::less_equal, least, x) : put(operation::less, x, least);
            out = out == nowhere ? one : put(both, out, one);
        }
        return out;
    }

    const section& from_;
    section into_;
    std::vector<reach> reach_;
    const std::vector<index>* renamed_ = nullptr;
};

auto exponentials(const section& s) {
    return std::ranges::count(s.nodes, operation::exp, &node::code);
}

}  // namespace

program compare_logarithms(const program& p) {
    program out = p;
    for (section& s : out.sections) {
        section compared = rewriter(s).result();
        keep_written(compared);
        // If another node needs the exponential anyway, the section stays as it is.
        if (exponentials(compared) < exponentials(s)) s = std::move(compared);
    }
    return share(out);
}

bool has_all_logarithms(const path_program& p, const path_data& data) {
    for (std::size_t k = 0; k < p.sections.size(); ++k) {
        const uniform_code& code = p.sections[k].per_run;
        for (std::size_t c = 0; c < code.columns.size(); ++c) {
            if (!is_ahead_of_paths(code.nodes[code.columns[c]].code)) continue;
            for (std::size_t at = c; at < data.rows[k].size(); at += data.widths[k])
                if (std::isnan(data.rows[k][at])) return false;
        }
    }
    for (std::size_t c = 0; c < p.per_trade.columns.size(); ++c) {
        if (is_ahead_of_paths(p.per_trade.nodes[p.per_trade.columns[c]].code) && std::isnan(data.terms[c]))
            return false;
    }
    return true;
}

}  // namespace tilewalk::program
