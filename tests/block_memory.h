// SPDX-License-Identifier: Apache-2.0
// The memory of one GPU block, as feeds see it, modelled on the host. An asynchronous copy spoils its target
// at the start and delivers only when a thread waits for it. The model reports mistakes that a GPU would
// tolerate or punish at random: reading numbers that are in flight or another thread's, overwriting unread
// numbers, leaving an array, a misaligned address.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace tilewalk::tests {

// Runs the threads of a block on one host thread, in a fixed order; a thread yields only when it waits.
class turns {
  public:
    struct stuck : std::exception {};

    // With `direction` 1 the first thread runs ahead of the others, with -1 the last one.
    turns(int threads, int direction) : direction_(direction), threads_(static_cast<std::size_t>(threads)) {}

    void run(const std::function<void(int)>& of_thread) {
        for (thread& t : threads_) {
            t.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
            ::getcontext(&t.at);
            t.at.uc_stack.ss_sp = t.stack.get();
            t.at.uc_stack.ss_size = stack_bytes;
            ::makecontext(&t.at, begin_thread, 0);
        }
        of_thread_ = &of_thread;
        at_hand_ = this;
        now_ = direction_ > 0 ? 0 : static_cast<int>(threads_.size()) - 1;
        ::swapcontext(&caller_, &of(now_).at);
    }

    // Lets other threads run until the condition holds. Returns false if all wait and it never will.
    template <class condition>
    bool wait_until(int me, const condition& holds) {
        while (!holds()) {
            if (is_stuck_) throw stuck{};
            if (++idle_ > 2 * static_cast<int>(threads_.size())) {
                is_stuck_ = true;
                return false;
            }
            pass_on(me);
        }
        idle_ = 0;
        return true;
    }

  private:
    static constexpr std::size_t stack_bytes = 256 << 10;
    struct thread {
        ucontext_t at{};
        std::unique_ptr<char[]> stack{};
        bool has_ended = false;
    };

    static void begin_thread() {
        turns& all = *at_hand_;
        const int me = all.now_;
        try {
            (*all.of_thread_)(me);
            // Already recorded by the thread that found the deadlock.
        } catch (const stuck&) {
        }
        all.of(me).has_ended = true;
        all.idle_ = 0;
        all.pass_on(me);
    }
    thread& of(int number) { return threads_[static_cast<std::size_t>(number)]; }
    // Switches to the next thread that has not ended, or back to run() if all have.
    void pass_on(int me) {
        const int count = static_cast<int>(threads_.size());
        for (int k = 1; k <= count; ++k) {
            now_ = ((me + k * direction_) % count + count) % count;
            if (now_ == me && !of(me).has_ended) return;
            if (!of(now_).has_ended) {
                ::swapcontext(&of(me).at, &of(now_).at);
                return;
            }
        }
        ::swapcontext(&of(me).at, &caller_);
    }

    static inline thread_local turns* at_hand_ = nullptr;
    const int direction_;
    std::vector<thread> threads_;
    ucontext_t caller_{};
    const std::function<void(int)>* of_thread_ = nullptr;
    int now_ = 0;
    int idle_ = 0;  // switches between threads without progress
    bool is_stuck_ = false;
};

class block_memory {
  public:
    block_memory(int threads, std::uint32_t shared_bytes)
        : cells_(shared_bytes), threads_(static_cast<std::size_t>(threads)) {}

    // Allows threads to read this array in global memory: `rows` rows, `pitch` bytes apart.
    void allow(const void* first, std::size_t rows, std::size_t row_bytes, std::size_t pitch) {
        arrays_.push_back({static_cast<const char*>(first), rows, row_bytes, pitch});
    }

    // Runs every thread: interleaved at barriers if `they_meet`, else one after the other to its end.
    void run(int direction, bool they_meet, const std::function<void(int)>& of_thread) {
        const int count = static_cast<int>(threads_.size());
        if (they_meet) {
            turns order(count, direction);
            order_ = &order;
            order.run(of_thread);
            order_ = nullptr;
        } else {
            for (int i = 0; i < count; ++i) of_thread(direction > 0 ? i : count - 1 - i);
        }
    }

