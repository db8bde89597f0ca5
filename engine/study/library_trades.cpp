// SPDX-License-Identifier: Apache-2.0
#include "engine/study/library_trades.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "engine/base/crew.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "engine/decide/planned.h"
#include "engine/market/market_state.h"
#include "engine/reading/library.h"
#include "tilewalk/book.h"

namespace tilewalk::studies {

namespace {

using language::parameter;
using language::parameter_type;
using names = std::vector<std::string>;

// Products whose programs tell apart how assets move, on dates and between them, and how rates do.
constexpr std::array probes_of_assets{"asian", "barrier"};
constexpr std::array probes_of_currencies{"cap_floor"};

books::trade example_of(const std::string& product) {
    const std::shared_ptr<const language::product> known = books::library().find(product);
    const book one = book::parse("trades:\n  - " + known->example + '\n', "the example of " + product);
    books::trade t = state_of(one).trades.at(0);
    if (t.failure) throw error(error_kind::internal, t.failure->message(), t.failure->where());
    return t;
}

// The assets that a trade names, without duplicates, in the order of the product's parameters.
names assets_of(const books::trade& t) {
    names out;
    const auto add = [&](const std::string& name) {
        if (std::ranges::find(out, name) == out.end()) out.push_back(name);
    };
    for (const parameter& p : t.product->parameters) {
        const auto at = t.args.find(p.name);
        if (at == t.args.end()) continue;
        if (p.type == parameter_type::asset) add(std::get<std::string>(at->second));
        if (p.type == parameter_type::asset_list)
            for (const std::string& name : std::get<names>(at->second)) add(name);
    }
    return out;
}

const parameter& parameter_named(const language::product& in, const std::string& name) {
    return *std::ranges::find(in.parameters, name, &parameter::name);
}

// Puts an example on other assets, the first of `onto` in place of the example's first. Money counts in units
// of the first asset's spot, so that a strike at the spot stays there.
void put_on(books::trade& t, const names& onto, const markets::market_state& examples,
            const markets::market_state& in) {
    const names from = assets_of(t);
    const auto place = [&](const std::string& name) {
        return static_cast<std::size_t>(std::ranges::find(from, name) - from.begin());
    };
    const auto ratio = [&](const std::string& name) {
        return in.find_asset(onto[place(name)]).spot / examples.find_asset(name).spot;
    };
    const double of_first = ratio(from.front());
    const language::arguments as_read = t.args;
    for (const parameter& p : t.product->parameters) {
        const auto at = t.args.find(p.name);
        if (at == t.args.end()) continue;
        language::argument& value = at->second;
        if (p.type == parameter_type::asset) value = onto[place(std::get<std::string>(value))];
        if (p.type == parameter_type::asset_list)
            for (std::string& name : std::get<names>(value)) name = onto[place(name)];
        const bool is_amount = p.type == parameter_type::amount;
        if (auto* const one = std::get_if<double>(&value); one != nullptr && is_amount) *one *= of_first;
        auto* const list = std::get_if<std::vector<double>>(&value);
        if (list == nullptr) continue;
        const bool is_by_asset =
            !p.per.empty() && parameter_named(*t.product, p.per).type == parameter_type::asset_list;
        for (std::size_t i = 0; i < list->size(); ++i) {
            const double own = is_by_asset ? ratio(std::get<names>(as_read.at(p.per)).at(i)) : of_first;
            if (is_amount) (*list)[i] *= own;
            // The weight of a basket: so many units of the asset.
            if (is_by_asset && p.type == parameter_type::number) (*list)[i] *= of_first / own;
        }
    }
}

void put_in(books::trade& t, const std::string& currency) {
    t.currency = currency;
    for (const parameter& p : t.product->parameters) {
        const auto at = t.args.find(p.name);
        if (at != t.args.end() && p.type == parameter_type::currency) at->second = currency;
    }
}

// Assets or currencies of a market by the form in which they move.
struct forms {
    using programs = std::vector<std::shared_ptr<const program::path_program>>;  // null if nothing is random
    struct member {
        std::string name;
        programs form;
        std::string why;  // why the probes can't be priced; empty if they can
    };
    std::vector<member> all;

    const member& named(const std::string& name) const {
        return *std::ranges::find(all, name, &member::name);
    }
    // The first of each form. Forms in which nothing is random come only if there is no other.
    names firsts() const {
        names out, certain;
        std::vector<programs> seen;
        for (const member& m : all) {
            if (!m.why.empty() || std::ranges::find(seen, m.form) != seen.end()) continue;
            seen.push_back(m.form);
            const bool is_certain = std::ranges::count(m.form, nullptr) == std::ssize(m.form);
            (is_certain ? certain : out).push_back(m.name);
        }
        return out.empty() ? certain : out;
    }
};

class library_in {
  public:
    library_in(const market& in, const settled& run, const std::atomic<bool>* cancel)
        : in_(state_of(in)), run_(run), cancel_(cancel) {}

