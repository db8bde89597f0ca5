// SPDX-License-Identifier: Apache-2.0
// The settings of a run: the caller's over the book's over the defaults, in the form that its stages take.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/exercise/policy.h"
#include "engine/numerics/quasi/order.h"
#include "engine/reading/book_state.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/compile/tuned_choices.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "products/program/passes.h"
#include "tilewalk/accuracy.h"
#include "tilewalk/manifest.h"
#include "tilewalk/market.h"
#include "tilewalk/rows.h"
#include "tilewalk/run_options.h"

namespace tilewalk::decide {
class followed_run;
}  // namespace tilewalk::decide
namespace tilewalk {
struct decisions;
}  // namespace tilewalk

namespace tilewalk::verbs {

// How exact prices are to be; paths are added in rounds until they are.
struct wanted_accuracy {
    std::optional<accuracy> of_run{};  // none: only trades say
    double confidence = 0.95;
    std::optional<double> seconds{};  // after which no round begins
    std::uint64_t most_paths = 0;     // of a trade
    // The caller says paths or a time. A trade whose tolerance is out of reach then uses them up; else it
    // stops.
    bool is_limited = false;
};

// A part of a run whose policies are its own.
struct part_of_run {
    std::uint64_t seed = 0, paths = 0, training_paths = 0;
    exercise::fitting fits = exercise::fitting::less_martingale;
};

// A round of a run: so many paths, a doubling of the run's, of a seed.
struct walk_of_round {
    std::uint64_t paths = 0, seed = 0;
};

// Policies are found on so many paths at least, unless a setting says otherwise.
inline constexpr std::uint64_t least_training = 4096;

struct settled {
    run_settings said;  // by the caller or the book
    std::uint64_t paths, seed;
    int threads;
    std::string device, random;
    // Paths of a randomisation, in a run that may take our own points; else 0.
    std::uint64_t unit_paths = 0;
    std::optional<quasi::points> points{};  // of what no pilot decides about; none: independent numbers
    bool chooses_source = false, chooses_construction = false;  // for each trade by a pilot
    quasi::points asked_points{};                               // where the construction is not chosen
    bool chooses_controls = false;                              // for each trade by a pilot
    bool chooses_preintegration = false;                        // likewise
    bool chooses_importance = false;                            // likewise
    bool walks_pairs = false;                                   // of antithetic paths
    std::string replay;                                         // a file, or empty
    std::uint64_t training_paths;
    std::string policy;                                 // a file, or empty
    exercise::fitting fits = exercise::fitting::usual;  // of policies; others are found on the CPU alone
    bool nests_bounds;
    cuda::kernel_wish how, how_of_points;  // the latter of trades with points where the choice is open
    std::string correlation;
    std::uint64_t memory_bytes;
    bool demands_correlations = false;
    std::optional<wanted_accuracy> accuracy{};  // `paths` are then those of the first round
    // Decisions that hold in the place of pilots', and whether the paths of each trade do.
    std::shared_ptr<const decide::followed_run> followed{};
    bool takes_decided_paths = false;
    const decisions* decisions_to_follow() const;  // null: none

    // Whether one pilot finds the control of a trade and its points: the control that leaves least is not
    // always the one whose rest points suit. Paths that are shifted, or in pairs, need two.
    bool finds_points_with_controls() const {
        return chooses_controls && unit_paths > 0 && !chooses_importance && !walks_pairs;
    }
    // Paths of each pilot of a trade, which take a twentieth of a run together, or less.
    std::uint64_t paths_of_pilot() const;
};

// The source of shocks of trades with points or without.
const random::catalogue_entry& source_of(const settled& run, bool has_points);

// Says that the points which were decided on for a trade are left out, where the run takes none; else empty.
std::string remark_on_points_left_out(const settled& run, const std::string& trade);

// The fingerprint of the random numbers of its paths, for trades that take these points or none; `replay` is
// the hash of the file that it replays.
std::uint64_t fingerprint_of_paths(const settled& run, const std::optional<quasi::points>& points,
                                   std::string_view replay);

// For a run in these markets: where it would be rounded up, for points that nobody asked for, to more paths
// than their scenarios have, it takes none.
settled settle(const run_options& options, const run_settings& file, std::span<const market> in = {});
// The same for a book, whose trades may have tolerances of their own.
settled settle(const run_options& options, const books::book_state& of, std::span<const market> in);
settled part_of(settled run, const part_of_run& part);
settled round_of(settled run, const walk_of_round& round);

// A round, asked for as a run of its own.
struct round_of_study {
    book trades;
    run_options options;
};
round_of_study of_round(const book& trades, const run_options& options, const settled& run,
                        const walk_of_round& round);
// The decisions of these results, for a run that follows them. Decisions that the run follows come first, and
// policies are those that it names.
std::shared_ptr<const decide::followed_run> followed_after(const run_manifest& told,
                                                           const std::vector<price_row>& rows,
                                                           const settled& run);

// The instruction set of that name, or the best for "auto". Throws tilewalk::error (usage) for a name that
// this machine can't run.
const cpu::lane_operations& operations_named(const std::string& name);

// The way in which a GPU's kernel of this program is built, with the reason.
std::string kernel_text_of(const program::path_program& code, const cuda::kernel_wish& asked,
                           const cuda::device_properties& on, cuda::tuned_choices& choices);

// The file of shocks that the run is to walk, if it names one.
std::optional<arrays::shock_file> replayed_in(const settled& run);

}  // namespace tilewalk::verbs