    // Reports copies and barriers that are left over, once all threads have ended.
    void finish() {
        for (std::size_t t = 0; t < threads_.size(); ++t) {
            std::size_t copies = threads_[t].open.size();
            for (const auto& group : threads_[t].groups) copies += group.size();
            if (copies > 0) fault("copies under way at the end", static_cast<int>(t), copies);
            threads_[t].groups.clear();
            threads_[t].open.clear();
        }
        for (const auto& [at, open] : barriers_) fault("a barrier left open", -1, at);
        std::size_t unread = 0;
        for (const auto& c : cells_) unread += c.state == full && !c.was_read;
        if (unread > 0) fault("bytes never read", -1, unread);
        for (auto& c : cells_) {
            if (c.state == under_way) fault("bytes under way at the end", -1, 0);
        }
    }

    void fault(const std::string& what, int thread, std::size_t where) {
        if (faults_.size() >= 5) return;
        std::ostringstream text;
        text << what << " (thread " << thread << ", at " << where << ")";
        faults_.push_back(text.str());
    }
    const std::vector<std::string>& faults() const { return faults_; }

  private:
    friend struct model_thread;

    enum cell_state : std::uint8_t { empty, full, under_way, of_barrier };
    static constexpr int whole_block = -1;
    struct cell {
        std::uint8_t value = 0xee;
        cell_state state = empty;
        bool was_read = false;
        int owner = whole_block;
        int reader = 0;
        int read_in = -1;  // count of block-wide barriers at the last read
    };
    struct copy {
        std::uint32_t to;
        const char* from;
        std::uint32_t bytes;
    };
    struct barrier {
        std::uint32_t arrivals;
        std::uint32_t to_come;
        std::uint64_t expected = 0;
        std::vector<copy> copies{};
        std::uint64_t phase = 0;
        int opened_by;
        int opened_in;  // count of block-wide barriers at that time
        bool published = false;
        std::map<int, int> waited_in{};  // last phase waited for, by thread
    };
    struct thread_state {
        std::vector<copy> open{};
        std::deque<std::vector<copy>> groups{};
    };
    struct array {
        const char* first;
        std::size_t rows, row_bytes, pitch;
    };

    bool may_read(const void* from, std::size_t bytes, std::size_t alignment, int thread) {
        const char* at = static_cast<const char*>(from);
        if (reinterpret_cast<std::uintptr_t>(at) % alignment != 0)
            fault("array read at a crooked address", thread, bytes);
        for (const auto& a : arrays_) {
            if (at < a.first || at >= a.first + a.rows * a.pitch) continue;
            if (static_cast<std::size_t>(at - a.first) % a.pitch + bytes <= a.row_bytes) return true;
        }
        fault("read outside of the arrays", thread, bytes);
        return false;
    }
    bool may_touch(std::uint32_t at, std::size_t bytes, std::size_t alignment, int thread) {
        if (at % alignment != 0) fault("shared memory at a crooked address", thread, at);
        if (at + bytes <= cells_.size()) return true;
        fault("outside of shared memory", thread, at);
        return false;
    }

    void read(void* to, std::uint32_t at, std::size_t bytes, int thread) {
        if (!may_touch(at, bytes, bytes, thread)) return;
        for (std::size_t i = 0; i < bytes; ++i) {
            cell& c = cells_[at + i];
            if (c.state == under_way) fault("read while a copy is under way", thread, at);
            if (c.state == empty) fault("read before it was written", thread, at);
            if (c.state == of_barrier) fault("a barrier read", thread, at);
            if (c.owner != whole_block && c.owner != thread)
                fault("another thread's memory read", thread, at);
            c.was_read = true;
            c.reader = thread;
            c.read_in = meetings_;
            static_cast<std::uint8_t*>(to)[i] = c.value;
        }
    }
    void write(std::uint32_t at, const void* from, std::size_t bytes, int thread) {
        if (!may_touch(at, bytes, bytes, thread)) return;
        check_overwrite(at, bytes, thread, thread);
        for (std::size_t i = 0; i < bytes; ++i)
            cells_[at + i] = {static_cast<const std::uint8_t*>(from)[i], full, false, thread};
    }

