// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/row_layout.h"

namespace tilewalk::cuda {

row_layout layout_of_rows(const program::path_program& p) {
    row_layout out;
    for (std::size_t k = 0; k < p.sections.size(); ++k) {
        const program::lane_section& s = p.sections[k];
        const bool is_in_step = k == 0 || s.is_on_every_step;
        out.places.push_back(s.is_on_every_step ? out.widths[0] : 0);
        out.widths.push_back(s.is_on_every_step ? 0 : s.row_width());
        if (is_in_step && !s.tables.empty()) out.step_has_tables = true;
        if (!s.is_on_every_step) continue;
        out.widths[0] += s.row_width();
        out.every_step |= std::uint32_t{1} << k;
    }
    return out;
}

}  // namespace tilewalk::cuda
