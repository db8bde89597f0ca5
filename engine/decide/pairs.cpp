// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/pairs.h"

#include <memory>
#include <utility>

#include "engine/base/crew.h"
#include "products/program/mirror.h"
#include "tilewalk/error.h"

namespace tilewalk::studies {

namespace {

constexpr const char* remark = "antithetic variates: each path is paired with the path of opposite shocks";

std::shared_ptr<const ready_trade> in_pairs(const ready_trade& of, shape_store& shapes) {
    program::whole_program made = program::mirror(*of.code, of.data, of.when);
    auto out = std::make_shared<ready_trade>(of);
    out->code = shapes.one_of(std::move(made.code));
    out->data = std::move(made.data);
    out->when = std::move(made.when);
    out->control_jumps /= 2;  // a pair is the mean of its halves, and each jumps alone
    out->placed_jumps /= 2;
    out->remarks.emplace_back(remark);
    return out;
}

}  // namespace

void walk_in_pairs(planned& p, shape_store& shapes) {
    if (!p.needs_paths()) return;
    if (!p.recorded) p.recorded = p.ready;
    p.is_in_pairs = true;
    p.ready = in_pairs(*p.ready, shapes);
    if (!p.rights || !p.rights->bounding) return;
    auto rights = std::make_shared<ready_rights>(*p.rights);
    rights->bounding = in_pairs(*rights->bounding, shapes);
    p.rights = std::move(rights);
}

}  // namespace tilewalk::studies
