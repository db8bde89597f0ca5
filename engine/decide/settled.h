// SPDX-License-Identifier: Apache-2.0
// The settings of a run, in the form that its stages take: the caller's over the book's over the defaults.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/exercise/policy.h"
#include "engine/decide/inner_options.h"
#include "engine/numerics/quasi/order.h"
#include "engine/reading/book_state.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/compile/tuned_choices.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "products/program/passes.h"
#include "tilewalk/manifest.h"
#include "tilewalk/market.h"
#include "tilewalk/options.h"
#include "tilewalk/rows.h"
#include "tilewalk/run_settings.h"

namespace tilewalk::decide {
class followed_run;
}  // namespace tilewalk::decide
namespace tilewalk {
struct decisions;
}  // namespace tilewalk

namespace tilewalk::studies {

struct wanted_accuracy {
    std::optional<accuracy> of_run{};  // empty if only trades state tolerances
    double confidence = 0.95;
    std::optional<double> seconds{};  // no round begins after so many
    std::uint64_t most_paths = 0;     // for each trade
    // True if paths or a time are stated. A tolerance that can't be reached then uses them up.
    bool is_limited = false;
};

struct part_of_run {
    std::uint64_t seed = 0, paths = 0, training_paths = 0;
    exercise::fitting fits = exercise::fitting::less_martingale;
};

// A further round of a run to a tolerance; each round doubles the paths.
struct walk_of_round {
    std::uint64_t paths = 0, seed = 0;
};

// Fewest training paths of a policy, unless a setting asks for fewer.
inline constexpr std::uint64_t least_training = 4096;

struct settled {
    run_settings said;
    std::uint64_t paths, seed;
    int threads;
    std::string device, random;
    // Paths of one randomisation; 0 if no trade may take quasi-random points.
    std::uint64_t unit_paths = 0;
    std::optional<quasi::points> points{};  // of all trades if no pilot chooses; empty: independent numbers
    bool chooses_source = false, chooses_construction = false;  // by a pilot for each trade
    quasi::points asked_points{};                               // construction of points unless chosen
    bool chooses_controls = false;                              // by a pilot for each trade
    bool chooses_preintegration = false;                        // by a pilot for each trade
    bool chooses_importance = false;                            // by a pilot for each trade
    bool walks_pairs = false;
    std::string replay;  // file of shocks to replay; empty: draw them
    std::uint64_t training_paths;
    std::string policy;                                 // file of policies; may be empty
    exercise::fitting fits = exercise::fitting::usual;  // of policies; other than usual only on the CPU
    bool nests_bounds;
    cuda::kernel_wish how, how_of_points;  // kernels; how_of_points: of trades that take points
    std::string correlation;
    std::uint64_t memory_bytes;
    bool demands_correlations = false;
    std::optional<wanted_accuracy> accuracy{};  // if set, `paths` are those of the first round
    // Decisions that replace the pilots', and whether each trade's number of paths is decided there, too.
    std::shared_ptr<const decide::followed_run> followed{};
    bool takes_decided_paths = false;
    const decisions* decisions_to_follow() const;  // null if there are none

    // True if one pilot finds control and points, since points may not suit what the best control leaves.
    bool finds_points_with_controls() const {
        return chooses_controls && unit_paths > 0 && !chooses_importance && !walks_pairs;
    }
    // Returns the paths of each pilot of a trade. All its pilots together take at most a twentieth of a run.
    std::uint64_t paths_of_pilot() const;
};

const random::catalogue_entry& source_of(const settled& run, bool has_points);

// Returns a remark that the trade's decided points are not taken, since the run takes no points; else empty.
std::string remark_on_points_left_out(const settled& run, const std::string& trade);

// Returns the fingerprint of a trade's random numbers; `replay` is the hash of the file of shocks.
std::uint64_t fingerprint_of_paths(const settled& run, const std::optional<quasi::points>& points,
                                   std::string_view replay);

// Settles the settings of a run in the markets `in`. If scenarios have too few paths to round up to whole
// randomisations, the run takes no points unless a setting asks for them.
settled settle(const inner_options& options, const run_settings& file, std::span<const market> in = {});
// Settles the settings of a book's run. Its trades may state tolerances.
settled settle(const inner_options& options, const books::book_state& of, std::span<const market> in);
settled part_of(settled run, const part_of_run& part);
settled round_of(settled run, const walk_of_round& round);

struct round_of_study {
    book trades;
    inner_options options;
};
round_of_study of_round(const book& trades, const inner_options& options, const settled& run,
                        const walk_of_round& round);
// Returns decisions for a later run: those that `run` follows, else its results', with its policy file.
std::shared_ptr<const decide::followed_run> followed_after(const run_manifest& manifest,
                                                           const std::vector<price_row>& rows,
                                                           const settled& run);

// Returns an instruction set's operations; for "auto", those of this machine's best. Throws tilewalk::error
// (usage) if the machine can't run the set.
const cpu::lane_operations& operations_named(const std::string& name);

// Returns a text that says how a GPU's kernel of this program is built, and why.
std::string kernel_text_of(const program::path_program& code, const cuda::kernel_wish& asked,
                           const cuda::device_properties& on, cuda::tuned_choices& choices);

std::optional<arrays::shock_file> replayed_in(const settled& run);

}  // namespace tilewalk::studies