    library_trades made(std::span<const std::string> products) {
        names of_assets, of_currencies;
        for (const auto& [name, a] : in_.assets) of_assets.push_back(name);
        for (const auto& [name, curve] : in_.currencies) of_currencies.push_back(name);
        assets_ = found(of_assets, probes_of_assets, [&](books::trade& t, const std::string& name) {
            put_on(t, {name}, state_of(examples_), in_);
        });
        currencies_ = found(of_currencies, probes_of_currencies,
                            [](books::trade& t, const std::string& name) { put_in(t, name); });
        for (const forms::member& m : assets_.all)
            if (!m.why.empty()) out_.left_out.push_back({"asset " + m.name, m.why});
        for (const forms::member& m : currencies_.all)
            if (!m.why.empty()) out_.left_out.push_back({"currency " + m.name, m.why});
        for (const std::string& product : products) add(example_of(product));
        return std::move(out_);
    }

  private:
    forms found(const names& of, std::span<const char* const> probes,
                const std::function<void(books::trade&, const std::string&)>& put) {
        std::vector<books::trade> examples;
        for (const char* const probe : probes) examples.push_back(example_of(probe));
        forms out;
        out.all.resize(of.size());
        missing_pairs missing;
        const planner as_usual = usual_planner();
        threads::for_each(
            of.size(), run_.threads, cancel_,
            [&](int, std::uint64_t i) {
                forms::member& m = out.all[i];
                m.name = of[i];
                for (books::trade t : examples) {
                    put(t, m.name);
                    const planned p = plan_one(t, in_, run_, shapes_, missing, cancel_, as_usual);
                    if (p.failure && m.why.empty()) m.why = p.failure->message();
                    m.form.push_back(p.needs_paths() ? p.ready->code : nullptr);
                }
            },
            [] {});
        return out;
    }

    void add(const books::trade& example) {
        const names of_example = assets_of(example);
        const bool is_on_assets = !of_example.empty();
        const std::string& product = example.product_name;
        const names firsts = (is_on_assets ? assets_ : currencies_).firsts();
        if (firsts.empty()) {
            out_.left_out.push_back({product, std::string("the market has no ") +
                                                  (is_on_assets ? "asset" : "currency") +
                                                  " that its example can be priced on"});
            return;
        }
        for (const std::string& first : firsts) {
            books::trade t = example;
            t.id = firsts.size() == 1 ? product : product + '/' + first;
            if (is_on_assets) {
                const names onto = beside(first, of_example.size());
                if (onto.size() < of_example.size()) {
                    out_.left_out.push_back(
                        {product, "it takes " + report::counted(of_example.size(), "asset") +
                                      ", and the market has " + std::to_string(onto.size())});
                    return;
                }
                put_on(t, onto, state_of(examples_), in_);
            } else if (!t.currency.empty()) {
                put_in(t, first);
            }
            out_.trades.push_back(std::move(t));
        }
    }

    // Returns the asset and others, at most `count`.
    names beside(const std::string& first, std::size_t count) const {
        names others;
        for (const forms::member& m : assets_.all)
            if (m.why.empty() && m.name != first) others.push_back(m.name);
        std::ranges::stable_sort(others, {}, [&](const std::string& name) {
            return std::tuple(in_.find_asset(name).currency != in_.find_asset(first).currency,
                              assets_.named(name).form != assets_.named(first).form);
        });
        others.insert(others.begin(), first);
        others.resize(std::min(others.size(), count));
        return others;
    }

    const market examples_ = market::parse(books::example_markets().front().text, "market of the examples");
    const markets::market_state& in_;
    const settled& run_;
    const std::atomic<bool>* const cancel_;
    shape_store shapes_;
    forms assets_, currencies_;
    library_trades out_;
};

}  // namespace

library_trades library_trades_in(const market& in, const settled& run, std::span<const std::string> products,
                                 const std::atomic<bool>* cancel) {
    const names known = books::library().names();
    for (const std::string& name : products) {
        if (std::ranges::find(known, name) != known.end()) continue;
        throw error(error_kind::usage, "unknown product " + config::shown(name) +
                                           config::alternatives(name, "known products:", known));
    }
    names wanted(products.begin(), products.end());
    if (wanted.empty()) wanted = known;
    std::ranges::sort(wanted);
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    return library_in(in, run, cancel).made(wanted);
}

}  // namespace tilewalk::studies
