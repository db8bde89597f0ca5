// SPDX-License-Identifier: Apache-2.0
// Requests: everything that results follow from, as a digest that identifies the request.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/inner_options.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/manifest.h"
#include "tilewalk/market.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::studies {

std::string hash_of(const std::filesystem::path& file);

// Returns the files of the book, of its markets and of its settings, with hashes of their contents.
std::vector<input_file> inputs_of(const book& trades, std::span<const market> in, const run_options& options);

// Figures asked for beside prices; null if not asked for.
struct asked_beside_prices {
    const greek_options* greeks = nullptr;
    const scenario_list* scenarios = nullptr;
};

// Leaves out devices, threads and all other settings that no result depends on.
std::string digest_of_request(const book& trades, std::span<const market> in,
                              const asked_beside_prices& asked, const run_options& options);

// The options of a run, with its journal open if it has one.
class with_journal {
  public:
    with_journal(const book& trades, std::span<const market> in, const asked_beside_prices& asked,
                 const inner_options& options);
    const inner_options& options() const { return options_; }
    // Flushes the journal, and tells in the manifest how many blocks were reused and which files are damaged.
    void finish(run_manifest& manifest) const;

  private:
    inner_options options_;
};

}  // namespace tilewalk::studies
