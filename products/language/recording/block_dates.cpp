// SPDX-License-Identifier: Apache-2.0
#include "products/language/recording/block_dates.h"

#include <algorithm>
#include <variant>

namespace tilewalk::language::recording {

run_dates block_dates::dates_of(const expression& e) const {
    const auto each = [&](const auto& of_run) {
        run_dates d{true, {}};
        for (const occurrence& run : at_.runs) d.times.push_back(of_run(run));
        return d;
    };
    if (e.means == meaning::today) return each([&](const occurrence& run) { return at_.label_of(run); });
    if (e.means == meaning::previous) return each([&](const occurrence& run) { return previous(e, run); });
    if (e.means == meaning::next) return each([&](const occurrence& run) { return next(e, run); });
    const argued_script& script = at_.script;
    if (e.means == meaning::parameter && e.is == form::name && !script.parameter_of(e.slot).per.empty()) {
        const argument& given = script.argument_of(e.slot);
        return each([&](const occurrence& run) {
            if (const auto* times = std::get_if<std::vector<dates::time_point>>(&given)) {
                return (*times)[at_.place_in_schedule(run)];
            }
            return script.get<dates::time_point>(e.slot);
        });
    }
    return {false, {script.date_of(e)}};
}

dates::time_point block_dates::previous(const expression& e, const occurrence& run) const {
    if (at_.of->continuous) return {run.begins};
    const dates::schedule& schedule = at_.script.schedule_of(e.list);
    const std::size_t place = at_.place_in_schedule(run);
    if (place > 0) return schedule.times[place - 1];
    if (schedule.anchor) return *schedule.anchor;
    if (std::holds_alternative<double>(schedule.times.front().when))
        return {0.0 - at_.script.years_since_start()};
    at_.script.fail(e.where, "'previous' is unknown for the first date of '" +
                                 at_.script.parameter_of(e.list).name +
                                 "': a list of dates does not say when its first period starts; write the "
                                 "schedule with start, end and every");
}

// The last date of a schedule is its own next date, so the period after it has no length.
dates::time_point block_dates::next(const expression& e, const occurrence& run) const {
    const std::vector<dates::time_point>& times = at_.script.schedule_of(e.list).times;
    return times[std::min(at_.place_in_schedule(run) + 1, times.size() - 1)];
}

value block_dates::years_of(const expression& e) {
    const run_dates d = dates_of(e);
    const std::string name = "years " + written(e);
    const dates::date as_of = at_.script.as_of();
    if (!d.each_run) return made_.term(name, d.times[0].years(as_of));
    return made_.row(name, [&](const occurrence& run) { return d.times[at_.number_of(run)].years(as_of); });
}

std::vector<double> block_dates::years_ahead(const expression& day, place where,
                                             const std::string& what) const {
    const run_dates until = dates_of(day);
    std::vector<double> years;
    years.reserve(at_.runs.size());
    for (std::size_t i = 0; i < at_.runs.size(); ++i) {
        const dates::time_point& then = until.of(i);
        years.push_back(then.years(at_.script.as_of()));
        if (years[i] < at_.runs[i].years - dates::same_time_years) {
            at_.script.fail(where, what + " for " + written(day) + " (" + to_string(then) +
                                       ") is asked for after that day, on " +
                                       to_string(at_.label_of(at_.runs[i])));
        }
    }
    return years;
}

value block_dates::year_fraction(const expression& begin, const expression& end,
                                 const std::string& convention) {
    const run_dates from = dates_of(begin), to = dates_of(end);
    const dates::day_count count = *dates::parse_day_count(convention);
    const auto fraction = [&](std::size_t run) {
        return dates::year_fraction(from.of(run), to.of(run), count, at_.script.as_of());
    };
    const std::string name = "year_fraction " + written(begin) + " " + written(end) + " " + convention;
    if (!from.each_run && !to.each_run) return made_.term(name, fraction(0));
    return made_.row(name, [&](const occurrence& run) { return fraction(at_.number_of(run)); });
}

std::string block_dates::day_count_of(const expression& e, std::size_t i) const {
    if (e.operands.size() <= i) return "act_365f";
    const expression& given = e.operands[i];
    return given.is == form::text ? given.text : at_.script.get<std::string>(given.slot);
}

}  // namespace tilewalk::language::recording