    // Reports bytes that are about to change although a copy into them is under way or nobody has read them.
    void check_overwrite(std::uint32_t at, std::size_t bytes, int thread, int owner) {
        for (std::size_t i = at; i < at + bytes; ++i) {
            cell& c = cells_[i];
            if (c.state == under_way) fault("overwritten while a copy is under way", thread, i);
            if (c.state == of_barrier) fault("a barrier overwritten", thread, i);
            if (c.state == full && !c.was_read) fault("overwritten before it was read", thread, i);
            if (c.state == full && owner != whole_block && c.owner != owner)
                fault("another thread's memory overwritten", thread, i);
            if (c.state == full && c.reader != thread && c.read_in == meetings_)
                fault("overwritten without a meeting after it was read", thread, i);
        }
    }
    void start(const copy& c, int thread, int owner) {
        check_overwrite(c.to, c.bytes, thread, owner);
        for (std::size_t i = c.to; i < c.to + c.bytes; ++i) cells_[i] = {0xee, under_way, false, owner};
    }
    void deliver(const copy& c) {
        for (std::uint32_t i = 0; i < c.bytes; ++i) {
            cells_[c.to + i].value = static_cast<std::uint8_t>(c.from[i]);
            cells_[c.to + i].state = full;
        }
    }

    barrier* find_barrier(std::uint32_t at, int thread) {
        const auto found = barriers_.find(at);
        if (found == barriers_.end()) {
            fault("a barrier that is not open", thread, at);
            return nullptr;
        }
        if (found->second.opened_by != thread && found->second.opened_in == meetings_)
            fault("a barrier used by another thread without a meeting", thread, at);
        return &found->second;
    }
    // Ends a barrier's phase as late as a GPU may: only when a thread waits for it.
    void end_phase_if_due(barrier& b) {
        std::uint64_t started = 0;
        for (const auto& c : b.copies) started += c.bytes;
        if (b.to_come > 0 || started != b.expected) return;
        for (const auto& c : b.copies) deliver(c);
        b.copies.clear();
        b.expected = 0;
        b.to_come = b.arrivals;
        ++b.phase;
    }

    std::vector<cell> cells_;
    std::vector<thread_state> threads_;
    std::vector<array> arrays_;
    std::map<std::uint32_t, barrier> barriers_;
    std::vector<std::string> faults_;
    turns* order_ = nullptr;
    int met_ = 0;
    int meetings_ = 0;
};

struct model_thread {
    block_memory* block;
    int thread;

    template <class piece, class element>
    piece load(const element* from) const {
        piece got{};
        if (block->may_read(from, sizeof(piece), sizeof(piece), thread))
            std::memcpy(&got, from, sizeof(piece));
        return got;
    }
    template <class piece, int l2_bytes, class element>
    piece load_with_l2(const element* from) const {
        static_assert(l2_bytes == 64 || l2_bytes == 128 || l2_bytes == 256);
        return load<piece>(from);
    }
    void prefetch_l2(const void* from) const { block->may_read(from, 1, 1, thread); }

    template <class piece>
    piece read(std::uint32_t at) const {
        piece got{};
        block->read(&got, at, sizeof(piece), thread);
        return got;
    }
    template <class piece>
    void write(std::uint32_t at, const piece& value) const {
        block->write(at, &value, sizeof(piece), thread);
    }

    template <class piece, int l2_bytes, bool has_neighbours>
    void copy_async(std::uint32_t to, const void* from) const {
        static_assert(sizeof(piece) == 4 || sizeof(piece) == 8 || sizeof(piece) == 16);
        if (!block->may_read(from, sizeof(piece), sizeof(piece), thread) ||
            !block->may_touch(to, sizeof(piece), sizeof(piece), thread))
            return;
        const block_memory::copy c{to, static_cast<const char*>(from), sizeof(piece)};
        block->start(c, thread, thread);
        mine().open.push_back(c);
    }
    void commit_copies() const {
        mine().groups.push_back(std::move(mine().open));
        mine().open.clear();
    }
    template <int pending>
    void wait_for_copies() const {
        static_assert(pending >= 0);
        auto& groups = mine().groups;
        while (groups.size() > std::size_t{pending}) {
            for (const auto& c : groups.front()) block->deliver(c);
            groups.pop_front();
        }
    }

