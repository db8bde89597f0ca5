// SPDX-License-Identifier: Apache-2.0
#include "python/extension/archive.h"

#include <cstring>
#include <sstream>
#include <type_traits>
#include <vector>

#include "tilewalk/version.h"

namespace tilewalk::python {

namespace {

[[noreturn]] void refuse(const char* why) {
    throw error(error_kind::input, std::string("not the state of gains: ") + why);
}

// Both ways go over the same members in the same order, which each type lists below.
class writer {
  public:
    template <class Number>
    requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
    void operator()(const Number& x) { out_.append(reinterpret_cast<const char*>(&x), sizeof x); }
    void operator()(const std::string& text) {
        (*this)(text.size());
        out_ += text;
    }
    template <class Item>
    void operator()(const std::vector<Item>& items) {
        (*this)(items.size());
        for (const Item& item : items) (*this)(item);
    }
    template <class Record>
    requires std::is_class_v<Record>
    void operator()(const Record& of) {
        // The lists below only look at what they are given when they write.
        members(*this, const_cast<Record&>(of));
    }
    std::string taken() { return std::move(out_); }

  private:
    std::string out_;
};

class reader {
  public:
    explicit reader(std::string_view of) : left_(of) {}

    template <class Number>
    requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
    void operator()(Number& x) { std::memcpy(&x, take(sizeof x), sizeof x); }
    void operator()(std::string& text) {
        const std::size_t size = count();
        text.assign(take(size), size);
    }
    template <class Item>
    void operator()(std::vector<Item>& items) {
        items.resize(count());  // each item takes a byte at least
        for (Item& item : items) (*this)(item);
    }
    template <class Record>
    requires std::is_class_v<Record>
    void operator()(Record& of) { members(*this, of); }
    bool is_at_end() const { return left_.empty(); }

  private:
    std::size_t count() {
        std::size_t out = 0;
        (*this)(out);
        if (out > left_.size()) refuse("it is cut short");
        return out;
    }
    const char* take(std::size_t bytes) {
        if (bytes > left_.size()) refuse("it is cut short");
        const char* at = left_.data();
        left_.remove_prefix(bytes);
        return at;
    }
    std::string_view left_;
};

template <class Way, class... Member>
void each(Way& way, Member&... of) {
    (way(of), ...);
}

void members(auto& way, market_change& x) {
    each(way, x.key, x.amount, x.is);
}
void members(auto& way, scenario& x) {
    each(way, x.set, x.name, x.changes, x.days, x.first_day, x.last_day);
}
void members(auto& way, market_number& x) {
    each(way, x.key, x.value, x.unit);
}
void members(auto& way, failed_gain& x) {
    each(way, x.scenario, x.trade, x.message, x.kind);
}
void members(auto& way, portfolio_gains& x) {
    each(way, x.portfolio, x.currency, x.is_converted, x.trades, x.base_value, x.gains, x.errors, x.failed,
         x.means_of_parts, x.parts);
}
void members(auto& way, tail_figure& x) {
    each(way, x.value, x.noise, x.sampling);
}
void members(auto& way, tail& x) {
    each(way, x.level, x.quantile, x.shortfall, x.at);
}
void members(auto& way, trade_in_tail& x) {
    each(way, x.trade, x.level, x.component_quantile, x.component_quantile_error, x.component_shortfall,
         x.component_shortfall_error, x.incremental_quantile, x.incremental_shortfall);
}
void members(auto& way, portfolio_risk& x) {
    each(way, x.set, x.portfolio, x.currency, x.is_converted, x.scenarios, x.tails, x.shares, x.left_out);
}
void members(auto& way, explained_gain& x) {
    each(way, x.scenario, x.portfolio, x.currency, x.gain, x.error, x.by_measure, x.left);
}
void members(auto& way, input_file& x) {
    each(way, x.file, x.hash);
}

// All but the base market's results, which have a text of their own.
void members(auto& way, scenario_results& x) {
    each(way, x.scenarios, x.numbers, x.gains, x.errors, x.converted_gains, x.converted_errors, x.portfolios,
         x.failures, x.totals, x.risks, x.measures, x.explained, x.inputs, x.remarks);
}

}  // namespace

std::string archived(const scenario_results& of) {
    std::ostringstream base;
    text_form form;
    form.parts = true;
    if (of.base.greeks.empty()) {
        write(base, of.base, output_format::json, form);
    } else {
        write_greeks(base, of.base, output_format::json, form);
    }
    writer out;
    out(std::string(version()));
    out(std::move(base).str());
    out(of);
    return out.taken();
}

scenario_results from_archive(std::string_view bytes) {
    reader in(bytes);
    std::string by, base;
    in(by);
    if (by != version()) refuse("it is of another version of Tilewalk");
    in(base);
    scenario_results out;
    in(out);
    if (!in.is_at_end()) refuse("it has more than that");
    out.base = read_results(base, "pickled gains");
    return out;
}

}  // namespace tilewalk::python
