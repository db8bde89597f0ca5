// SPDX-License-Identifier: Apache-2.0
// A cache of programs compiled for the lane machine. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/walk/cpu/lane_program.h"

namespace tilewalk::cpu {

class compiled_programs {
  public:
    // Serves programs for which `takes` is true; if it is empty, all. Call forget() before another program
    // takes the address of one.
    explicit compiled_programs(std::function<bool(const program::path_program&)> takes = {})
        : takes_(std::move(takes)) {}
    bool takes(const program::path_program& p) const { return !takes_ || takes_(p); }
    // Compiles on the first call for `p`, which must keep its address and contents until forget().
    std::shared_ptr<const lane_program> code_of(const program::path_program& p) {
        const std::shared_ptr<entry> e = entry_of(p);
        std::call_once(e->once, [&] { e->code = compile(p); });
        return {e, &e->code};
    }
    bool has(const program::path_program& p) const {
        const std::lock_guard guard(lock_);
        return by_program_.contains(&p);
    }
    void forget(const program::path_program& p) {
        const std::lock_guard guard(lock_);
        by_program_.erase(&p);
    }
    std::size_t size() const {
        const std::lock_guard guard(lock_);
        return by_program_.size();
    }

  private:
    struct entry {
        std::once_flag once;
        lane_program code;
    };
    std::shared_ptr<entry> entry_of(const program::path_program& p) {
        const std::lock_guard guard(lock_);
        auto& e = by_program_[&p];
        if (!e) e = std::make_shared<entry>();
        return e;
    }

    const std::function<bool(const program::path_program&)> takes_;
    mutable std::mutex lock_;
    std::map<const program::path_program*, std::shared_ptr<entry>> by_program_;
};

}  // namespace tilewalk::cpu
