// SPDX-License-Identifier: Apache-2.0
#include "engine/study/answers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "engine/base/wording.h"
#include "engine/numerics/black.h"
#include "tilewalk/results.h"

namespace tilewalk::answers {

namespace {

using books::trade;

reported_figure none(const std::string& what, const std::string& why) {
    return {what, no_figure, no_figure, why};
}

// Inverts Black's formula on today's forward. The volatility's error is the price's over vega.
reported_figure implied_volatility_of(const trade& t, const price_row& row, const markets::market_state& in) {
    const std::string& what = t.report->what;
    const markets::asset& of = in.find_asset(std::get<std::string>(t.args.at("underlying")));
    if (row.currency != of.currency)
        return none(what, "the option is paid in " + row.currency + ", not in the " + of.currency +
                              " of its asset, for which Black's formula is no measure");
    const double years = std::get<dates::time_point>(t.args.at("maturity")).years(in.as_of);
    if (!(years > dates::same_time_years)) return none(what, "the option ends on as_of or before");
    const double strike = std::get<double>(t.args.at("strike"));
    const auto side =
        std::get<std::string>(t.args.at("option")) == "call" ? analytics::right::call : analytics::right::put;
    const markets::curve& curve = in.discount_curve(of.currency);
    const double discount = curve.discount(years), forward = markets::forward(of, curve, years);
    try {
        const double volatility =
            analytics::implied_volatility(side, forward, strike, years, row.price / discount);
        const double vega = discount * analytics::black_vega(forward, strike, volatility, years);
        reported_figure r{what, volatility, row.standard_error == 0 ? 0 : row.standard_error / vega, {}};
        if (!std::isfinite(r.standard_error)) r.standard_error = no_figure;
        return r;
    } catch (const error& e) {
        return none(what, e.message());
    }
}

// Returns a parameter's number; a list has the same number for each date or asset.
double number_in(const language::argument& a) {
    const auto* each = std::get_if<std::vector<double>>(&a);
    return each != nullptr ? each->front() : std::get<double>(a);
}

void set_number(language::argument& a, double x) {
    if (auto* each = std::get_if<std::vector<double>>(&a)) {
        std::ranges::fill(*each, x);
    } else {
        a = x;
    }
}

// Root search for a parameter. It asks for one price at a time, so that all searches of a book share each
// run.
class search {
  public:
    search(const trade& t, const price_row& row) : trade_(&t), declared_(&declared_of(t)) {
        const double x = number_in(t.args.at(t.report->parameter));
        scale_ = x != 0 ? std::abs(x) : 1.0;
        next_ = x;
        take_price(row);
    }

    bool is_done() const { return done_.has_value(); }
    const reported_figure& figure() const { return *done_; }
    trade asked() const {
        trade t = *trade_;
        set_number(t.args.at(t.report->parameter), next_);
        t.report.reset();
        return t;
    }

    void take_price(const price_row& row) {
        if (row.status == trade_status::failed)
            return stop("at " + of_parameter(next_) + " the trade can't be priced: " + row.message);
        const point here{next_, row.price - trade_->report->price, row.standard_error};
        if (at_slope_) return finish(here);
        ++evaluations_;
        if (here.excess > 0 ? !above_ || closer(here, *above_) : !below_ || closer(here, *below_))
            (here.excess > 0 ? above_ : below_) = here;
        before_ = std::exchange(last_, here);
        if (here.excess == 0 || is_close_enough()) return begin_slope();
        if (evaluations_ == most_evaluations) return stop(not_found());
        choose_next();
    }

  private:
    struct point {
        double x = 0, excess = 0, error = 0;
    };
    static constexpr int most_evaluations = 80;
    // Relative tolerance of the root: far below any statistical error, above rounding.
    static constexpr double closeness = 1e-12;
    static constexpr double first_move = 0.05, slope_move = 1e-3;
    static constexpr double most_growth = 8;  // ratio of successive moves before the root is bracketed

    static const language::parameter& declared_of(const trade& t) {
        return *std::ranges::find(t.product->parameters, t.report->parameter, &language::parameter::name);
    }
    std::string of_parameter(double x) const { return trade_->report->parameter + " " + config::shown(x); }
    std::string not_found() const {
        return "no " + trade_->report->parameter + " from " + config::shown(lowest_) + " to " +
               config::shown(highest_) + " was found at which the price is " +
               config::shown(trade_->report->price);
    }
    void stop(const std::string& why) { done_ = none(trade_->report->what, why); }

