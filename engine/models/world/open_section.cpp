// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/open_section.h"

namespace tilewalk::models {

using language::occurrence;
using program::value;

std::vector<double> open_section::numbers(std::size_t runs,
                                          const std::function<double(std::size_t)>& of) const {
    std::vector<double> out;
    out.reserve(runs);
    for (std::size_t run = 0; run < runs; ++run) {
        if (run % program::recorder::most_between_polls == 0) into_->poll();
        out.push_back(of(run));
    }
    return out;
}

value open_section::made(std::string_view name, std::size_t number, std::size_t runs,
                         const std::function<double(std::size_t)>& of) const {
    return into_->row(program::row_names::numbered(name, number), numbers(runs, of));
}

value open_section::row(std::string_view name, std::size_t number,
                        const std::function<double(const occurrence&)>& of) const {
    return made(name, number, runs_.size(), [&](std::size_t run) { return of(runs_[run]); });
}

value open_section::row_until(std::string_view name, std::size_t number, std::span<const double> years,
                              const std::function<double(const occurrence&, double)>& of) const {
    const auto of_run = [&](std::size_t run) { return of(runs_[run], years[run]); };
    if (!ahead_) return made(name, number, runs_.size(), of_run);
    return into_->row(program::row_names::numbered("decided by " + std::string(name), number),
                      ahead_->used(numbers(runs_.size(), of_run)));
}

value open_section::row_between(std::string_view name, std::size_t number,
                                const std::function<double(double, double)>& of) const {
    if (!is_step_) {
        return made(name, number, runs_.size(),
                    [&](std::size_t run) { return of(runs_[run].start_years, runs_[run].years); });
    }
    return made(name, number, grid_.size() - 1,
                [&](std::size_t step) { return of(grid_[step], grid_[step + 1]); });
}

}  // namespace tilewalk::models
