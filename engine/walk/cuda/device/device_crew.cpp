// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/device_crew.h"

#include <algorithm>
#include <condition_variable>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/crew.h"

namespace tilewalk::cuda {

namespace {

// Calls do_it(); turns exceptions that are not tilewalk::error into one of kind internal.
template <class body>
auto with_errors(const body& do_it) {
    try {
        return do_it();
    } catch (const error&) {
        throw;
    } catch (const std::exception& e) {
        throw error(error_kind::internal, e.what());
    }
}

// One walk() of a crew, shared by its workers. The piece of a worker whose device is lost goes to another.
class shift {
  public:
    shift(piecework& work, std::size_t pieces, const std::atomic<bool>* cancel,
          std::vector<gpu_facts::share>& shares)
        : work_(work), cancel_(cancel), shares_(shares) {
        for (std::size_t i = 0; i < pieces; ++i) open_.insert(i);
    }

    bool is_over() const { return open_.empty() || is_stopped(); }
    // The loop of a worker: takes and does pieces until none is left for it.
    void serve(std::size_t worker) {
        gpu_facts::share& share = shares_[worker % shares_.size()];
        std::optional<std::size_t> taken;
        try {
            with_errors([&] { work_.begin(worker); });
            while ((taken = take_piece(share))) {
                do_piece(worker, *taken, share);
                put_down({});
                taken.reset();
            }
        } catch (const stopped_early&) {
        } catch (const error& e) {
            take_failure(e, share);
        }
        if (taken) put_down(taken);
        work_.end(worker);
    }
    void end() {
        if (is_cancelled()) throw error(error_kind::cancelled, "the run was stopped");
        if (failed_) throw error(*failed_);
        for (const std::size_t piece : open_)
            for (const gpu_facts::share& share : shares_)
                if (share.lost) work_.fail(piece, *share.lost);
    }

  private:
    bool is_cancelled() const { return cancel_ != nullptr && cancel_->load(); }
    bool is_stopped() const { return has_failed_ || is_cancelled(); }

    // Takes a piece; empty if none is left, the device is lost or the work was stopped. Waits while other
    // workers hold pieces, which may come back.
    std::optional<std::size_t> take_piece(const gpu_facts::share& share) {
        std::unique_lock guard(lock_);
        // A stop needs no wake-up of its own: whoever holds a piece notices the stop and puts the piece back.
        changed_.wait(guard, [&] { return share.lost || !open_.empty() || held_ == 0; });
        if (share.lost || open_.empty() || is_stopped()) return std::nullopt;
        ++held_;
        return open_.extract(open_.begin()).value();
    }
    void put_down(std::optional<std::size_t> unfinished) {
        const std::lock_guard guard(lock_);
        --held_;
        if (unfinished) open_.insert(*unfinished);
        changed_.notify_all();
    }
    ends ended_by(const error& why) const {
        const auto* const of_device = dynamic_cast<const device_error*>(&why);
        return of_device != nullptr && of_device->is_final() ? ends::share_of_device : work_.ended_by(why);
    }
    void do_piece(std::size_t worker, std::size_t piece, gpu_facts::share& share) {
        try {
            const bool has_walked = with_errors([&] { return work_.walk(worker, piece); });
            const std::lock_guard guard(lock_);
            share.has_walked = share.has_walked || has_walked;
        } catch (const error& e) {
            if (ended_by(e) != ends::piece) throw;
            work_.fail(piece, e);
        }
    }
    void take_failure(const error& why, gpu_facts::share& share) {
        const std::lock_guard guard(lock_);
        if (ended_by(why) == ends::share_of_device) {
            share.lost = why;
            return;
        }
        if (!failed_) failed_ = why;
        has_failed_ = true;
        work_.give_up();
    }

