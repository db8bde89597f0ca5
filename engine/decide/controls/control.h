// SPDX-License-Identifier: Apache-2.0
// Controls: functions of a path with a known mean, which are subtracted from what a trade pays. They are
// functions of one weighted sum of the moves of all sources of noise over all steps, which is normal in every
// model: the sum itself, its exponential, and calls and digitals on that, whose means are Black's. Under a
// lognormal model the exponential of an asset's own moves is the asset over its forward price, and that of
// falling weights a geometric average. Under other models that ratio is a control of its own, whose mean is 1
// wherever the steps of a path are martingales.
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

// The joint law of the moves of a world.
class law_of_moves {
  public:
    explicit law_of_moves(const models::source_moves& of);
    // The law of a weighted sum.
    normal_law of_sum(const weights& by) const;
    // The same sum as one of its sure part, by step, and of the normals that moves are made of.
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
    // The share of paths on which the payoff may jump already and the control not yet, or the other way
    // round; 1: that is not known.
    double share_between = 1;
};

struct control {
    weights of_moves;
    std::vector<double> parts{};  // of these weights, by sum of a pilot's basis; empty: they are of no pilot
    // Coefficients of the sum and of its exponential.
    double on_sum = 0, on_exponential = 0;
    static constexpr std::size_t most_knots = 3;
    std::array<knot, most_knots> knots{};
    // Coefficients of the ratios that a world offers; empty: of none.
    std::vector<double> on_ratios{};
    // Payoffs without it are tallied, too, and randomisations show the share of it that is subtracted.
    bool has_share = false;

    // How many times fewer paths the pilot says are enough for the same error.
    double fewer_paths = 1;
    static constexpr double fewest_paths = 1e12;  // is said where nothing but rounding is left
    bool leaves_rounding() const { return fewer_paths >= fewest_paths; }
    // The root mean square left in events so rare that no pilot path met one, such as a jump; 0 if that is
    // rounding, too. Found for controls that leave rounding.
    double left_far_out = 0;
    std::uint64_t pilot_paths = 0;
    double share_of_hits = 0;  // of the pilot's paths, those that carry the variance without the control

    double mean(const normal_law& of_sum) const;
    // Without the ratios.
    double value(double sum) const;
    // The sum of the sizes of its parts, by which rounding is judged.
    double size(double sum) const;
    bool jumps() const {
        return std::ranges::any_of(knots, [](const knot& k) { return k.jump != 0; });
    }
};

// How far the numbers of a control move where one of the market moves by 1.
struct drift {
    std::vector<double> parts{};
    double on_sum = 0, on_exponential = 0;
    std::array<knot, control::most_knots> knots{knot{0, 0, 0}, knot{0, 0, 0}, knot{0, 0, 0}};
    std::vector<double> on_ratios{};
};
drift no_drift(const control& of);
// A control where the market's number has moved by so much. Its mean is known there, too, whatever the drift.
control moved(control of, const drift& by, double distance);

// The sums that a pilot tries: none where a world has too many sources.
std::vector<weights> basis_of(std::size_t sources, std::size_t steps);

// Records sums of moves and ratios as further outputs of a program, for a pilot.
class sums_of_moves final : public plan::controller {
  public:
    void begins(program::recorder&) override { basis_.clear(), ratios_ = 0; }
    void hear(const models::source_moves& of, program::recorder& into) override;
    void ends_path(std::uint32_t value_state, models::world& in, program::recorder& into) override;
    // By output, behind the trade's own.
    const std::vector<weights>& basis() const { return basis_; }
    // The number of outputs behind those.
    std::size_t ratios() const { return ratios_; }
    const law_of_moves& law() const { return *law_; }

  private:
    std::vector<weights> basis_;
    std::size_t ratios_ = 0;
    std::optional<law_of_moves> law_;
};

// Records a control, and what is left to be paid.
class subtracted final : public plan::controller {
  public:
    explicit subtracted(const control& what) : what_(what) {}
    void begins(program::recorder&) override;
    void hear(const models::source_moves& of, program::recorder& into) override;
    void ends_path(std::uint32_t value_state, models::world& in, program::recorder& into) override;
    std::optional<std::uint32_t> result() const override { return result_; }
    bool keeps_value() const override { return what_.has_share; }
    // Whether the last recording had the moves and the ratios that the control is of.
    bool fits() const { return fits_; }
    // The mean of what is subtracted, in the market of the recording.
    double mean() const { return mean_; }

  private:
    const control& what_;
    std::uint32_t sum_ = 0;
    std::optional<std::uint32_t> result_;
    double mean_ = 0;
    bool fits_ = false;
};

// Numbers by path.
struct pilot_paths {
    std::vector<double> payoffs{};
    std::vector<std::vector<double>> sums{};    // of the basis
    std::vector<std::vector<double>> ratios{};  // that the world offers
};
// The control that leaves least of the variance of payoffs on the paths of a pilot. None where that would not
// pay. A control that jumps would put jumps into derivatives of a payoff that has none. A pilot that says
// less than the least gain may say it by chance; and a control takes time.
enum class jumps : bool { no, yes };
inline constexpr double least_gain = 1.25;
std::optional<control> fit(const pilot_paths& on, std::span<const weights> basis, jumps may_jump = jumps::yes,
                           double least = least_gain);

// The sum that a control is of, by path.
std::vector<double> sum_on(const control& of, const pilot_paths& paths);
// The part of payoffs that paths leave.
std::vector<double> left_by(const control& of, const pilot_paths& on);

// The drift that leaves least of the variance of derivatives of what paths leave, as they are where the
// control has no drift; they stand in the place of payoffs. The places of its jumps stand still. A drift that
// takes the control far off within a large move of the market's number, the reach, is fitted to noise, and
// small moves are not as good as linear: then the control has none.
drift drift_of(const control& of, const pilot_paths& derivatives, double reach);
// The drift of these places alone, from the paths in two markets.
drift drift_of_jumps(const control& of, const pilot_paths& above, const pilot_paths& below, double distance);

}  // namespace tilewalk::controls
