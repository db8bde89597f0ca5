// SPDX-License-Identifier: Apache-2.0
// Results of a run in Python: the rows, and their columns once requested.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "python/extension/tables.h"
#include "tilewalk/columns.h"
#include "tilewalk/results.h"
#include "tilewalk/write.h"

namespace tilewalk::python {

class held_results {
  public:
    explicit held_results(results of) : of_(std::make_shared<const results>(std::move(of))) {}

    const results& get() const { return *of_; }
    std::shared_ptr<const table> rows() const;
    std::shared_ptr<const table> greeks() const;

  private:
    std::shared_ptr<const results> of_;
    // Guards rows_ and greeks_, made on first use. A thread that holds the lock never waits for the GIL.
    mutable std::mutex lock_;
    mutable std::shared_ptr<const table> rows_, greeks_;
};

std::shared_ptr<const table> table_of(const column_table& from);
std::shared_ptr<const table> table_of_rows(const results& of);
std::shared_ptr<const table> table_of_greeks(const results& of);
std::shared_ptr<const table> table_of_greek_totals(const results& of);
std::shared_ptr<const table> table_of_totals(const results& of);
std::shared_ptr<const table> table_of_numbers(const std::vector<market_number>& numbers);

nb::any object_of(results of);

output_format format_of(const std::string& word);

}  // namespace tilewalk::python
