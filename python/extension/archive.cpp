// SPDX-License-Identifier: Apache-2.0
#include "python/extension/archive.h"

#include <cstring>
#include <sstream>
#include <type_traits>
#include <vector>

#include "tilewalk/version.h"
#include "tilewalk/write.h"

namespace tilewalk::python {

namespace {

[[noreturn]] void refuse(const char* why) {
    throw error(error_kind::input, std::string("found pickled gains that can't be read: ") + why);
}

// `reader` and `writer` visit the same members in the same order: the order of members() below.
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
        // members() below takes a mutable reference, which only the reader writes to.
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
    void operator()(Number& x) { std::memcpy(&x, take_bytes(sizeof x), sizeof x); }
    void operator()(std::string& text) {
        const std::size_t size = count();
        text.assign(take_bytes(size), size);
    }
    template <class Item>
    void operator()(std::vector<Item>& items) {
        items.resize(count());  // count() fits the bytes left: an item takes at least one
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
        if (out > left_.size()) refuse("they are cut short");
        return out;
    }
    const char* take_bytes(std::size_t bytes) {
        if (bytes > left_.size()) refuse("they are cut short");
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
    auto& [key, amount, is] = x;
    each(way, key, amount, is);
}
void members(auto& way, scenario& x) {
    auto& [set, name, changes, days, first_day, last_day] = x;
    each(way, set, name, changes, days, first_day, last_day);
}
void members(auto& way, market_number& x) {
    auto& [key, value, unit] = x;
    each(way, key, value, unit);
}
void members(auto& way, failed_gain& x) {
    auto& [scenario, trade, message, kind] = x;
    each(way, scenario, trade, message, kind);
}
void members(auto& way, portfolio_gains& x) {
    auto& [portfolio, currency, is_converted, trades, base_value, gains, errors, failed, means_of_parts,
           parts] = x;
    each(way, portfolio, currency, is_converted, trades, base_value, gains, errors, failed, means_of_parts,
         parts);
}
void members(auto& way, tail_figure& x) {
    auto& [value, noise, sampling] = x;
    each(way, value, noise, sampling);
}
void members(auto& way, tail& x) {
    auto& [level, quantile, shortfall, at] = x;
    each(way, level, quantile, shortfall, at);
}
void members(auto& way, trade_in_tail& x) {
    auto& [trade, level, component_quantile, component_quantile_error, component_shortfall,
           component_shortfall_error, incremental_quantile, incremental_shortfall] = x;
    each(way, trade, level, component_quantile, component_quantile_error, component_shortfall,
         component_shortfall_error, incremental_quantile, incremental_shortfall);
}
void members(auto& way, portfolio_risk& x) {
    auto& [set, portfolio, currency, is_converted, scenarios, tails, shares, left_out] = x;
    each(way, set, portfolio, currency, is_converted, scenarios, tails, shares, left_out);
}
void members(auto& way, explained_gain& x) {
    auto& [scenario, portfolio, currency, gain, error, by_measure, left] = x;
    each(way, scenario, portfolio, currency, gain, error, by_measure, left);
}
void members(auto& way, input_file& x) {
    auto& [file, hash] = x;
    each(way, file, hash);
}

// All members but the base market's results, which are stored as their own text.
void members(auto& way, scenario_results& x) {
    auto& [scenarios, base, numbers, gains, errors, converted_gains, converted_errors, gain_parts,
           converted_gain_parts, part_paths, portfolios, failures, totals, risks, measures, explained, inputs,
           remarks] = x;
    static_cast<void>(base);
    each(way, gain_parts, converted_gain_parts, part_paths, scenarios, numbers, gains, errors,
         converted_gains, converted_errors, portfolios, failures, totals, risks, measures, explained, inputs,
         remarks);
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
    if (by != version()) refuse("another version of Tilewalk wrote them");
    in(base);
    scenario_results out;
    in(out);
    if (!in.is_at_end()) refuse("bytes follow after their end");
    out.base = read_results(base, "pickled gains");
    return out;
}

}  // namespace tilewalk::python
