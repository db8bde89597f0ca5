// SPDX-License-Identifier: Apache-2.0
// A call with its forward as a control variate. A pilot run finds how much of the control to subtract.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/walk/job.h"
#include "products/program/passes.h"
#include "products/program/recorder.h"
#include "products/program/timeline.h"
#include "tilewalk/error.h"

namespace tilewalk::tests {

struct regressed_call {
    static constexpr double spot = 100, strike = 110, volatility = 0.3;
    static constexpr int steps = 12;  // of a month each
    program::path_program code;       // outputs: payoff - beta * control, and the control
    program::timeline when;

    regressed_call() {
        const program::recorder::recorded all = recorded(0);
        code = program::hoist(program::optimise(all.code));
        for (int i = 1; i <= steps; ++i) {
            when.times.push_back(i / 12.0);
            if (i == steps) when.add({1, 0});
            when.close_step();
        }
    }

    program::path_data with(double beta) const { return program::bind(code, recorded(beta).data); }

    run::tally walked(run::back_end& on, std::uint64_t seed, std::uint64_t paths, double beta) const {
        const program::path_data data = program::bind(code, recorded(beta).data);
        const run::job job{&code, &data, &when};
        run::walk of;
        of.jobs = {&job, 1};
        of.seed = seed;
        of.paths = paths;
        run::outcome got = on.walk_all(of);
        if (got.failures.at(0)) throw error(*got.failures[0]);
        return std::move(got.tallies.at(0));
    }

    static double beta_of(const run::tally& of) { return *of.cross(0, 1) / of.whole(1).moments.m2; }

  private:
    static program::recorder::recorded recorded(double beta) {
        using program::operation;
        program::recorder into;
        const auto logarithm = into.state("logarithm", std::log(spot));
        const auto payoff = into.state("payoff", 0), control = into.state("control", 0);
        into.output(payoff);
        into.output(control);
        into.cross(0, 1);
        const double dt = 1.0 / steps;
        const std::vector<double> drift(steps, -volatility * volatility * dt / 2);
        into.open_section(0, "step", steps);
        into.write(logarithm, into.read(logarithm) + into.row("drift", drift) +
                                  into.term("deviation", volatility * std::sqrt(dt)) * into.normal());
        into.open_section(1, "end", 1);
        const program::value at_end = into.apply(operation::exp, into.read(logarithm));
        const program::value excess = at_end - into.term("forward", spot);
        const program::value call =
            into.apply(operation::max, at_end - into.term("strike", strike), into.constant(0));
        into.write(payoff, call - into.term("beta", beta) * excess);
        into.write(control, excess);
        return std::move(into).finish();
    }
};

}  // namespace tilewalk::tests
