// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/trade_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "engine/models/world.h"
#include "engine/plan/error_of_steps.h"
#include "engine/plan/past.h"
#include "engine/plan/watched_program.h"
#include "products/program/evaluate.h"
#include "tilewalk/bounds.h"
#include "tilewalk/error.h"

namespace tilewalk::plan {

namespace {

using dates::same_time_years;
using language::block;
using language::occurrence;

constexpr std::size_t most_steps = bounds::steps;

void sort_and_merge(std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    std::vector<double> kept;
    for (const double t : times) {
        if (kept.empty() || t - kept.back() > same_time_years) kept.push_back(t);
    }
    times = std::move(kept);
}

std::size_t place_in(const std::vector<double>& grid, double time) {
    const auto at = std::lower_bound(grid.begin(), grid.end(), time - same_time_years);
    if (at == grid.end() || std::abs(*at - time) > same_time_years) {
        throw error(error_kind::internal, "a watched time is not on the grid");
    }
    return static_cast<std::size_t>(at - grid.begin());
}

std::string currency_of(const books::trade& t, const markets::market_view& market) {
    if (!t.currency.empty()) {
        market.discount_curve(t.currency);
        return t.currency;
    }
    for (const auto& p : t.product->parameters) {
        const auto arg = t.args.find(p.name);
        if (arg == t.args.end()) continue;
        if (p.type == language::parameter_type::asset) {
            return market.find_asset(std::get<std::string>(arg->second)).currency;
        }
        if (p.type == language::parameter_type::asset_list) {
            const auto& names = std::get<std::vector<std::string>>(arg->second);
            if (!names.empty()) return market.find_asset(names.front()).currency;
        }
    }
    throw error(error_kind::input, "the trade has no asset to take its currency from; write currency:");
}

struct past_event {
    occurrence at;
    std::size_t block = 0;
    dates::date day;
    bool exact = true;
    bool starts = false;  // a watch that begins on as_of sees the spot
};

bool begins_now(const block& b) {
    return b.continuous && !b.times.empty() && std::abs(b.times[0]) <= same_time_years &&
           b.times[1] > same_time_years;
}

// Plays what has happened. With `with_start`, watches that begin on as_of run at that moment, too.
void play_past(language::payoff& script, const markets::market_view& market, past_world& world,
               bool with_start, program::recorder& into) {
    const std::vector<std::string>& assets = script.assets();
    std::vector<past_event> events;
    const auto& blocks = script.blocks();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const block& of = blocks[b];
        if (of.times.empty()) continue;
        if (of.continuous) {
            // Before as_of, a level was touched if a recorded fixing lies beyond it. Today's spot counts as a
            // path's start does, even if no path follows.
            const auto day_at = [&](double years) {
                return dates::date{market.as_of.serial +
                                   static_cast<std::int32_t>(std::floor(years * 365.0 + 0.5))};
            };
            if (with_start && begins_now(of)) {
                events.push_back({occurrence{}, b, market.as_of, true, true});
                continue;
            }
            if (of.times[0] >= 0) continue;
            const dates::date yesterday{market.as_of.serial - 1};
            const bool ended = of.times[1] < -same_time_years;
            // A fixing stands for all the time since the fixing before it.
            double last = of.times[0];
            const auto see = [&](dates::date day, double years, bool exact) {
                events.push_back({{years, years, 0, std::min(last, years), years}, b, day, exact});
                last = years;
            };
            for (const dates::date day :
                 world.fixing_days(assets, day_at(of.times[0]), ended ? day_at(of.times[1]) : yesterday)) {
                see(day, dates::time_point{day}.years(market.as_of), false);
            }
            if (!ended) see(market.as_of, 0, true);
            continue;
        }
        for (std::size_t i = 0; i < of.times.size() && of.times[i] <= same_time_years; ++i) {
            // Past rights are taken as not used. A notice is over once its date has come.
            if (of.notice_of || (of.right_of && of.times[i] < -same_time_years)) continue;
            dates::date day = market.as_of;
            if (of.times[i] < -same_time_years) {
                const auto* date = std::get_if<dates::date>(&of.labels[i].when);
                // A time in years becomes past only in a rolled market, which knows that day.
                const dates::date rounded{market.as_of.serial +
                                          static_cast<std::int32_t>(std::ceil(of.times[i] * 365.0 - 1e-3))};
                if (date == nullptr && market.on(rounded)) date = &rounded;
                if (date == nullptr) {
                    throw error(error_kind::input,
                                of.name + ": a time before as_of must be a date, so that its fixing can " +
                                    "be found; found " + to_string(of.labels[i]));
                }
                day = *date;
            }
            events.push_back({language::on_date(of.times[i], static_cast<int>(i) + 1), b, day, true});
        }
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const past_event& a, const past_event& b) { return a.at.years < b.at.years; });
    for (const past_event& e : events) {
        e.starts ? world.enter_start() : world.enter(e.day, e.exact);
        script.record(e.block, {&e.at, 1}, world, into);
    }
}