    // Clamps to the parameter's range, without open ends.
    double within(double x) const {
        const auto inside = [](double end) { return 1e-9 * std::max(std::abs(end), 1e-3); };
        if (declared_->minimum) x = std::max(x, *declared_->minimum);
        if (declared_->maximum) x = std::min(x, *declared_->maximum);
        if (declared_->above) x = std::max(x, *declared_->above + inside(*declared_->above));
        if (declared_->below) x = std::min(x, *declared_->below - inside(*declared_->below));
        return x;
    }
    bool closer(const point& a, const point& b) const {
        if (!above_ || !below_) return std::abs(a.excess) <= std::abs(b.excess);
        return true;  // a point inside the bracket replaces one of its ends
    }
    bool is_close_enough() const {
        if (above_ && below_ && std::abs(above_->x - below_->x) <= closeness * scale_) return true;
        return before_ && std::abs(last_->excess) <= closeness * std::abs(first_excess_);
    }

    void choose_next() {
        if (!before_) first_excess_ = last_->excess;
        lowest_ = before_ ? std::min(lowest_, last_->x) : last_->x;
        highest_ = before_ ? std::max(highest_, last_->x) : last_->x;
        if (!before_) {
            next_ = within(last_->x + first_move * scale_);
            if (next_ == last_->x) next_ = within(last_->x - first_move * scale_);
            if (next_ == last_->x) stop(not_found());
            return;
        }
        const double run = last_->x - before_->x, rise = last_->excess - before_->excess;
        has_moved_ |= rise != 0;
        double x = last_->x - last_->excess * run / rise;
        if (above_ && below_) {
            // Takes the secant as long as the bracket keeps halving, else the middle.
            const auto [low, high] = std::minmax(above_->x, below_->x);
            const bool halves = high - low <= 0.5 * width_;
            if (evaluations_ % 3 == 0) width_ = high - low;
            if (!(x > low && x < high) || (evaluations_ % 3 == 2 && !halves)) x = 0.5 * (low + high);
            if (x == low || x == high) return begin_slope();
            next_ = x;
            return;
        }
        if (rise == 0)
            return stop(has_moved_ ? not_found()
                                   : "the price does not depend on " + trade_->report->parameter + " from " +
                                         config::shown(lowest_) + " to " + config::shown(highest_));
        const double most = most_growth * std::abs(run);
        next_ = within(std::clamp(x, last_->x - most, last_->x + most));
        if (next_ == last_->x || next_ == before_->x) stop(not_found());
    }

    // Asks for a price beside the root: the slope turns the price's error into the parameter's.
    void begin_slope() {
        at_slope_ = true;
        root_ = *last_;
        if (above_ && std::abs(above_->excess) < std::abs(root_.excess)) root_ = *above_;
        if (below_ && std::abs(below_->excess) < std::abs(root_.excess)) root_ = *below_;
        const double move = slope_move * std::max(std::abs(root_.x), slope_move * scale_);
        next_ = within(root_.x + move);
        if (next_ == root_.x) next_ = within(root_.x - move);
    }
    void finish(const point& beside) {
        const double slope = (beside.excess - root_.excess) / (beside.x - root_.x);
        double error = root_.error == 0 ? 0 : root_.error / std::abs(slope);
        if (!std::isfinite(error)) error = no_figure;
        done_ = {trade_->report->what, root_.x, error, {}};
    }

    const trade* trade_;
    const language::parameter* declared_;
    double scale_ = 1, next_ = 0, first_excess_ = 0, lowest_ = 0, highest_ = 0, width_ = 0;
    int evaluations_ = 0;
    std::optional<point> last_, before_, above_, below_;
    bool at_slope_ = false, has_moved_ = false;
    point root_;
    std::optional<reported_figure> done_;
};

void find_parameters(std::vector<price_row>& rows, const std::vector<trade>& trades, const pricer& reprice) {
    std::vector<std::pair<std::size_t, search>> searches;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (trades[i].report && !trades[i].report->parameter.empty() &&
            rows[i].status == trade_status::priced)
            searches.emplace_back(i, search(trades[i], rows[i]));
    }
    for (;;) {
        std::vector<trade> asked;
        std::vector<search*> by;
        for (auto& [row, one] : searches) {
            if (one.is_done()) continue;
            asked.push_back(one.asked());
            by.push_back(&one);
        }
        if (asked.empty()) break;
        const results got = reprice(asked);
        for (std::size_t k = 0; k < by.size(); ++k) by[k]->take_price(got.rows[k]);
    }
    for (auto& [row, one] : searches) rows[row].reported = one.figure();
}

}  // namespace

void add(std::vector<price_row>& rows, const std::vector<trade>& trades, const markets::market_state& in,
         const pricer& reprice) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const trade& t = trades[i];
        if (!t.report) continue;
        if (rows[i].status == trade_status::failed)
            rows[i].reported = none(t.report->what, "the trade has no price");
        else if (t.report->parameter.empty())
            rows[i].reported = implied_volatility_of(t, rows[i], in);
    }
    find_parameters(rows, trades, reprice);
}

}  // namespace tilewalk::answers
