// SPDX-License-Identifier: Apache-2.0
// The settings of a run (the caller's over the book's over the defaults), in the form that its stages take.
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

namespace tilewalk::verbs {

struct wanted_accuracy {
    std::optional<accuracy> of_run{};  // empty: only trades state a tolerance
    double confidence = 0.95;
    std::optional<double> seconds{};  // no round begins later
    std::uint64_t most_paths = 0;     // of a trade
    // True if paths or a time are stated: a tolerance out of reach then uses them up.
    bool is_limited = false;
};

struct part_of_run {
    std::uint64_t seed = 0, paths = 0, training_paths = 0;
    exercise::fitting fits = exercise::fitting::less_martingale;
};

// A round doubles the paths of a run.
struct walk_of_round {
    std::uint64_t paths = 0, seed = 0;
};

// Fewest training paths, unless a setting says otherwise.
inline constexpr std::uint64_t least_training = 4096;

struct settled {
    run_settings said;
    std::uint64_t paths, seed;
    int threads;
    std::string device, random;
    // Paths of a randomisation, if the run may take our own points; else 0.
    std::uint64_t unit_paths = 0;
    std::optional<quasi::points> points{};  // where no pilot decides; empty: independent numbers
    bool chooses_source = false, chooses_construction = false;  // for each trade by a pilot
    quasi::points asked_points{};                               // if the construction is not chosen
    bool chooses_controls = false;                              // for each trade by a pilot
    bool chooses_preintegration = false;                        // likewise
    bool chooses_importance = false;                            // likewise
    bool walks_pairs = false;
    std::string replay;  // a file, or empty
    std::uint64_t training_paths;
    std::string policy;                                 // a file, or empty
    exercise::fitting fits = exercise::fitting::usual;  // of policies; other than usual: on the CPU alone
    bool nests_bounds;
    cuda::kernel_wish how, how_of_points;  // the latter for points, if the source is open
    std::string correlation;
    std::uint64_t memory_bytes;
    bool demands_correlations = false;
    std::optional<wanted_accuracy> accuracy{};  // if set, `paths` are those of the first round
    // Decisions that replace pilots', and whether they state the paths of each trade.
    std::shared_ptr<const decide::followed_run> followed{};
    bool takes_decided_paths = false;
    const decisions* decisions_to_follow() const;  // null: none

    // The pilot finds control and points together: points may not suit what the best control leaves.
    bool finds_points_with_controls() const {
        return chooses_controls && unit_paths > 0 && !chooses_importance && !walks_pairs;
    }
    // Returns the paths of each pilot. All pilots of a trade take a twentieth of a run at most.
    std::uint64_t paths_of_pilot() const;
};

const random::catalogue_entry& source_of(const settled& run, bool has_points);

// Returns a remark that a trade's decided points are left out, if the run takes none; else empty.
std::string remark_on_points_left_out(const settled& run, const std::string& trade);

// Returns the fingerprint of a trade's random numbers; `replay` is the hash of the file of shocks.
std::uint64_t fingerprint_of_paths(const settled& run, const std::optional<quasi::points>& points,
                                   std::string_view replay);

// Drops points that nobody asked for if rounding up for them exceeds the scenarios' paths.
settled settle(const inner_options& options, const run_settings& file, std::span<const market> in = {});
// The same for a book, whose trades may have tolerances.
settled settle(const inner_options& options, const books::book_state& of, std::span<const market> in);
settled part_of(settled run, const part_of_run& part);
settled round_of(settled run, const walk_of_round& round);

struct round_of_study {
    book trades;
    inner_options options;
};
round_of_study of_round(const book& trades, const inner_options& options, const settled& run,
                        const walk_of_round& round);
// Returns decisions to follow: those that `run` follows, else these results' with its policy file.
std::shared_ptr<const decide::followed_run> followed_after(const run_manifest& told,
                                                           const std::vector<price_row>& rows,
                                                           const settled& run);

// Takes the best for "auto". Throws tilewalk::error (usage) if this machine can't run the set.
const cpu::lane_operations& operations_named(const std::string& name);

// Says how a GPU's kernel of this program is built, and why.
std::string kernel_text_of(const program::path_program& code, const cuda::kernel_wish& asked,
                           const cuda::device_properties& on, cuda::tuned_choices& choices);

std::optional<arrays::shock_file> replayed_in(const settled& run);

}  // namespace tilewalk::verbs