// Returns remarks on what a watch that begins now sees at once, such as a spot beyond a barrier.
std::vector<std::string> remarks_at_start(const books::trade& t, const markets::market_view& market,
                                          const std::string& currency) {
    language::payoff script(t.product, t.args, market.as_of, currency, market.first_day());
    program::recorder into;
    into.set_eager(true);
    script.declare(into);
    past_world past(market, currency, into);
    try {
        play_past(script, market, past, true, into);
    } catch (const error&) {
        // The script needs the future, so there is no more to remark.
    }
    return past.remarks();
}

// Days for settlement after the last date; a trade is over after them.
constexpr double settlement_days = 7;

std::optional<std::string> remark_on_end(const std::vector<block>& blocks, dates::date as_of) {
    const dates::time_point* last = nullptr;
    double years = -std::numeric_limits<double>::infinity();
    for (const block& b : blocks) {
        if (b.times.empty() || b.times.back() <= years) continue;
        years = b.times.back();
        last = &b.labels.back();
    }
    if (last == nullptr || years * 365.0 >= -settlement_days) return {};
    return "it ended on " + to_string(*last) + ", " + std::to_string(std::llround(-years * 365.0)) +
           " days before as_of, " + to_string(as_of);
}

[[noreturn]] void refuse_steps(double steps) {
    throw error(error_kind::input, "the trade has " + std::to_string(static_cast<long long>(steps)) +
                                       " dates to stop at; at most " + std::to_string(most_steps) +
                                       " are possible");
}

// Returns the number of equal steps between two times, none longer than `longest`.
double equal_steps(double from, double to, double longest) {
    // Allows for rounding, so that dates one longest step apart need one step.
    const double steps = std::ceil((to - from) / longest - 1e-6);
    if (!(steps <= most_steps)) refuse_steps(std::min(steps, 1e18));
    return std::max(steps, 1.0);
}
double time_of_step(double from, double to, double i, double steps) {
    return from + (to - from) * (i / steps);
}

void add_equal_steps(double from, double to, double longest, std::vector<double>& grid) {
    const double steps = equal_steps(from, to, longest);
    for (double i = 1; i < steps; ++i) grid.push_back(time_of_step(from, to, i, steps));
}

std::vector<double> grid_of(const std::vector<block>& blocks, const models::world& world) {
    std::vector<double> grid{0.0};
    for (const block& b : blocks) {
        if (!b.continuous || b.times.empty()) {
            for (const double t : b.times) {
                if (t > same_time_years) grid.push_back(t);
            }
            continue;
        }
        const double from = std::max(b.times[0], 0.0), to = b.times[1];
        if (to <= same_time_years || to <= from) continue;
        grid.push_back(from);
        grid.push_back(to);
        world.add_stops(from, to, grid);
        if (b.longest_step > 0) add_equal_steps(from, to, b.longest_step, grid);
    }
    world.add_breaks(*std::max_element(grid.begin(), grid.end()), grid);
    sort_and_merge(grid);
    if (const double longest = world.longest_step(grid); longest > 0) {
        const std::vector<double> stops = grid;
        for (std::size_t i = 0; i + 1 < stops.size(); ++i)
            add_equal_steps(stops[i], stops[i + 1], longest, grid);
        sort_and_merge(grid);
    }
    if (grid.size() - 1 > most_steps) {
        refuse_steps(static_cast<double>(grid.size() - 1));
    }
    return grid;
}

