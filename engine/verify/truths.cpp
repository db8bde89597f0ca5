// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_european(dice& d);
known_trade draw_quanto_european(dice& d);
known_trade draw_digital(dice& d);
known_trade draw_barrier(dice& d);
known_trade draw_barrier_on_dates(dice& d);
known_trade draw_geometric_asian(dice& d);
known_trade draw_asian_on_a_mean(dice& d);
known_trade draw_arithmetic_asian(dice& d);
known_trade draw_gap_option(dice& d);
known_trade draw_double_barrier(dice& d);
known_trade draw_one_touch(dice& d);
known_trade draw_double_touch(dice& d);
known_trade draw_barrier_digital(dice& d);
known_trade draw_soft_barrier(dice& d);
known_trade draw_partial_barrier(dice& d);
known_trade draw_outside_barrier(dice& d);
known_trade draw_lookback(dice& d);
known_trade draw_partial_lookback(dice& d);
known_trade draw_forward_start(dice& d);
known_trade draw_cliquet(dice& d);
known_trade draw_chooser(dice& d);
known_trade draw_complex_chooser(dice& d);
known_trade draw_compound(dice& d);
known_trade draw_extensible_option(dice& d);
known_trade draw_variance_swap(dice& d);
known_trade draw_worst_of_note(dice& d);
known_trade draw_autocallable(dice& d);
known_trade draw_basket(dice& d);
known_trade draw_spread(dice& d);
known_trade draw_exchange(dice& d);
known_trade draw_best_of(dice& d);
known_trade draw_worst_of(dice& d);
known_trade draw_rainbow(dice& d);
known_trade draw_himalaya(dice& d);
known_trade draw_volatility_swap(dice& d);
known_trade draw_corridor_variance_swap(dice& d);
known_trade draw_range_accrual(dice& d);
known_trade draw_reverse_convertible(dice& d);
known_trade draw_barrier_reverse_convertible(dice& d);
known_trade draw_barrier_reverse_convertible_on_dates(dice& d);
known_trade draw_capital_protected_note(dice& d);
known_trade draw_phoenix_autocallable(dice& d);
known_trade draw_accumulator(dice& d);
known_trade draw_accumulator_continuous(dice& d);
known_trade draw_target_redemption_forward(dice& d);
known_trade draw_parisian(dice& d);
known_trade draw_cumulative_parisian(dice& d);
known_trade draw_step_option(dice& d);
known_trade draw_corridor_accrual(dice& d);
known_trade draw_continuous_asian(dice& d);
known_trade draw_continuous_geometric_asian(dice& d);
known_trade draw_zero_coupon_bond(dice& d);
known_trade draw_coupon_bond(dice& d);
known_trade draw_swap(dice& d);
known_trade draw_cap_floor(dice& d);
known_trade draw_swaption(dice& d);
known_trade draw_floating_rate_note(dice& d);
known_trade draw_cms_leg(dice& d);
known_trade draw_rate_range_accrual(dice& d);
known_trade draw_rate_future(dice& d);

known_trade draw_bermudan_put(dice& d);
known_trade draw_american_call(dice& d);
known_trade draw_bermudan_swaption(dice& d);

known_trade draw_merton(dice& d);
known_trade draw_kou(dice& d);
known_trade draw_heston(dice& d);
known_trade draw_bates(dice& d);
known_trade draw_schobel_zhu(dice& d);
known_trade draw_variance_gamma(dice& d);
known_trade draw_nig(dice& d);
known_trade draw_cgmy(dice& d);

std::optional<double> known_sensitivity(const known_trade& of, const std::string& key, double step) {
    const auto slope = [&](double by) {
        return (of.price({.key = key, .by = by}) - of.price({.key = key, .by = -by})) / (2 * by);
    };
    const double wide = slope(step), middle = slope(0.5 * step), narrow = slope(0.25 * step);
    const double found = (4 * middle - wide) / 3, again = (4 * narrow - middle) / 3;
    const bool bends = std::abs(again - found) > 1e-4 * std::abs(found) + 3e-8 * of.scale / step;
    return bends ? std::nullopt : std::optional(found);
}