    piecework& work_;
    const std::atomic<bool>* const cancel_;
    std::vector<gpu_facts::share>& shares_;
    std::mutex lock_;  // guards the shares and the members below
    std::condition_variable changed_;
    std::set<std::size_t> open_;
    std::size_t held_ = 0;
    std::optional<error> failed_;
    std::atomic<bool> has_failed_{false};
};

}  // namespace

device_crew::device_crew(devices on, kernel_store& kernels)
    : devices_(on.begin(), on.end()), kernels_(kernels) {
    begin_again();
}

std::uint64_t device_crew::open(std::uint64_t most, const std::function<void(std::size_t, device&)>& more) {
    std::uint64_t room = ~std::uint64_t{0};
    for (std::size_t d = 0; d < size(); ++d) {
        try {
            device& on = devices_[d]->get();
            const std::uint64_t free = on.free_bytes() / 4 * 3;
            room = std::min({room, free, most == 0 ? free : most});
            more(d, on);
        } catch (const device_error& e) {
            facts_.shares[d].lost = e;
        }
    }
    return room;
}

std::vector<std::string> device_crew::architectures() const {
    std::vector<std::string> out;
    for (std::size_t d = 0; d < size(); ++d) {
        std::string one = devices_[d]->get().properties().architecture();
        if (!facts_.shares[d].lost && std::ranges::find(out, one) == out.end()) out.push_back(std::move(one));
    }
    return out;
}

void device_crew::compile(std::span<const wanted_kernel> wanted, int threads,
                          const std::atomic<bool>* cancel) {
    struct made {
        std::shared_ptr<const std::string> cubin;
        std::optional<error> failure;
    };
    const std::vector<std::string> targets = architectures();
    std::vector<made> all(targets.size() * wanted.size());
    const std::vector<std::size_t> order =
        longest_first(all.size(), [&](std::size_t i) { return wanted[i % wanted.size()].of->text.size(); });
    threads::for_each(all.size(), threads, cancel,
                      [&](int, std::uint64_t k) {
                          const std::size_t i = order[k];
                          const std::string& text = wanted[i % wanted.size()].of->text;
                          try {
                              all[i].cubin = with_errors([&] {
                                  return kernels_.cubin({text, targets[i / wanted.size()], {}});
                              });
                          } catch (const error& e) {
                              all[i].failure = e;
                          }
                      },
                      {});
    for (std::size_t i = 0; i < all.size(); ++i) {
        const wanted_kernel& one = wanted[i % wanted.size()];
        if (all[i].failure) {
            one.fail(*all[i].failure);
        } else {
            one.of->cubins.emplace(targets[i / wanted.size()], std::move(all[i].cubin));
        }
    }
}

void device_crew::walk(piecework& work, std::size_t pieces, std::size_t workers,
                       const std::atomic<bool>* cancel, const std::function<void()>& tell) {
    shift all(work, pieces, cancel, facts_.shares);
    // A single piece is done on the calling thread, as a thread takes as long to start as a small piece to
    // walk. The next device is then tried only if the one before is lost.
    const bool in_turn = pieces <= 1 && !tell;
    if (tell) tell();
    threads::for_each(
        workers, in_turn ? 1 : static_cast<int>(workers), nullptr,
        [&](int, std::uint64_t w) {
            if (!in_turn || !all.is_over()) all.serve(w);
        },
        tell);
    all.end();
}

void device_crew::count(std::size_t launches, double device_seconds, double kernel_seconds) {
    const std::lock_guard guard(lock_);
    facts_.launches += launches;
    facts_.device_seconds = std::max(facts_.device_seconds, device_seconds);
    facts_.kernel_seconds = std::max(facts_.kernel_seconds, kernel_seconds);
}

void device_crew::begin_again() {
    facts_ = {};
    facts_.shares.resize(size());
}

gpu_facts device_crew::facts() const {
    gpu_facts out = facts_;
    out.kernels_compiled = kernels_.compiled();
    out.kernels_from_cache = kernels_.from_cache();
    out.why_foreign = kernels_.why_foreign();
    return out;
}

}  // namespace tilewalk::cuda