// A block's future runs, each with the step of the path after which it runs.
struct runs_of_block {
    std::vector<occurrence> runs;
    std::vector<std::size_t> steps;
};

runs_of_block runs_to_come(const block& b, const std::vector<double>& grid) {
    runs_of_block out;
    if (!b.continuous) {
        for (std::size_t i = 0; i < b.times.size(); ++i) {
            if (b.times[i] <= same_time_years) continue;
            out.runs.push_back(language::on_date(b.times[i], static_cast<int>(i) + 1));
            out.steps.push_back(place_in(grid, b.times[i]) - 1);
        }
        return out;
    }
    if (b.times.empty()) return out;
    const double from = std::max(b.times[0], 0.0), to = b.times[1];
    if (to <= same_time_years || to <= from) return out;
    const std::size_t first = place_in(grid, from), last = place_in(grid, to);
    // A step asked for by the script may contain stops of the path: it is then watched in several runs.
    const double steps = b.in_equal_steps ? equal_steps(from, to, b.longest_step) : 0;
    double step = 0;
    std::size_t begins = first, ends = first;
    for (std::size_t i = first; i < last; ++i) {
        while (b.in_equal_steps && ends <= i) {
            begins = ends;
            ++step;
            ends = step < steps ? place_in(grid, time_of_step(from, to, step, steps)) : last;
        }
        out.runs.push_back(b.in_equal_steps ? occurrence{grid[i + 1], grid[i], 0, grid[begins], grid[ends]}
                                            : language::interval(grid[i], grid[i + 1]));
        out.steps.push_back(i);
    }
    return out;
}

std::vector<block> without(const std::vector<bool>& idle, std::vector<block> blocks) {
    for (std::size_t b = 0; b < idle.size(); ++b) {
        if (idle[b]) blocks[b].times.clear();
    }
    return blocks;
}

bool goes_on(const std::vector<block>& blocks) {
    return std::any_of(blocks.begin(), blocks.end(),
                       [](const block& b) { return !b.times.empty() && b.times.back() > same_time_years; });
}

using events_by_step = std::vector<std::vector<program::event>>;

struct watch {
    std::uint32_t section = 0;
    std::vector<std::uint32_t> seen{};  // by asset: states that hold its price
};
void record_watch(watch& what, const std::vector<std::string>& assets, const std::vector<double>& grid,
                  models::world& world, program::recorder& into, events_by_step& after) {
    std::vector<occurrence> runs;
    for (std::size_t s = 0; s + 1 < grid.size(); ++s) {
        runs.push_back(language::on_date(grid[s + 1], static_cast<int>(s) + 1));
        after[s].push_back({what.section, static_cast<std::uint32_t>(s)});
    }
    into.open_section(what.section, "watch", runs.size());
    world.enter(runs);
    what.seen.clear();
    const auto see = [&](const std::string& name, program::value what_is_seen) {
        const std::uint32_t state = into.state(name, 0);
        into.output(state);
        into.write(state, what_is_seen);
        return state;
    };
    for (const std::string& asset : assets) what.seen.push_back(see("seen " + asset, world.spot(asset)));
    // A section that writes nothing would be dropped.
    if (assets.empty()) see("watched", into.constant(1.0));
}