std::span<const truth_entry> truths() {
    static constexpr std::array all{
        truth_entry{"european", "Black's formula", draw_european},
        truth_entry{"european", "Black's formula with a quanto forward", draw_quanto_european},
        truth_entry{"digital", "Black's formula", draw_digital},
        truth_entry{"barrier", "the reflection principle", draw_barrier},
        truth_entry{"barrier", "quadrature from date to date", draw_barrier_on_dates},
        truth_entry{"asian", "the lognormal geometric mean", draw_geometric_asian},
        truth_entry{"asian", "an exchange of two geometric means", draw_asian_on_a_mean},
        truth_entry{"asian", "repeated convolution", draw_arithmetic_asian},
        truth_entry{"gap_option", "Black's formula", draw_gap_option},
        truth_entry{"double_barrier", "reflections in two levels", draw_double_barrier},
        truth_entry{"one_touch", "the reflection principle", draw_one_touch},
        truth_entry{"double_touch", "reflections in two levels", draw_double_touch},
        truth_entry{"barrier_digital", "the reflection principle", draw_barrier_digital},
        truth_entry{"soft_barrier", "the mean of plain barriers", draw_soft_barrier},
        truth_entry{"partial_barrier", "the reflection principle from or until a date", draw_partial_barrier},
        truth_entry{"partial_barrier", "one asset given where the watched one ends", draw_outside_barrier},
        truth_entry{"lookback", "the law of the extremes", draw_lookback},
        truth_entry{"lookback", "the law of the extremes from or until a date", draw_partial_lookback},
        truth_entry{"forward_start", "Black's formula on the ratio of two prices", draw_forward_start},
        truth_entry{"cliquet", "quadrature from return to return", draw_cliquet},
        truth_entry{"chooser", "put-call parity", draw_chooser},
        truth_entry{"complex_chooser", "quadrature on the day of choice", draw_complex_chooser},
        truth_entry{"compound", "quadrature on the day of exercise", draw_compound},
        truth_entry{"extensible_option", "quadrature on the day of extension", draw_extensible_option},
        truth_entry{"variance_swap", "the mean of squared returns", draw_variance_swap},
        truth_entry{"autocallable", "a put on the worst of two and two digitals", draw_worst_of_note},
        truth_entry{"autocallable", "quadrature from date to date", draw_autocallable},
        truth_entry{"basket", "quadrature over the second asset", draw_basket},
        truth_entry{"spread", "quadrature over the second asset", draw_spread},
        truth_entry{"exchange", "Margrabe's formula", draw_exchange},
        truth_entry{"best_of", "Stulz's formula", draw_best_of},
        truth_entry{"worst_of", "Stulz's formula", draw_worst_of},
        truth_entry{"rainbow", "quadrature over two assets", draw_rainbow},
        truth_entry{"himalaya", "quadrature over two assets and Black on what is left", draw_himalaya},
        truth_entry{"volatility_swap", "the Laplace transform of the sum of squares", draw_volatility_swap},
        truth_entry{"corridor_variance_swap", "the mean of each squared return in the range",
                    draw_corridor_variance_swap},
        truth_entry{"range_accrual", "the chance of each day", draw_range_accrual},
        truth_entry{"reverse_convertible", "a bond and puts", draw_reverse_convertible},
        truth_entry{"barrier_reverse_convertible", "a bond and down-and-in puts",
                    draw_barrier_reverse_convertible},
        truth_entry{"barrier_reverse_convertible", "quadrature from date to date",
                    draw_barrier_reverse_convertible_on_dates},
        truth_entry{"capital_protected_note", "a bond and a call spread", draw_capital_protected_note},
        truth_entry{"phoenix_autocallable", "quadrature from date to date, coupon by coupon",
                    draw_phoenix_autocallable},
        truth_entry{"accumulator", "quadrature from date to date", draw_accumulator},
        truth_entry{"accumulator", "the reflection principle", draw_accumulator_continuous},
        truth_entry{"target_redemption_forward", "nested quadrature", draw_target_redemption_forward},
        truth_entry{"parisian", "the Laplace transform of the moment that decides", draw_parisian},
        truth_entry{"cumulative_parisian", "the law of the time beyond a level", draw_cumulative_parisian},
        truth_entry{"step_option", "the law of the time beyond a level", draw_step_option},
        truth_entry{"corridor_accrual", "the chance of each moment", draw_corridor_accrual},
        truth_entry{"continuous_asian", "Vecer's equation", draw_continuous_asian},
        truth_entry{"continuous_asian", "the lognormal geometric mean", draw_continuous_geometric_asian},
        truth_entry{"zero_coupon_bond", "the curve", draw_zero_coupon_bond},
        truth_entry{"coupon_bond", "the curve", draw_coupon_bond},
        truth_entry{"swap", "the curve", draw_swap},
        truth_entry{"cap_floor", "Black's formula on bonds", draw_cap_floor},
        truth_entry{"swaption", "Jamshidian's sum, or a quadrature over the second factor", draw_swaption},
        truth_entry{"floating_rate_note", "the curve, a floor and a cap", draw_floating_rate_note},
        truth_entry{"cms_leg", "quadrature over the law of the factors", draw_cms_leg},
        truth_entry{"rate_range_accrual", "quadrature over the law of the factors", draw_rate_range_accrual},
        truth_entry{"rate_future", "the forward and its convexity", draw_rate_future},
        truth_entry{"american", "quadrature from date to date", draw_bermudan_put,
                    truth_entry::verified_by::bounds},
        truth_entry{"american", "Black's formula, without dividends", draw_american_call,
                    truth_entry::verified_by::bounds},
        truth_entry{"bermudan_swaption", "quadrature over the factor from date to date",
                    draw_bermudan_swaption, truth_entry::verified_by::bounds},
        truth_entry{"european", "Merton's transform", draw_merton, truth_entry::verified_by::sensitivities},
        truth_entry{"european", "Kou's transform", draw_kou, truth_entry::verified_by::sensitivities},
        truth_entry{"european", "Heston's transform", draw_heston, truth_entry::verified_by::sensitivities},
        truth_entry{"european", "Bates's transform", draw_bates, truth_entry::verified_by::sensitivities},
        truth_entry{"european", "Schobel and Zhu's transform", draw_schobel_zhu,
                    truth_entry::verified_by::sensitivities},
        truth_entry{"european", "the transform of variance gamma", draw_variance_gamma,
                    truth_entry::verified_by::sensitivities},
        truth_entry{"european", "the transform of normal inverse Gaussian", draw_nig,
                    truth_entry::verified_by::sensitivities},
        truth_entry{"european", "the transform of CGMY", draw_cgmy, truth_entry::verified_by::sensitivities},
    };
    return all;
}

}  // namespace tilewalk::verify
