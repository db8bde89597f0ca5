// SPDX-License-Identifier: Apache-2.0
// A script together with the arguments of one trade, which give its parameters values and its blocks dates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "products/language/payoff.h"
#include "products/language/syntax.h"

namespace tilewalk::language {

// The source text of a date expression, such as `maturity`: the same in every trade of the product.
std::string written(const expression& e);

class argued_script {
  public:
    // `start` is the script's word `start`, from which `time` counts. Throws tilewalk::error (input) if an
    // argument is missing or the dates of a block make no sense.
    argued_script(std::shared_ptr<const product> of, arguments args, dates::date as_of, dates::date start,
                  std::string trade_currency);

    const syntax& tree() const { return of_->payoff.tree(); }
    dates::date as_of() const { return as_of_; }
    double years_since_start() const { return dates::time_point{as_of_}.years(start_); }
    const std::string& trade_currency() const { return trade_currency_; }

    const std::vector<block>& blocks() const { return blocks_; }
    // The index of a block's first date in its schedule, from 0.
    int offset_of(std::size_t block) const { return offsets_[block]; }
    const std::vector<std::string>& assets() const { return assets_; }
    const std::vector<std::string>& currencies() const { return currencies_; }
    const std::vector<std::string>& rate_currencies() const { return rate_currencies_; }

    const parameter& parameter_of(std::size_t number) const { return tree().parameters[number]; }
    // True if the trade gives a value or there is a default.
    bool is_given(std::size_t number) const { return args_.contains(parameter_of(number).name); }
    const argument& argument_of(std::size_t number) const {
        const auto found = args_.find(parameter_of(number).name);
        if (found == args_.end()) fail_missing(number);
        return found->second;
    }
    template <class T>
    const T& get(std::size_t number) const {
        if (const T* found = std::get_if<T>(&argument_of(number))) return *found;
        fail_type(number);
    }
    const dates::schedule& schedule_of(std::size_t number) const { return get<dates::schedule>(number); }
    const std::vector<std::string>& list_of(std::size_t number) const {
        return get<std::vector<std::string>>(number);
    }
    const std::string& currency_of(const expression& e) const {
        return e.means == meaning::currency ? trade_currency_ : get<std::string>(e.slot);
    }
    // The number of values of a variable: one, or one for each asset of its list.
    std::size_t elements(const variable& v) const { return v.list ? list_of(*v.list).size() : 1; }
    dates::time_point date_of(const expression& e) const;

    [[noreturn]] void fail(place where, const std::string& message) const;

  private:
    [[noreturn]] void fail_type(std::size_t number) const;
    [[noreturn]] void fail_missing(std::size_t number) const;
    void check_arguments() const;
    double longest_step_of(const expression& e) const;
    [[noreturn]] void fail_term(const expression& number, const std::string& message) const;
    int times_of(const expression& e, int least) const;
    void take_terms(const block_syntax& b, block& to) const;
    void find_blocks();
    void find_notices();
    void stop_every_step(block& b) const;
    void find_assets();

    std::shared_ptr<const product> of_;
    arguments args_;
    dates::date as_of_, start_;
    std::string trade_currency_;
    std::vector<block> blocks_;
    std::vector<int> offsets_;
    std::vector<std::string> assets_, currencies_, rate_currencies_;
};

}  // namespace tilewalk::language