// Records a section for each block with future runs, in the script's order, then the step, section 0, once it
// is known what to keep. Returns the events after each step.
events_by_step record_sections(language::payoff& script, const std::vector<block>& blocks,
                               const std::vector<double>& grid, models::world* world, program::recorder& into,
                               std::vector<std::size_t>& section_of_block, language::decider* rights,
                               controller* controls, watch* watches) {
    const std::size_t steps = grid.size() - 1;
    section_of_block.assign(blocks.size(), 0);
    events_by_step after(steps);
    std::vector<runs_of_block> to_come;
    std::uint32_t section = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const runs_of_block& of = to_come.emplace_back(runs_to_come(blocks[b], grid));
        if (of.runs.empty()) continue;
        section_of_block[b] = ++section;
        for (std::size_t r = 0; r < of.runs.size(); ++r)
            after[of.steps[r]].push_back({section, static_cast<std::uint32_t>(r)});
    }
    // Blocks with rights come last, as a decision may read any state of the others.
    for (const bool are_rights : {false, true}) {
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            if (to_come[b].runs.empty() || blocks[b].right_of.has_value() != are_rights) continue;
            into.open_section(section_of_block[b], blocks[b].name, to_come[b].runs.size());
            world->enter(to_come[b].runs);
            script.record(b, to_come[b].runs, *world, into);
        }
    }
    if (rights != nullptr && rights->has_end() && steps > 0) {
        into.open_section(++section, "end", 1);
        rights->ends_path(script.value_state(), into);
        after.back().push_back({section, 0});
    }
    if (watches != nullptr && steps > 0) {
        watches->section = ++section;
        record_watch(*watches, script.assets(), grid, *world, into, after);
    }
    into.open_section(0, "step", steps);
    if (steps > 0) world->record_step(controls);
    if (rights != nullptr && steps > 0) rights->ends_step(grid, into);
    if (controls != nullptr && steps > 0) {
        into.open_section(++section, controller::section, 1);
        controls->ends_path(script.value_state(), *world, into);
        after.back().push_back({section, 0});
    }
    return after;
}

program::timeline timeline_of(const std::vector<double>& grid, const events_by_step& after,
                              const program::path_program& code) {
    program::timeline when;
    for (std::size_t s = 0; s < after.size(); ++s) {
        for (const program::event e : after[s]) {
            if (!code.sections[e.section].writes.empty()) when.add(e);
        }
        when.times.push_back(grid[s + 1]);
        when.close_step();
    }
    return when;
}

// Never uses a right. The rows and stops of rights are recorded all the same.
class nobody final : public language::decider {
    program::value uses(const language::right_at_hand& right, program::recorder& into) override {
        return 0.5 < into.row("used", std::vector<double>(right.runs.size(), 0.0));
    }
    bool uses_today(const language::right_today&) override { return false; }
};

struct recorded_trade {
    program::recorder::recorded made;
    std::vector<double> grid;
    events_by_step after;
    std::vector<block> blocks;  // idle ones have no times
};

// Whether to make remarks and descriptions, which only plans that people read need.
enum class is_told : std::uint8_t { no, yes };
// Whether to output each checked operation instead of the payoff.
enum class are_checks_apart : std::uint8_t { no, yes };

