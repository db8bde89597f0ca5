// SPDX-License-Identifier: Apache-2.0
#include "products/language/argued_script.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <locale>
#include <optional>
#include <sstream>
#include <utility>

#include "tilewalk/bounds.h"

namespace tilewalk::language {

namespace {

constexpr std::size_t most_elements = std::size_t{1} << 16U;

// Most uses of one right: a policy estimates the continuation value for each number of uses left.
constexpr int most_times = 100;

}  // namespace

std::string written(const expression& e) {
    if (e.is == form::call) return e.text + "(" + e.operands[0].text + ")";
    return e.text;
}

argued_script::argued_script(std::shared_ptr<const product> of, arguments args, dates::date as_of,
                             dates::date start, std::string trade_currency)
    : of_(std::move(of)),
      args_(std::move(args)),
      as_of_(as_of),
      start_(start),
      trade_currency_(std::move(trade_currency)) {
    check_arguments();
    find_blocks();
    find_notices();
    find_assets();
}

void argued_script::fail(place where, const std::string& message) const {
    throw error(error_kind::input, message, {tree().file, where.line, where.column});
}

void argued_script::fail_type(std::size_t number) const {
    throw error(error_kind::internal,
                "the argument of '" + parameter_of(number).name + "' is of another type than the parameter");
}

void argued_script::fail_missing(std::size_t number) const {
    const std::string& name = parameter_of(number).name;
    throw error(error_kind::input, "the trade has no '" + name + "'", {}, name);
}

void argued_script::check_arguments() const {
    for (std::size_t i = 0; i < tree().parameters.size(); ++i) {
        const parameter& p = parameter_of(i);
        if (!is_given(i)) {
            if (p.optional || !p.unless.empty()) continue;
            fail_missing(i);
        }
        if (p.type == parameter_type::asset_list && list_of(i).empty()) {
            throw error(error_kind::input, "found an empty list of assets, expected at least one", {},
                        p.name);
        }
        if (p.per.empty()) continue;
        const auto& all = tree().parameters;
        const auto named =
            std::find_if(all.begin(), all.end(), [&](const parameter& q) { return q.name == p.per; });
        const auto over = static_cast<std::size_t>(named - all.begin());
        const bool by_date = parameter_of(over).type == parameter_type::schedule;
        const std::size_t wanted = by_date ? schedule_of(over).times.size() : list_of(over).size();
        const argument& given = args_.find(p.name)->second;
        std::optional<std::size_t> got;
        if (const auto* numbers = std::get_if<std::vector<double>>(&given)) got = numbers->size();
        if (const auto* times = std::get_if<std::vector<dates::time_point>>(&given)) got = times->size();
        if (got && *got != wanted) {
            throw error(error_kind::input,
                        "found " + std::to_string(*got) + " values, expected " + std::to_string(wanted) +
                            ", one for each " + (by_date ? "date" : "asset") + " of '" + p.per + "'",
                        {}, p.name);
        }
    }
    std::size_t total = 0;
    for (const variable& v : tree().variables) total += elements(v);
    if (total > most_elements) {
        throw error(error_kind::input, "the script keeps " + std::to_string(total) +
                                           " values, one for each asset; expected at most " +
                                           std::to_string(most_elements));
    }
}

dates::time_point argued_script::date_of(const expression& e) const {
    if (e.means == meaning::start) return {start_};
    if (e.is == form::call) {
        const auto& times = schedule_of(e.operands[0].slot).times;
        if (times.empty()) fail(e.where, "'" + written(e) + "' is asked for a schedule without dates");
        return e.calls == function::first ? times.front() : times.back();
    }
    return get<dates::time_point>(e.slot);
}

double argued_script::longest_step_of(const expression& e) const {
    const double years = e.is == form::number ? e.number : get<double>(e.slot);
    if (!(years > 0)) {
        fail(e.where, "the longest step between two dates is " + std::to_string(years) +
                          " years, expected more than 0");
    }
    return years;
}

void argued_script::fail_term(const expression& number, const std::string& message) const {
    if (number.is == form::number) fail(number.where, message);
    throw error(error_kind::input, message, {}, parameter_of(number.slot).name);
}

int argued_script::times_of(const expression& e, int least) const {
    const double times = e.is == form::number ? e.number : get<double>(e.slot);
    if (!(times >= least && times <= most_times) || times != std::floor(times)) {
        std::ostringstream found;
        found.imbue(std::locale::classic());
        found << times;
        fail_term(e, "a right is used " + found.str() + " times, expected a whole number from " +
                         std::to_string(least) + " to " + std::to_string(most_times));
    }
    return static_cast<int>(times);
}

void argued_script::take_terms(const block_syntax& b, block& to) const {
    if (b.at_most) to.at_most = times_of(*b.at_most, 1);
    if (b.at_least) {
        to.at_least = times_of(*b.at_least, 0);
        const std::string must =
            "the right must be used at least " + std::to_string(to.at_least) + " times, ";
        if (to.at_least > to.at_most) {
            fail_term(*b.at_least, must + "expected no more than the " + std::to_string(to.at_most) +
                                       " times that it may be used");
        }
        if (static_cast<std::size_t>(to.at_least) > to.labels.size()) {
            fail_term(*b.at_least, must + "expected no more than once on each of its " +
                                       std::to_string(to.labels.size()) + " dates");
        }
    }
    if (!b.notice) return;
    const double found = b.notice->is == form::number ? b.notice->number : get<double>(b.notice->slot);
    if (!(found >= 0)) {
        fail_term(*b.notice, "the notice is " + std::to_string(found) + ", expected 0 or more " +
                                 (b.is_notice_in_days ? "days" : "years"));
    }
    to.notice = b.is_notice_in_days ? found / 365 : found;
}

// Adds a block on the notice dates of each right that needs notice; the right is decided on there. These
// blocks come after all blocks of the script.
void argued_script::find_notices() {
    for (std::size_t of = 0; of < tree().blocks.size(); ++of) {
        if (blocks_[of].notice < dates::same_time_years) continue;
        block b;
        b.name = "notice of " + blocks_[of].name;
        b.right_of = blocks_[of].right_of;
        b.notice_of = of;
        const double days = blocks_[of].notice * 365, whole = std::round(days);
        for (const dates::time_point& day : blocks_[of].labels) {
            b.times.push_back(day.years(as_of_) - blocks_[of].notice);
            const auto* date = std::get_if<dates::date>(&day.when);
            const bool is_date = date != nullptr && std::abs(days - whole) < 1e-6;
            if (is_date)
                b.labels.push_back({dates::date{date->serial - static_cast<std::int32_t>(whole)}});
            else
                b.labels.push_back({b.times.back()});
        }
        blocks_.push_back(std::move(b));
        offsets_.push_back(offsets_[of]);
    }
}

void argued_script::find_blocks() {
    for (const block_syntax& b : tree().blocks) {
        block found;
        int offset = 0;
        found.continuous = b.continuous;
        found.right_of = b.right_of;
        const std::string word = !b.right_of ? "" : *b.right_of == party::holder ? "exercise " : "call ";
        const std::string line = " (line " + std::to_string(b.where.line) + ")";
        const auto is_known = [&](const expression& e) {
            return e.is != form::name || e.means != meaning::parameter || is_given(e.slot);
        };
        if (!is_known(b.from) || (b.continuous && !is_known(b.to))) {
            // The block never runs, because the trade does not give its date.
            found.name = word + (b.continuous ? "between " : "on ") + written(b.from) + line;
        } else if (b.continuous) {
            found.name = word + "between " + written(b.from) + " and " + written(b.to) + line;
            if (b.every) found.longest_step = longest_step_of(*b.every);
            found.in_equal_steps = b.in_equal_steps;
            found.labels = {date_of(b.from), date_of(b.to)};
            // A block that ended before as_of never runs, so it may have a start after its end.
            const double end = found.labels[1].years(as_of_);
            if (end >= 0 && found.labels[0].years(as_of_) > end) {
                fail(b.from.where, "the block begins at " + to_string(found.labels[0]) +
                                       ", after its end at " + to_string(found.labels[1]));
            }
        } else {
            found.name = word + "on " + written(b.from) + line;
            if (b.from.is == form::name && b.schedule) {
                found.labels = schedule_of(*b.schedule).times;
            } else if (!b.schedule || !schedule_of(*b.schedule).times.empty()) {
                found.labels = {date_of(b.from)};
                if (b.from.is == form::call && b.from.calls == function::last) {
                    offset = static_cast<int>(schedule_of(*b.schedule).times.size()) - 1;
                }
            }
        }
        if (b.right_of && b.continuous && !found.labels.empty()) stop_every_step(found);
        if (!found.labels.empty()) take_terms(b, found);
        for (const auto& t : found.labels) found.times.push_back(t.years(as_of_));
        blocks_.push_back(std::move(found));
        offsets_.push_back(offset);
    }
}

// Turns a right between two dates into a right on equidistant dates.
void argued_script::stop_every_step(block& b) const {
    const double from = b.labels[0].years(as_of_), to = b.labels[1].years(as_of_);
    const double steps = std::ceil((to - from) / b.longest_step - 1e-6);
    if (!(steps <= bounds::steps)) {
        std::ostringstream dates;
        dates.imbue(std::locale::classic());
        dates << std::setprecision(15) << steps;
        throw error(error_kind::input, "the right '" + b.name + "' can be exercised on " + dates.str() +
                                           " dates, expected at most " + std::to_string(bounds::steps));
    }
    b.continuous = b.in_equal_steps = false;
    b.labels.clear();
    for (double i = 0; i < steps; ++i) b.labels.push_back({from + (to - from) * (i / steps)});
    b.labels.push_back({to});
}

void argued_script::find_assets() {
    const auto add = [](std::vector<std::string>& to, const std::string& name) {
        if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
    };
    for (std::size_t i = 0; i < tree().parameters.size(); ++i) {
        if (!tree().parameter_used[i] || !is_given(i)) continue;
        switch (parameter_of(i).type) {
            case parameter_type::asset:
                add(assets_, get<std::string>(i));
                break;
            case parameter_type::asset_list:
                for (const std::string& name : list_of(i)) add(assets_, name);
                break;
            case parameter_type::currency:
                if (get<std::string>(i) == trade_currency_) break;
                add(tree().parameter_exchanged[i] ? currencies_ : rate_currencies_, get<std::string>(i));
                break;
            default:
                break;
        }
    }
}

}  // namespace tilewalk::language
