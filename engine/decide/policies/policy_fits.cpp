// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/policies/policy_fits.h"

#include <algorithm>

#include "engine/decide/exercise/swing.h"

namespace tilewalk::cuda {

using exercise::untrained;

policy_fits::policy_fits(const untrained& of) {
    std::vector<std::size_t> decisions;
    for (std::size_t k = 0; k < of.dates.size(); ++k)
        if (of.dates[k].decides()) decisions.push_back(k);
    // Adds a fit on the interval that begins at decision i - 1, or today if i is 0.
    const auto after = [&](std::size_t i) {
        const std::size_t first = i > 0 ? decisions[i - 1] + 1 : 0;
        const bool is_last = i == decisions.size();
        add_fit(of, first, is_last ? of.dates.size() : decisions[i],
                is_last ? of.by.last_root : of.dates[decisions[i]].found.root);
    };
    levels = static_cast<std::size_t>(of.by.uses) + 1;
    for (std::size_t i = 0; i <= decisions.size(); ++i) {
        const bool is_today = i == decisions.size();
        date& d = dates.emplace_back();
        d.first_fit = fits.size();
        if (!is_today) d.number = decisions[i];
        if (of.by.uses > 0) {
            const exercise::fitted_uses uses =
                is_today ? exercise::uses_of_today(of.by)
                         : exercise::uses_fitted(of.by, i + 1, decisions.size() - 1 - i);
            d.lowest = uses.lowest;
            d.fits = uses.last - uses.lowest + 1;
            d.forced_from = uses.forced_from;
        }
        for (std::size_t f = 0; f < d.fits; ++f) after(is_today ? 0 : i + 1);
        if (is_today || !of.dates[d.number].is_notice) continue;
        const std::size_t payment = *of.dates[d.number].other;
        add_fit(of, d.number + 1, payment, of.dates[d.number].found.root_until_paid);
        d.fits = 2;
    }
    for (std::size_t k = 0; k < dates.size(); ++k)
        for (std::size_t f = 0; f < dates[k].fits; ++f) fits[dates[k].first_fit + f].date = k;
}

void policy_fits::add_fit(const untrained& of, std::size_t first, std::size_t last, double root) {
    fit& f = fits.emplace_back();
    f.first_piece = pieces.size();
    f.pieces = last - first + 1;
    f.root = root;
    for (std::size_t k = first; k <= last; ++k)
        pieces.push_back(k == of.dates.size() ? of.end_row + 1 : of.dates[k].first_row + of.row_of_sums());
}

std::size_t policy_fits::most_of_a_date() const {
    return std::ranges::max(dates, {}, &date::fits).fits;
}

}  // namespace tilewalk::cuda