// Records the trade without its idle blocks. Sets the members of `out` that are known before the passes.
recorded_trade record_without(const std::vector<bool>& idle, const books::trade& t,
                              const markets::market_view& market, const poll& often, is_told people,
                              trade_program& out, language::decider* rights = nullptr,
                              controller* controls = nullptr, watch* watches = nullptr,
                              are_checks_apart checks = are_checks_apart::no) {
    out.currency = currency_of(t, market);
    language::payoff script(t.product, t.args, market.as_of, out.currency, market.first_day());
    nobody uses_none;
    if (rights == nullptr) rights = &uses_none;
    script.decide_by(rights);
    if (checks == are_checks_apart::yes) script.tell_flaws_apart();
    rights->begins();
    out.assets = script.assets();
    out.currencies = script.currencies();
    out.rate_currencies = script.rate_currencies();
    for (const auto& name : out.assets) market.find_asset(name);

    program::recorder into;
    into.set_poll(often);
    into.poll();
    into.set_eager(true);
    script.declare(into);
    past_world past(market, out.currency, into);
    play_past(script, market, past, false, into);
    into.set_eager(false);
    if (people == is_told::yes) {
        out.remarks = std::any_of(script.blocks().begin(), script.blocks().end(), begins_now)
                          ? remarks_at_start(t, market, out.currency)
                          : past.remarks();
    }

    recorded_trade made;
    made.blocks = without(idle, script.blocks());
    made.grid = {0.0};
    std::unique_ptr<models::world> world;
    // Models are made only for a trade with a future, so that others need none in the market.
    if (goes_on(made.blocks)) {
        world = models::make_world(
            {market, script.assets(), script.currencies(), script.rate_currencies(), out.currency});
        if (people == is_told::yes) {
            out.missing_correlations = world->correlations();
            std::erase_if(out.missing_correlations, [](const auto& taken) { return taken.is_stated; });
        }
        made.grid = grid_of(made.blocks, *world);
        world->begin(made.grid, into);
    }
    if (controls != nullptr) controls->begins(into);
    made.after = record_sections(script, made.blocks, made.grid, world.get(), into, out.section_of_block,
                                 rights, controls, watches);
    if (world && people == is_told::yes) out.models = world->describe();

    into.poll();
    made.made = std::move(into).finish();
    if (controls != nullptr && made.grid.size() > 1 && controls->result()) {
        std::vector<std::uint32_t>& outputs = made.made.code.outputs;
        const std::uint32_t value = std::exchange(outputs.front(), *controls->result());
        if (controls->keeps_value()) outputs.insert(outputs.begin() + 1, value);
    }
    if (checks == are_checks_apart::yes) made.made.code.outputs = script.states_of_checked();
    out.checked = script.checked();
    if (people == is_told::yes)
        out.error_steps =
            world ? error_of_steps(*world, script, made.blocks, made.made.data.initial_states, market) : 0.0;
    out.blocks = script.blocks();
    return made;
}

trade_program plan_without(const std::vector<bool>& idle, const books::trade& t,
                           const markets::market_view& market, program::precision for_precision,
                           const amendment& amend, const poll& often, language::decider* rights,
                           controller* controls, passed_programs& known, watch* watches = nullptr,
                           are_checks_apart checks = are_checks_apart::no) {
    trade_program out;
    recorded_trade recorded =
        record_without(idle, t, market, often, is_told::yes, out, rights, controls, watches, checks);
    if (amend) amend(recorded.made, recorded.grid);
    const std::shared_ptr<const passed_program> passed =
        known.passed(recorded.made.code, program::is_fast(for_precision));
    const auto bind = [&](const program::path_program& code) {
        out.code = code;
        out.data = program::bind(out.code, recorded.made.data, program::real_type(for_precision));
    };
    bind(passed->with_logarithms);
    if (!program::has_all_logarithms(out.code, out.data)) bind(program::hoist(passed->plain));
    out.when = timeline_of(recorded.grid, recorded.after, out.code);
    std::vector<bool> is_of_intervals(out.code.sections.size());
    for (std::size_t b = 0; b < recorded.blocks.size(); ++b)
        if (recorded.blocks[b].continuous) is_of_intervals[out.section_of_block[b]] = true;
    program::mark_every_step(out.code, out.when, is_of_intervals);
    const bool is_worthless = out.is_certain() && out.data.initial_states[out.code.outputs[0]] == 0;
    if (const auto ended = remark_on_end(out.blocks, market.as_of); ended && is_worthless)
        out.remarks.push_back(*ended + ", and nothing is left to pay");
    return out;
}

}  // namespace

std::vector<std::string> remarks_on_terms(const books::trade& t, const markets::market_view& market) {
    try {
        const language::payoff script(t.product, t.args, market.as_of, currency_of(t, market),
                                      market.first_day());
        if (const auto ended = remark_on_end(script.blocks(), market.as_of)) return {*ended};
    } catch (const error&) {
        // Pricing reports terms that are wrong.
    }
    return {};
}

bool has_rights(const books::trade& t) {
    return t.product && t.product->payoff.has_rights();
}

