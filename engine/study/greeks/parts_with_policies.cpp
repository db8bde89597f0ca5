// SPDX-License-Identifier: Apache-2.0
#include "engine/study/greeks/greek_stages.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/decide/seeds.h"
#include "engine/decide/sources.h"
#include "engine/study/asked.h"
#include "engine/study/manifest.h"

namespace tilewalk::studies {

namespace {

// Cuts a run into 16 to 31 parts, each made of equally many parts of its tallies.
struct cut_by_policies {
    static constexpr std::size_t wanted = 16;
    std::size_t each, parts;

    explicit cut_by_policies(std::size_t parts_of_run)
        : each(std::max<std::size_t>(parts_of_run / wanted, 1)), parts(parts_of_run / each) {}
    // True for parts walked again by a policy of fewer functions, trained on fewer paths.
    static bool is_also_coarse(std::size_t part) { return part % 4 == 0; }
};

struct mean_and_error {
    double mean = 0, error = 0;
};
mean_and_error mean_of(std::span<const double> all) {
    const auto count = static_cast<double>(all.size());
    mean_and_error out;
    double squares = 0;
    for (const double one : all) out.mean += one / count;
    for (const double one : all) squares += (one - out.mean) * (one - out.mean);
    out.error = std::sqrt(squares / (count * (count - 1)));
    return out;
}

class found_by_parts {
  public:
    explicit found_by_parts(const cut_by_policies& cut) : cut_(cut) {}

    void add(const results& found, std::size_t part, exercise::fitting by) {
        for (const greek_row& g : found.greeks) {
            values& to = by_row_.try_emplace({g.trade, g.measure, g.key}, cut_.parts).first->second;
            to.any_failed = to.any_failed || g.has_failed();
            (by == exercise::fitting::by_half_the_degree ? to.coarse : to.fine)[part] = g.value;
        }
    }

    // Gives the row the mean and the spread of the parts. Adds to its bias the change, on the same paths, by
    // policies of half the degree and half the training paths, and the error of that change. `own_error` is
    // the error that the parts share, 0 if each has paths of its own.
    void fill(greek_row& row, const run_manifest& manifest, double own_error) const {
        const auto found = by_row_.find({row.trade, row.measure, row.key});
        if (found == by_row_.end() || found->second.any_failed) {
            row.standard_error = no_figure;
            row.part_means.clear();
            return;
        }
        const auto& [fine, coarse, any_failed] = found->second;
        row.walk = 0;
        std::vector<double> coarser;
        for (std::size_t p = 0; p < cut_.parts; ++p)
            if (cut_by_policies::is_also_coarse(p)) coarser.push_back(coarse[p] - fine[p]);
        const mean_and_error mean = mean_of(fine), change = mean_of(coarser);
        row.value = mean.mean;
        row.standard_error = std::hypot(mean.error, own_error);
        // In the difference of two days, a policy's error is of the second order.
        if (row.measure != "theta") row.bias += std::abs(change.mean) + change.error;
        // Rescales the part means to this value and error.
        for (std::size_t p = 0; p < row.part_means.size(); ++p)
            row.part_means[p] = fine[std::min(p / cut_.each, cut_.parts - 1)];
        const studies::estimate of_parts(row.part_means, studies::run_parts(manifest));
        const double middle = of_parts.value, shown = of_parts.error();
        for (double& m : row.part_means)
            m = row.value + (shown > 0 ? row.standard_error / shown : 0) * (m - middle);
    }

  private:
    // By part; 0 where the part has no row, as the number does not move the trade.
    struct values {
        std::vector<double> fine, coarse;
        bool any_failed = false;

        explicit values(std::size_t parts) : fine(parts), coarse(parts) {}
    };

    cut_by_policies cut_;
    std::map<std::tuple<std::string, std::string, std::string>, values> by_row_;
};

// True if paths come from files: they can't be drawn anew, so each part walks them all.
bool walks_all(const greek_run& run) {
    return !run.run.replay.empty() || !state_of(run.in).scenarios.empty();
}

part_of_run part_with_policy(const greek_run& run, std::size_t number, exercise::fitting fits,
                             std::uint64_t paths) {
    // Policies fitted less a martingale err so little that a quarter of the training paths is enough. With an
    // eighth, the rho of a put on two assets was 0.3 % off, twice the stated bias.
    constexpr std::uint64_t least = 4096, share = 4;
    std::uint64_t training =
        std::min(run.run.training_paths, std::max(run.run.training_paths / share, least));
    if (fits == exercise::fitting::by_half_the_degree) training /= 2;
    return {decide::seed_of_part(run.run.seed, number), walks_all(run) ? run.run.paths : paths, training,
            fits};
}

}  // namespace

void take_from_parts(greek_run& run, const walk_of_part& walk, results& to, rows_by_trade& rows) {
    // This process may walk a share of the paths, all of which pay nothing: a zero error proves nothing then.
    const auto& work = run.options.work;
    const bool has_all = !work || work->has_all() || !work->may_walk();
    const auto is_of_paths = [&](const greek_row& g) {
        return !g.has_failed() && (g.standard_error != 0 || !has_all) && g.part_means.size() >= least_parts;
    };
    // Rows of a policy from a file stay, as its own sensitivities are asked for.
    const sources named(run.run);
    std::vector<std::size_t> places;
    std::size_t parts_of_run = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        // No policy decides about a right that is used today.
        const auto& early = to.rows[i].early;
        if (!early || (early->policy_error == 0 && (has_all || early->policy_value != 0))) continue;
        if (named.known(to.rows[i].trade).policy) continue;
        for (const greek_row& g : rows[i])
            if (is_of_paths(g)) parts_of_run = g.part_means.size();
        if (std::ranges::any_of(rows[i], is_of_paths)) places.push_back(i);
    }
    if (places.empty()) return;
    const cut_by_policies cut(parts_of_run);
    const book some = some_of(run.trades, places);
    found_by_parts found(cut);
    const auto walk_part = [&](std::size_t number, exercise::fitting fits) {
        const part_of_run part = part_with_policy(run, number, fits, cut.each * to.manifest.part_paths);
        inner_options how = run.progress.options_of_walk();
        if (how.work) {
            how.work = std::make_shared<kept::work>(how.work->of_part(number, cut.parts));
            if (!how.work->walks_any_of(kernels::tiles_of(part.paths))) return;
        }
        run.progress.begin(static_cast<double>(some.size()) * static_cast<double>(part.paths) /
                           static_cast<double>(run.run.paths));
        const results told = walk(some, part, how);
        add_steps(to.manifest, told.manifest);
        found.add(told, number, fits);
    };
    for (std::size_t p = 0; p < cut.parts; ++p) {
        walk_part(p, exercise::fitting::less_martingale);
        if (cut_by_policies::is_also_coarse(p)) walk_part(p, exercise::fitting::by_half_the_degree);
    }
    for (const std::size_t i : places)
        for (greek_row& g : rows[i])
            if (is_of_paths(g)) found.fill(g, to.manifest, walks_all(run) ? g.standard_error : 0);
}

}  // namespace tilewalk::studies