    void open_barrier(std::uint32_t at, std::uint32_t arrivals) const {
        if (!block->may_touch(at, 8, 8, thread)) return;
        if (block->barriers_.contains(at)) block->fault("a barrier opened twice", thread, at);
        for (std::size_t i = at; i < at + 8; ++i) {
            if (block->cells_[i].state != block_memory::empty)
                block->fault("a barrier opened in used memory", thread, i);
            block->cells_[i].state = block_memory::of_barrier;
        }
        block->barriers_[at] = {
            .arrivals = arrivals, .to_come = arrivals, .opened_by = thread, .opened_in = block->meetings_};
    }
    void publish_barriers() const {
        for (auto& [at, b] : block->barriers_) {
            if (b.opened_by == thread) b.published = true;
        }
    }
    void expect_bytes(std::uint32_t at, std::uint32_t bytes) const {
        auto* b = block->find_barrier(at, thread);
        if (b == nullptr) return;
        if (b->to_come == 0) return block->fault("more arrivals than a phase has", thread, at);
        --b->to_come;
        b->expected += bytes;
    }
    void copy_bulk(std::uint32_t to, const void* from, std::uint32_t bytes, std::uint32_t at) const {
        auto* b = block->find_barrier(at, thread);
        if (b == nullptr || !block->may_read(from, bytes, 16, thread) ||
            !block->may_touch(to, bytes, 16, thread))
            return;
        if (bytes % 16 != 0 || bytes == 0) block->fault("a bulk copy of crooked size", thread, bytes);
        if (!b->published) block->fault("a copy with a barrier that it cannot see", thread, at);
        const block_memory::copy c{to, static_cast<const char*>(from), bytes};
        block->start(c, thread, block_memory::whole_block);
        b->copies.push_back(c);
    }
    void wait_for_bytes(std::uint32_t at, std::uint32_t parity) const {
        if (block->find_barrier(at, thread) == nullptr) throw turns::stuck{};
        const bool came = block->order_->wait_until(thread, [&] {
            const auto found = block->barriers_.find(at);
            if (found == block->barriers_.end()) return true;  // the barrier was closed meanwhile
            auto& b = found->second;
            if ((b.phase & 1) == parity) block->end_phase_if_due(b);
            return (b.phase & 1) != parity;
        });
        if (!came) {
            block->fault("waits for ever for bytes", thread, at);
            throw turns::stuck{};
        }
        auto* b = block->find_barrier(at, thread);
        if (b == nullptr) throw turns::stuck{};
        b->waited_in[thread] = block->meetings_;
    }
    void close_barrier(std::uint32_t at) const {
        auto* b = block->find_barrier(at, thread);
        if (b == nullptr) return;
        if (!b->copies.empty()) block->fault("a barrier closed with copies under way", thread, at);
        for (const auto& [other, meeting] : b->waited_in) {
            if (other != thread && meeting == block->meetings_)
                block->fault("a barrier closed without a meeting after another thread waited", thread, at);
        }
        block->barriers_.erase(at);
        for (std::size_t i = at; i < at + 8; ++i) block->cells_[i].state = block_memory::empty;
    }
    void meet() const {
        const int meeting = block->meetings_;
        if (++block->met_ == static_cast<int>(block->threads_.size())) {
            block->met_ = 0;
            ++block->meetings_;
        }
        if (!block->order_->wait_until(thread, [&] { return block->meetings_ != meeting; })) {
            block->fault("waits for ever for the other threads", thread, 0);
            throw turns::stuck{};
        }
    }

  private:
    block_memory::thread_state& mine() const { return block->threads_[static_cast<std::size_t>(thread)]; }
};

}  // namespace tilewalk::tests