namespace {

// Plans again until no block is idle, such as the continuous watch of a barrier that is seen on dates only:
// paths need not stop for it. `planned` plans without the marked blocks.
template <class function>
trade_program without_idle_blocks(const function& planned) {
    std::vector<bool> idle;
    for (;;) {
        trade_program made = planned(idle);
        idle.resize(made.blocks.size(), false);
        bool found = false;
        for (std::size_t b = 0; b < made.blocks.size(); ++b) {
            const std::size_t section = made.section_of_block[b];
            if (idle[b] || section == 0 || !made.code.sections[section].writes.empty()) continue;
            idle[b] = found = true;
        }
        if (found) continue;
        made.idle = std::move(idle);
        return made;
    }
}

}  // namespace

trade_program plan_trade(const books::trade& t, const markets::market_view& market,
                         program::precision for_precision, const amendment& amend, const poll& often,
                         language::decider* rights, controller* controls, passed_programs* known) {
    passed_programs alone;
    return without_idle_blocks([&](const std::vector<bool>& idle) {
        return plan_without(idle, t, market, for_precision, amend, often, rights, controls,
                            known != nullptr ? *known : alone);
    });
}

trade_program plan_checks(const books::trade& t, const markets::market_view& market,
                          program::precision for_precision, const std::vector<bool>& idle,
                          const poll& often) {
    passed_programs alone;
    return plan_without(idle, t, market, for_precision, {}, often, nullptr, nullptr, alone, nullptr,
                        are_checks_apart::yes);
}

watched_program plan_watched(const books::trade& t, const markets::market_view& market, const poll& often) {
    passed_programs alone;
    watch watches;
    watched_program out;
    out.made = without_idle_blocks([&](const std::vector<bool>& idle) {
        return plan_without(idle, t, market, program::precision::double_, {}, often, nullptr, nullptr, alone,
                            &watches);
    });
    if (out.made.is_certain()) return out;
    out.section = watches.section;
    const std::vector<std::uint32_t>& sources = out.made.code.state_sources;
    for (const std::uint32_t seen : watches.seen)
        out.seen.push_back(static_cast<std::uint32_t>(std::ranges::find(sources, seen) - sources.begin()));
    return out;
}

struct trade_numbers::state {
    const books::trade& of;
    const program::path_program& code;
    std::vector<bool> idle;
    program::number_type walked_in;
    maker_of_deciders rights;
    recorded_trade recorded;
    std::shared_ptr<const program::path_data> data;

    recorded_trade recorded_in(const markets::market_view& market, const poll& often,
                               controller* controls) const {
        trade_program unread;
        const std::unique_ptr<language::decider> decides = rights ? rights() : nullptr;
        return record_without(idle, of, market, often, is_told::no, unread, decides.get(), controls);
    }
    std::shared_ptr<const program::path_data> bound(const program::program_data& numbers) const {
        return std::make_shared<const program::path_data>(program::bind(code, numbers, walked_in));
    }
};

trade_numbers::trade_numbers(const books::trade& t, const markets::market_view& market,
                             const program::path_program& code, const std::vector<bool>& idle,
                             program::precision for_precision, const poll& often, maker_of_deciders rights,
                             controller* controls) {
    auto made = std::make_unique<state>(
        state{t, code, idle, program::real_type(for_precision), std::move(rights), {}, {}});
    made->recorded = made->recorded_in(market, often, controls);
    made->data = made->bound(made->recorded.made.data);
    state_ = std::move(made);
}

trade_numbers::~trade_numbers() = default;

std::shared_ptr<const program::path_data> trade_numbers::in(const markets::market_view& other,
                                                            const poll& often, controller* controls) const {
    const state& s = *state_;
    const recorded_trade there = s.recorded_in(other, often, controls);
    const program::program_data& numbers = there.made.data;
    const program::program_data& before = s.recorded.made.data;
    if (!is_same_program(there.made.code, s.recorded.made.code) || there.grid != s.recorded.grid ||
        numbers.runs != before.runs)
        return nullptr;
    if (numbers.terms == before.terms && numbers.rows == before.rows && numbers.tables == before.tables &&
        numbers.initial_states == before.initial_states)
        return s.data;
    auto data = s.bound(numbers);
    if (!program::has_all_logarithms(s.code, *data)) return nullptr;
    return data;
}

}  // namespace tilewalk::plan
