// SPDX-License-Identifier: Apache-2.0
#include "products/language/payoff.h"

#include <optional>
#include <utility>

#include "products/language/argued_script.h"
#include "products/language/ranges.h"
#include "products/language/recording/block_recording.h"

namespace tilewalk::language {

using program::recorder;
using program::value;

double world::fx_today(const std::string& currency) const {
    throw error(error_kind::internal,
                "a world without a past is asked for today's exchange rate of '" + currency + "'");
}

bool world::has_random_rates(const std::string&) const {
    return false;
}
value world::discount_on_path(const std::string& currency, interval_end) {
    throw error(error_kind::internal,
                "a world without random rates is asked for a path's discount factor of '" + currency + "'");
}

struct payoff::state {
    argued_script script;
    recording::state_slots slots;
    bool declared = false;
    decider* by = nullptr;
    std::optional<ranges> known;  // made when the first block after as_of is recorded
    recording::checked_operations checked{};
};

payoff::payoff(std::shared_ptr<const product> of, arguments args, dates::date as_of,
               std::string trade_currency, std::optional<dates::date> since)
    : state_(
          new state{{std::move(of), std::move(args), as_of, since.value_or(as_of), std::move(trade_currency)},
                    {},
                    false,
                    nullptr,
                    {}}) {}

payoff::~payoff() = default;
payoff::payoff(payoff&&) noexcept = default;
payoff& payoff::operator=(payoff&&) noexcept = default;

const std::vector<block>& payoff::blocks() const {
    return state_->script.blocks();
}
bool payoff::has_rights() const {
    return state_->script.tree().has_rights;
}
void payoff::decide_by(decider* by) {
    state_->by = by;
}
std::uint32_t payoff::value_state() const {
    return state_->slots.value;
}
const std::vector<std::string>& payoff::assets() const {
    return state_->script.assets();
}
const std::vector<std::string>& payoff::currencies() const {
    return state_->script.currencies();
}

const std::vector<std::string>& payoff::rate_currencies() const {
    return state_->script.rate_currencies();
}

void payoff::tell_flaws_apart() {
    state_->checked.are_told_apart = true;
}
std::vector<std::string> payoff::checked() const {
    std::vector<std::string> out;
    for (const expression* e : state_->checked.operations) {
        const location where{state_->script.tree().file, e->where.line, e->where.column};
        out.push_back(to_string(where) + ": " + recording::told(*e));
    }
    return out;
}
std::vector<std::uint32_t> payoff::states_of_checked() const {
    return state_->checked.states;
}

void payoff::declare(recorder& into) {
    const syntax& tree = state_->script.tree();
    recording::state_slots& slots = state_->slots;
    const recording::frame first = recording::play_top(state_->script, slots, into);
    slots.value = into.state("value", 0.0);
    into.output(slots.value);
    slots.variables.assign(tree.variables.size(), {});
    for (std::size_t v = 0; v < tree.variables.size(); ++v) {
        const variable& of = tree.variables[v];
        if (!of.is_state) continue;
        for (std::size_t e = 0; e < first.variables[v].size(); ++e) {
            const std::string name = of.list ? of.name + "[" + std::to_string(e) + "]" : of.name;
            slots.variables[v].push_back(into.state(name, first.variables[v][e].constant()));
        }
    }
    if (tree.stops) slots.alive = into.state("alive", 1.0);
    state_->declared = true;
}

void payoff::record(std::size_t number, std::span<const occurrence> runs, world& market, recorder& into) {
    if (!state_->declared)
        throw error(error_kind::internal, "a block is recorded before its states are declared");
    if (runs.empty()) return;
    if (market.is_past()) {
        recording::record_block(state_->script, state_->slots, number, runs, market, into, state_->by,
                                nullptr, nullptr);
        return;
    }
    if (!state_->known) {
        std::vector<std::vector<double>> at_first;
        for (const std::vector<std::uint32_t>& elements : state_->slots.variables) {
            std::vector<double>& numbers = at_first.emplace_back();
            for (const std::uint32_t element : elements) numbers.push_back(into.initial(element));
        }
        state_->known.emplace(state_->script, market, at_first);
    }
    recording::record_block(state_->script, state_->slots, number, runs, market, into, state_->by,
                            &*state_->known, &state_->checked);
}

}  // namespace tilewalk::language
