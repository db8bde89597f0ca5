// SPDX-License-Identifier: Apache-2.0
// Control variates: functions of a path with a known mean, which are subtracted from a payoff. A control here
// is a function of one weighted sum, over all sources of noise and all steps, of how far each source moves.
// The sum is normal in every model. The control adds up the sum, its exponential, and calls and digitals on
// that exponential, whose means are Black's. Under a lognormal model the exponential of an asset's own moves
// is its price over its forward; with falling weights it is a geometric average. Under other models price
// over forward is a control by itself (a ratio), with mean 1 if steps are martingales.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/plan/controller.h"

namespace tilewalk::controls {

// Weights of the moves, [source][step].
using weights = std::vector<std::vector<double>>;

struct normal_law {
    double mean = 0, deviation = 0;
};

class law_of_moves {
  public:
    explicit law_of_moves(const models::source_moves& of);
    normal_law of_sum(const weights& by) const;
    // Split the sum into a deterministic part by step, and weights of independent normals.
    std::vector<double> sure_part(const weights& by) const;
    weights of_normals(const weights& by) const;
    std::size_t sources() const { return sure_.size(); }
    std::size_t steps() const { return sure_.empty() ? 0 : sure_.front().size(); }

  private:
    std::vector<std::vector<double>> sure_;                // known part of a move, [source][step]
    std::vector<std::vector<std::vector<double>>> roots_;  // weights of normals, [source][normal][step]
};

// A call and a digital on the exponential of the sum, both with strike `at`.
struct knot {
    double at = 1;
    double slope = 0, jump = 0;
    // Bound on the share of paths whose sum lies between this jump and the payoff's; 1 if it is not known.
    double share_between = 1;
};

struct control {
    weights of_moves;
    // Coefficients of the pilot's basis that make up of_moves; empty if no pilot made them.
    std::vector<double> parts{};
    double on_sum = 0, on_exponential = 0;
    static constexpr std::size_t most_knots = 3;
    std::array<knot, most_knots> knots{};
    std::vector<double> on_ratios{};
    // True if plain payoffs are tallied, too, and randomisations find what share of the control to subtract.
    bool has_share = false;

    // Factor by which paths can be fewer for the same error, as the pilot estimates.
    double fewer_paths = 1;
    static constexpr double fewest_paths = 1e12;  // cap of fewer_paths: only rounding is left
    bool leaves_rounding() const { return fewer_paths >= fewest_paths; }
    // If leaves_rounding(): root mean square left in events too rare for a pilot; 0 if only rounding is left.
    double left_far_out = 0;
    std::uint64_t pilot_paths = 0;
    double share_of_hits = 0;  // effective share of pilot paths that carry the payoff's variance

    double mean(const normal_law& of_sum) const;
    // The control at a path's sum, without the ratios' part.
    double value(double sum) const;
    // Returns the sum of the absolute values of the control's parts; rounding errors are relative to it.
    double size(double sum) const;
    bool jumps() const {
        return std::ranges::any_of(knots, [](const knot& k) { return k.jump != 0; });
    }
};

// Derivatives of a control's numbers with respect to one number of the market.
struct drift {
    std::vector<double> parts{};
    double on_sum = 0, on_exponential = 0;
    std::array<knot, control::most_knots> knots{knot{0, 0, 0}, knot{0, 0, 0}, knot{0, 0, 0}};
    std::vector<double> on_ratios{};
};
drift no_drift(const control& of);
// Returns the control after the market's number moves by `distance`. The mean is known, whatever the drift.
control moved(control of, const drift& by, double distance);

// Returns the weighted sums that a pilot tries; empty if there are no sources, or too many.
std::vector<weights> basis_of(std::size_t sources, std::size_t steps);

// Adds the sums of the basis and the ratios of price over forward to the outputs of a pilot's program.
class sums_of_moves final : public plan::controller {
  public:
    void begins(program::recorder&) override { basis_.clear(), ratios_ = 0; }
    void hear(const models::source_moves& of, program::recorder& into) override;
    void ends_path(std::uint32_t value_state, models::world& in, program::recorder& into) override;
    // Weights of the sums; output 1 + i of the program is the sum by basis()[i].
    const std::vector<weights>& basis() const { return basis_; }
    // Number of ratios, whose outputs follow the sums.
    std::size_t ratios() const { return ratios_; }
    const law_of_moves& law() const { return *law_; }

  private:
    std::vector<weights> basis_;
    std::size_t ratios_ = 0;
    std::optional<law_of_moves> law_;
};

// Records a control, and as a path's result the payoff less the control plus the control's mean.
class subtracted final : public plan::controller {
  public:
    explicit subtracted(const control& what) : what_(what) {}
    void begins(program::recorder&) override;
    void hear(const models::source_moves& of, program::recorder& into) override;
    void ends_path(std::uint32_t value_state, models::world& in, program::recorder& into) override;
    std::optional<std::uint32_t> result() const override { return result_; }
    bool keeps_value() const override { return what_.has_share; }
    // False if the recorded world has other sources, steps or ratios than the control.
    bool fits() const { return fits_; }
    // Mean of the control in the market of the last recording.
    double mean() const { return mean_; }

  private:
    const control& what_;
    std::uint32_t sum_ = 0;
    std::optional<std::uint32_t> result_;
    double mean_ = 0;
    bool fits_ = false;
};

struct pilot_paths {
    std::vector<double> payoffs{};
    std::vector<std::vector<double>> sums{};    // [sum of the basis][path]
    std::vector<std::vector<double>> ratios{};  // [ratio of the world][path]
};
// Returns the control that leaves least variance on a pilot's paths; empty if it gains less than `least`,
// which chance may show. Pass jumps::no for derivatives of a payoff without jumps: they would get the
// control's.
enum class jumps : bool { no, yes };
inline constexpr double least_gain = 1.25;
std::optional<control> fit(const pilot_paths& on, std::span<const weights> basis, jumps may_jump = jumps::yes,
                           double least = least_gain);

std::vector<double> sum_on(const control& of, const pilot_paths& paths);
// Returns each path's payoff less the control.
std::vector<double> left_by(const control& of, const pilot_paths& on);

// Returns the drift that leaves least variance. `derivatives` holds, as payoffs, the derivatives of what the
// control leaves if it does not move. The places of jumps stay. Returns no drift if a move by `reach` would
// take the control far off, which shows a fit to noise.
drift drift_of(const control& of, const pilot_paths& derivatives, double reach);
// Returns the drift of the jumps' places alone, from the same paths in two markets `distance` apart.
drift drift_of_jumps(const control& of, const pilot_paths& above, const pilot_paths& below, double distance);

}  // namespace tilewalk::controls
