// SPDX-License-Identifier: Apache-2.0
// Requests: all that results follow from, as a text whose digest tells one request from another.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/manifest.h"
#include "tilewalk/market.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::verbs {

// SHA-256 of the bytes of a file.
std::string hash_of(const std::filesystem::path& file);

// Files with the fingerprints of their bytes: those of the book and of its markets, and those that settings
// name.
std::vector<input_file> inputs_of(const book& trades, std::span<const market> in, const run_options& options);

// Figures that a request asks for beside the prices of its trades in its markets; null: none.
struct asked_beside_prices {
    const greek_options* greeks = nullptr;
    const scenario_list* scenarios = nullptr;
};

// SHA-256 of a request. Devices, threads and all else that no bit depends on are not in it.
std::string digest_of_request(const book& trades, std::span<const market> in,
                              const asked_beside_prices& asked, const run_options& options);

// The options of a run whose journal, if it has one, is open.
class with_journal {
  public:
    with_journal(const book& trades, std::span<const market> in, const asked_beside_prices& asked,
                 const run_options& options);
    const run_options& options() const { return options_; }
    // Writes what is not written yet, and tells what was there.
    void finish(run_manifest& told) const;

  private:
    run_options options_;
};

}  // namespace tilewalk::verbs
