// SPDX-License-Identifier: Apache-2.0
// Controls: functions of a path with a known mean, which are subtracted from a payoff. A control is a
// function of one weighted sum of the moves of all noises over all steps, which is normal in every model: the
// sum, its exponential, and calls and digitals on that, whose means are Black's. Under a lognormal model the
// exponential of an asset's own moves is the asset over its forward price, that of falling weights a
// geometric average. Under other models that ratio is a control of its own, with mean 1 if steps are
// martingales.
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

// [source][step]
using weights = std::vector<std::vector<double>>;

struct normal_law {
    double mean = 0, deviation = 0;
};

class law_of_moves {
  public:
    explicit law_of_moves(const models::source_moves& of);
    normal_law of_sum(const weights& by) const;
    // The sum as its sure part, by step, and weights of the normals that moves are made of.
    std::vector<double> sure_part(const weights& by) const;
    weights of_normals(const weights& by) const;
    std::size_t sources() const { return sure_.size(); }
    std::size_t steps() const { return sure_.empty() ? 0 : sure_.front().size(); }

  private:
    std::vector<std::vector<double>> sure_;                // [source][step]
    std::vector<std::vector<std::vector<double>>> roots_;  // [source][other][step]
};

// A call and a digital on the exponential of the sum.
struct knot {
    double at = 1;
    double slope = 0, jump = 0;
    // Share of paths between the jump of the payoff and that of the control; 1 if not known.
    double share_between = 1;
};

struct control {
    weights of_moves;
    std::vector<double> parts{};  // of the basis of a pilot; empty if no pilot made the weights
    double on_sum = 0, on_exponential = 0;
    static constexpr std::size_t most_knots = 3;
    std::array<knot, most_knots> knots{};
    std::vector<double> on_ratios{};
    // True if payoffs without it are tallied as well, and randomisations find the share of it to subtract.
    bool has_share = false;

    // How many times fewer paths are enough for the same error, as the pilot says.
    double fewer_paths = 1;
    static constexpr double fewest_paths = 1e12;  // stands for nothing but rounding left
    bool leaves_rounding() const { return fewer_paths >= fewest_paths; }
    // Root mean square left in events too rare for a pilot, if leaves_rounding(); 0 if rounding, too.
    double left_far_out = 0;
    std::uint64_t pilot_paths = 0;
    double share_of_hits = 0;  // of the pilot's paths, those that carry the variance

    double mean(const normal_law& of_sum) const;
    // Without the ratios.
    double value(double sum) const;
    // Returns the sum of the sizes of its parts, by which rounding is judged.
    double size(double sum) const;
    bool jumps() const {
        return std::ranges::any_of(knots, [](const knot& k) { return k.jump != 0; });
    }
};

// How far the numbers of a control move when one of the market moves by 1.
struct drift {
    std::vector<double> parts{};
    double on_sum = 0, on_exponential = 0;
    std::array<knot, control::most_knots> knots{knot{0, 0, 0}, knot{0, 0, 0}, knot{0, 0, 0}};
    std::vector<double> on_ratios{};
};
drift no_drift(const control& of);
// Returns the control after a move of the market's number. Its mean is known, whatever the drift.
control moved(control of, const drift& by, double distance);

// Returns the sums that a pilot tries; empty if a world has too many sources.
std::vector<weights> basis_of(std::size_t sources, std::size_t steps);

// Records sums of moves and ratios as further outputs, for a pilot.
class sums_of_moves final : public plan::controller {
  public:
    void begins(program::recorder&) override { basis_.clear(), ratios_ = 0; }
    void hear(const models::source_moves& of, program::recorder& into) override;
    void ends_path(std::uint32_t value_state, models::world& in, program::recorder& into) override;
    // By output, behind the trade's own.
    const std::vector<weights>& basis() const { return basis_; }
    // Number of outputs behind those.
    std::size_t ratios() const { return ratios_; }
    const law_of_moves& law() const { return *law_; }

  private:
    std::vector<weights> basis_;
    std::size_t ratios_ = 0;
    std::optional<law_of_moves> law_;
};

// Records a control, and the payoff less the control.
class subtracted final : public plan::controller {
  public:
    explicit subtracted(const control& what) : what_(what) {}
    void begins(program::recorder&) override;
    void hear(const models::source_moves& of, program::recorder& into) override;
    void ends_path(std::uint32_t value_state, models::world& in, program::recorder& into) override;
    std::optional<std::uint32_t> result() const override { return result_; }
    bool keeps_value() const override { return what_.has_share; }
    // True if the last recording had the moves and ratios of the control.
    bool fits() const { return fits_; }
    // Mean of what is subtracted, in the market of the recording.
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
    std::vector<std::vector<double>> sums{};    // of the basis
    std::vector<std::vector<double>> ratios{};  // that the world offers
};
// Returns the control that leaves least variance on a pilot's paths; empty below the least gain, which chance
// may show. A control that jumps would put jumps into derivatives of a payoff that has none.
enum class jumps : bool { no, yes };
inline constexpr double least_gain = 1.25;
std::optional<control> fit(const pilot_paths& on, std::span<const weights> basis, jumps may_jump = jumps::yes,
                           double least = least_gain);

std::vector<double> sum_on(const control& of, const pilot_paths& paths);
// Returns payoffs less the control.
std::vector<double> left_by(const control& of, const pilot_paths& on);

// Returns the drift that leaves least variance; payoffs are derivatives of what a control without drift
// leaves. Jumps stay in place. No drift if it takes the control far off within `reach`: a fit to noise.
drift drift_of(const control& of, const pilot_paths& derivatives, double reach);
// Returns the drift of the jumps' places alone, from the paths in two markets.
drift drift_of_jumps(const control& of, const pilot_paths& above, const pilot_paths& below, double distance);

}  // namespace tilewalk::controls
