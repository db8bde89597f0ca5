// SPDX-License-Identifier: Apache-2.0
// A fake GPU on host memory, for tests of the code that drives GPUs. It checks the rules that a real device
// leaves to its caller and records breaches, does work at once or as late as allowed, and fails on request.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/device/device.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

// Settings that a test makes for a fake device, followed by what the device reports. The device shares
// ownership, so that a test can read the reports when the device is gone.
struct fake_gpu {
    using work = std::function<void()>;
    struct planned_failure {
        std::string call;  // the member function of `device` that fails, such as "upload"
        int nth = 1;
        device_failure what = device_failure::other;
    };
    struct open_texture {
        const void* memory;
        std::size_t bytes;
        texel kind;
    };

    device_properties properties = some_properties();
    std::size_t memory_bytes = std::size_t{1} << 30;  // a larger total allocation is out of memory
    std::optional<std::size_t> said_free;             // returned by free_bytes(); empty: the true figure
    // When queued work runs: at once; only when somebody waits for it; or at a random time that streams and
    // events allow.
    enum class schedule { at_once, late, by_dice };
    schedule when = schedule::at_once;
    std::uint32_t dice = 1;
    std::vector<planned_failure> failures;
    // Returns the work of a launch. Called at the launch, so it must copy the arguments; the result runs when
    // its stream gets there. The work may throw device_error, which the next wait reports.
    std::function<work(const std::string& cubin, const std::string& kernel, const launch&, std::span<void*>)>
        kernel;
    kernel_attributes attributes{32, 0, 0, 8};
    std::function<kernel_attributes(const launch&)> attributes_of;  // replaces `attributes` if set
    std::map<std::string, std::size_t> variables;  // bytes of each module's variables, by name

    std::atomic<bool> has_failed{false};       // true once a planned failure has happened
    std::map<std::string, int> calls;          // number of calls of each function
    std::vector<std::string> faults;           // messages on broken rules
    std::map<texture, open_texture> textures;  // textures not yet closed
    std::size_t most_bytes = 0;                // peak of allocated device memory
    std::size_t uploaded_bytes = 0;

    static device_properties some_properties() {
        device_properties p;
        p.name = "a GPU of the host";
        p.uuid = "GPU-00000000-0000-0000-0000-000000000000";
        p.major = 9;
        p.memory_bytes = std::size_t{1} << 30;
        p.multiprocessors = 4;
        p.threads_per_multiprocessor = 2048;
        p.shared_bytes_per_block = 227 * 1024;
        p.shared_bytes_per_multiprocessor = 228 * 1024;
        p.l2_bytes = std::size_t{1} << 25;
        p.persisting_l2_bytes = std::size_t{1} << 24;
        p.clock_khz = 1000000;
        p.maps_host_memory = true;
        p.reduces_stored = true;
        return p;
    }

    std::string report() const {
        std::string out;
        for (const auto& fault : faults) out += fault + "\n";
        return out;
    }
};

// Compiles nothing: the "cubin" is the source text itself, by which a fake GPU's `kernel` recognises it.
class text_compiler final : public compiler {
  public:
    compiled compile(const compile_request& what, bool) override {
        if (refuses && refuses(what.text)) throw error(error_kind::compile, "refused as planned");
        return {what.text, "", ""};
    }
    std::string fingerprint() const override { return "text"; }
    std::function<bool(const std::string&)> refuses;
};

class fake_device final : public device {
  public:
    explicit fake_device(std::shared_ptr<fake_gpu> gpu) : gpu_(std::move(gpu)), dice_(gpu_->dice) {
        streams_[0];
    }
    ~fake_device() override {
        const std::lock_guard guard(lock_);
        say_left("memory", memory_.size());
        say_left("pinned memory", pinned_.size());
        say_left("streams", streams_.size() - 1);
        say_left("events", events_.size());
        say_left("modules", modules_.size());
        say_left("textures", gpu_->textures.size());
        gpu_->textures.clear();
        if (!streams_[0].empty()) fault("work left undone in the standard stream");
        for (const block& b : gone_) {
            if (!b.is_all(poison_of_the_dead)) fault("memory was written after its release");
        }
    }
    fake_device(const fake_device&) = delete;
    fake_device& operator=(const fake_device&) = delete;

    const device_properties& properties() const override { return gpu_->properties; }

    std::size_t free_bytes() override {
        const std::lock_guard guard(lock_);
        enter("free_bytes");
        return gpu_->said_free ? *gpu_->said_free : gpu_->memory_bytes - std::min(gpu_->memory_bytes, used_);
    }

    void* allocate(std::size_t bytes) override {
        const std::lock_guard guard(lock_);
        enter("allocate");
        if (bytes == 0) return nullptr;
        if (bytes > gpu_->memory_bytes - std::min(gpu_->memory_bytes, used_))
            throw device_error(device_failure::out_of_memory,
                               "allocate: " + std::to_string(bytes) + " bytes are not there");
        used_ += bytes;
        gpu_->most_bytes = std::max(gpu_->most_bytes, used_);
        return add(memory_, bytes);
    }
    void release(void* memory) noexcept override {
        const std::lock_guard guard(lock_);
        used_ -= take(memory_, memory, "memory");
    }
    void* allocate_pinned(std::size_t bytes) override {
        const std::lock_guard guard(lock_);
        enter("allocate_pinned");
        return bytes == 0 ? nullptr : add(pinned_, bytes);
    }
    void release_pinned(void* memory) noexcept override {
        const std::lock_guard guard(lock_);
        take(pinned_, memory, "pinned memory");
    }
    void* device_address_of(void* pinned) override {
        const std::lock_guard guard(lock_);
        enter("device_address_of");
        if (find_block(pinned_, pinned, 1) == nullptr) fault("device_address_of: not pinned memory");
        return pinned;
    }

    stream open_stream() override {
        const std::lock_guard guard(lock_);
        enter("open_stream");
        const std::uintptr_t id = ++last_handle_;
        streams_[id];
        return static_cast<stream>(id);
    }
    void close_stream(stream s) noexcept override {
        const std::lock_guard guard(lock_);
        const auto at = streams_.find(static_cast<std::uintptr_t>(s));
        if (s == stream::standard || at == streams_.end()) return fault("close_stream: not an open stream");
        if (!at->second.empty()) fault("a stream was closed before its work was done");
        streams_.erase(at);
    }
    void wait(stream s) override {
        const std::lock_guard guard(lock_);
        enter("wait");
        drain(queue(s, "wait"));
        show_late_failure();
    }
    event open_event() override {
        const std::lock_guard guard(lock_);
        enter("open_event");
        const std::uintptr_t id = ++last_handle_;
        events_[id] = nullptr;
        return static_cast<event>(id);
    }
    void record(event e, stream s) override {
        const std::lock_guard guard(lock_);
        enter("record");
        const auto at = events_.find(static_cast<std::uintptr_t>(e));
        if (at == events_.end()) return fault("record: not an event");
        // Streams that wait for an earlier record of this event go on waiting for that record.
        const auto state = at->second = std::make_shared<happening>();
        state->in = static_cast<std::uintptr_t>(s);
        push(s, "record", {[this, state] { state->at = ++clock_; }, {}, false, nullptr});
    }
    void wait_for(stream s, event e) override {
        const std::lock_guard guard(lock_);
        enter("wait_for");
        if (const auto state = state_of(e, "wait_for"))
            push(s, "wait_for", {[this, state] { reach(*state); }, {}, false, state});
    }
    bool has_happened(event e) override {
        const std::lock_guard guard(lock_);
        enter("has_happened");
        const auto state = state_of(e, "has_happened");
        throw_dice();
        // A second query of the same record completes the work up to it, so that a caller that polls gets on.
        if (state && state->at == 0 && state->asked++ > 0) reach(*state);
        show_late_failure();
        return state && state->at != 0;
    }
    double milliseconds_between(event first, event second) override {
        const std::lock_guard guard(lock_);
        enter("milliseconds_between");
        const auto a = state_of(first, "milliseconds_between");
        const auto b = state_of(second, "milliseconds_between");
        if (!a || !b || a->at == 0 || b->at == 0) {
            fault("milliseconds_between: an event that has not happened");
            return 0;
        }
        return static_cast<double>(b->at - a->at);
    }
    void close_event(event e) noexcept override {
        const std::lock_guard guard(lock_);
        if (events_.erase(static_cast<std::uintptr_t>(e)) == 0) fault("close_event: not an event");
    }

    void upload(void* to, const void* from, std::size_t bytes, stream s) override {
        const std::lock_guard guard(lock_);
        enter("upload");
        if (bytes == 0 || !is_inside(memory_, to, bytes, "upload")) return;
        gpu_->uploaded_bytes += bytes;
        // A copy from pinned memory reads when it is done, from other memory before the call returns.
        if (find_block(pinned_, from, bytes) != nullptr) {
            push(s, "upload", {[=] { std::memcpy(to, from, bytes); }, {to, from}, false, nullptr});
        } else {
            const auto* first = static_cast<const std::byte*>(from);
            const auto copy = std::make_shared<std::vector<std::byte>>(first, first + bytes);
            push(s, "upload", {[=] { std::memcpy(to, copy->data(), bytes); }, {to}, false, nullptr});
        }
    }
    void download(void* to, const void* from, std::size_t bytes, stream s) override {
        const std::lock_guard guard(lock_);
        enter("download");
        if (bytes == 0 || !is_inside(memory_, from, bytes, "download")) return;
        push(s, "download", {[=] { std::memcpy(to, from, bytes); }, {from, to}, false, nullptr});
    }
    void fill(void* memory, int byte, std::size_t bytes, stream s) override {
        const std::lock_guard guard(lock_);
        enter("fill");
        if (bytes == 0 || !is_inside(memory_, memory, bytes, "fill")) return;
        push(s, "fill", {[=] { std::memset(memory, byte, bytes); }, {memory}, false, nullptr});
    }

    module load(std::span<const char> cubin) override {
        const std::lock_guard guard(lock_);
        enter("load");
        const std::uintptr_t id = ++last_handle_;
        modules_[id].cubin.assign(cubin.begin(), cubin.end());
        for (const auto& [name, bytes] : gpu_->variables) modules_[id].variables[name].resize(bytes);
        return static_cast<module>(id);
    }
    void unload(module m) noexcept override {
        const std::lock_guard guard(lock_);
        if (modules_.erase(static_cast<std::uintptr_t>(m)) == 0) fault("unload: not a module");
    }
    kernel find(module m, const char* name) override {
        const std::lock_guard guard(lock_);
        enter("find");
        const auto* of = loaded_as(m, "find");
        const std::uintptr_t id = ++last_handle_;
        kernels_[id] = {of == nullptr ? "" : of->cubin, name};
        return static_cast<kernel>(id);
    }
    std::span<std::byte> variable(module m, const char* name) override {
        const std::lock_guard guard(lock_);
        enter("variable");
        if (auto* of = loaded_as(m, "variable")) {
            if (const auto at = of->variables.find(name); at != of->variables.end()) return at->second;
        }
        throw device_error(device_failure::refused, std::string("variable: no ") + name);
    }
    kernel_attributes attributes(kernel, const launch& how) override {
        const std::lock_guard guard(lock_);
        enter("attributes");
        return gpu_->attributes_of ? gpu_->attributes_of(how) : gpu_->attributes;
    }
    texture open_texture(const void* memory, std::size_t bytes, texel kind) override {
        const std::lock_guard guard(lock_);
        enter("open_texture");
        is_inside(memory_, memory, bytes, "open_texture");
        const auto id = static_cast<texture>(++last_handle_);
        gpu_->textures[id] = {memory, bytes, kind};
        return id;
    }
    void close_texture(texture t) noexcept override {
        const std::lock_guard guard(lock_);
        if (gpu_->textures.erase(t) == 0) fault("close_texture: not a texture");
    }

    void run(kernel k, const launch& how, std::span<void*> arguments, stream s) override {
        const std::lock_guard guard(lock_);
        enter("run");
        const auto known = kernels_.find(static_cast<std::uintptr_t>(k));
        if (known == kernels_.end()) return fault("run: not a kernel");
        if (how.blocks == 0 || how.threads == 0 || how.threads > 1024 ||
            how.shared_bytes > gpu_->properties.shared_bytes_per_block)
            throw device_error(device_failure::refused, "run: a launch that no device takes");
        fake_gpu::work work;
        if (gpu_->kernel) work = gpu_->kernel(known->second.first, known->second.second, how, arguments);
        if (work) push(s, "run", {std::move(work), {}, true, nullptr});
    }
    void reduce_stored(const kernels::stored_payoffs& what, stream s) override {
        const std::lock_guard guard(lock_);
        enter("reduce_stored");
        if (!gpu_->properties.reduces_stored) return fault("reduce_stored: on a device that does not");
        const std::size_t payoffs = what.count() * kernels::paths_per_tile * sizeof(double);
        if (!is_inside(memory_, what.payoffs, payoffs, "reduce_stored") ||
            !is_inside(memory_, what.results, what.count() * sizeof *what.results, "reduce_stored"))
            return;
        const auto reduce = [what] {
            for (kernels::word64 i = 0; i < what.count(); ++i) {
                kernels::tile_result r;
                for (auto at = what.begin_of(i); at < what.end_of(i); ++at)
                    r = kernels::merge(r, what.at(at));
                what.results[i] = r;
            }
        };
        push(s, "reduce_stored", {reduce, {what.payoffs, what.results}, false, nullptr});
    }

  private:
    struct block {
        std::vector<std::byte> bytes;
        std::byte* first = nullptr;
        std::size_t size = 0;

        explicit block(std::size_t wanted)
            : bytes(wanted + 2 * margin + alignment, poison_of_the_edge), size(wanted) {
            auto at = reinterpret_cast<std::uintptr_t>(bytes.data() + margin);
            at = (at + alignment - 1) / alignment * alignment;
            first = reinterpret_cast<std::byte*>(at);
            std::fill_n(first, size, poison_of_the_new);
        }
        bool edges_are_whole() const {
            const auto is_edge = [](std::byte b) { return b == poison_of_the_edge; };
            return std::all_of(bytes.data(), static_cast<const std::byte*>(first), is_edge) &&
                   std::all_of(static_cast<const std::byte*>(first) + size, bytes.data() + bytes.size(),
                               is_edge);
        }
        bool is_all(std::byte poison) const {
            return std::all_of(first, first + size, [&](std::byte b) { return b == poison; });
        }
    };
    using blocks = std::map<const void*, block>;

    struct happening {
        std::uintptr_t in = 0;
        std::uint64_t at = 0;  // the device's clock when the event happened, 0 until then
        int asked = 0;
    };
    struct task {
        fake_gpu::work work;
        std::vector<const void*> touches;
        bool is_kernel;                          // a kernel may use any memory
        std::shared_ptr<const happening> after;  // an event that must happen first, or null
    };
    struct loaded {
        std::string cubin;
        std::map<std::string, std::vector<std::byte>> variables;
    };

    static constexpr std::size_t margin = 64, alignment = 256;
    static constexpr std::byte poison_of_the_new{0xcd}, poison_of_the_dead{0xdd}, poison_of_the_edge{0xed};

    void fault(const std::string& what) noexcept { gpu_->faults.push_back(what); }
    void say_left(const char* what, std::size_t count) {
        if (count != 0) fault("left open: " + std::to_string(count) + " " + what);
    }

    // Counts a call of this name. Throws if it is planned to fail or the device is lost.
    void enter(const char* call) {
        const int nth = ++gpu_->calls[call];
        if (lost_) throw device_error(*lost_);
        for (const auto& plan : gpu_->failures) {
            if (plan.call != call || plan.nth != nth) continue;
            gpu_->has_failed = true;
            gpu_->has_failed.notify_all();
            const device_error failure(plan.what, std::string(call) + ": failed as planned");
            if (failure.is_final()) lose(failure);
            throw device_error(failure);
        }
    }
    // Drops the queued work of a lost device: it never completes, so nothing may wait for it.
    void lose(const device_error& why) {
        lost_ = why;
        for (auto& [id, tasks] : streams_) tasks.clear();
    }
    void show_late_failure() {
        if (!late_) return;
        const device_error failure = *std::exchange(late_, std::nullopt);
        if (failure.is_final()) lose(failure);
        throw device_error(failure);
    }

    void* add(blocks& to, std::size_t bytes) {
        block fresh(bytes);
        void* at = fresh.first;
        to.emplace(at, std::move(fresh));
        return at;
    }
    std::size_t take(blocks& from, void* memory, const char* what) noexcept {
        if (memory == nullptr) return 0;
        const auto at = from.find(memory);
        if (at == from.end()) {
            fault(std::string(what) + " released that is not allocated");
            return 0;
        }
        block& b = at->second;
        for (const auto& [id, tasks] : streams_) {
            for (const task& t : tasks) {
                const bool touched = std::any_of(t.touches.begin(), t.touches.end(), [&](const void* p) {
                    return p >= b.first && p < b.first + b.size;
                });
                if (touched || t.is_kernel) {
                    fault(std::string(what) + " released while work that may use it was not done");
                    break;
                }
            }
        }
        if (!b.edges_are_whole()) fault(std::string("written outside of ") + what);
        std::fill_n(b.first, b.size, poison_of_the_dead);
        const std::size_t size = b.size;
        gone_.push_back(std::move(b));
        from.erase(at);
        return size;
    }
    static const block* find_block(const blocks& in, const void* first, std::size_t bytes) {
        auto at = in.upper_bound(first);
        if (at == in.begin()) return nullptr;
        const block& b = (--at)->second;
        const auto* begin = static_cast<const std::byte*>(first);
        return begin + bytes <= b.first + b.size ? &b : nullptr;
    }
    bool is_inside(const blocks& in, const void* first, std::size_t bytes, const char* call) {
        if (find_block(in, first, bytes) != nullptr) return true;
        fault(std::string(call) + ": outside of the memory of the device");
        return false;
    }

    std::shared_ptr<happening> state_of(event e, const char* call) {
        const auto at = events_.find(static_cast<std::uintptr_t>(e));
        if (at != events_.end() && at->second) return at->second;
        fault(std::string(call) +
              (at == events_.end() ? ": not an event" : ": an event that was never recorded"));
        return nullptr;
    }
    loaded* loaded_as(module m, const char* call) {
        const auto at = modules_.find(static_cast<std::uintptr_t>(m));
        if (at != modules_.end()) return &at->second;
        fault(std::string(call) + ": not a module");
        return nullptr;
    }
    std::deque<task>& queue(stream s, const char* call) {
        const auto at = streams_.find(static_cast<std::uintptr_t>(s));
        if (at != streams_.end()) return at->second;
        fault(std::string(call) + ": not an open stream");
        return streams_[0];
    }

    void push(stream s, const char* call, task t) {
        auto& tasks = queue(s, call);
        tasks.push_back(std::move(t));
        if (gpu_->when == fake_gpu::schedule::at_once) drain(tasks);
        throw_dice();
    }
    // Runs queued work at random: some streams are quick, some slow, some run only when somebody waits.
    void throw_dice() {
        if (gpu_->when != fake_gpu::schedule::by_dice) return;
        for (auto& [id, tasks] : streams_) {
            const auto known = slowness_.try_emplace(id, std::array{1u, 2u, 16u, ~0u}[dice_() % 4]).first;
            while (!tasks.empty() && dice_() % known->second == 0) {
                if (tasks.front().after && tasks.front().after->at == 0) break;
                do_next(tasks);
            }
        }
    }
    void drain(std::deque<task>& tasks) {
        while (!tasks.empty()) do_next(tasks);
    }
    void reach(const happening& e) {
        const auto at = streams_.find(e.in);
        while (e.at == 0 && at != streams_.end() && !at->second.empty()) do_next(at->second);
    }
    void do_next(std::deque<task>& tasks) {
        const task t = std::move(tasks.front());
        tasks.pop_front();
        try {
            t.work();
        } catch (const device_error& e) {
            if (!late_) late_ = e;
        }
    }

    std::shared_ptr<fake_gpu> gpu_;
    std::mutex lock_;
    std::uintptr_t last_handle_ = 0;
    std::uint64_t clock_ = 0;
    std::mt19937 dice_;
    std::map<std::uintptr_t, unsigned> slowness_;  // a stream runs a task in one of so many throws
    std::size_t used_ = 0;
    blocks memory_, pinned_;
    std::vector<block> gone_;
    std::map<std::uintptr_t, std::deque<task>> streams_;
    std::map<std::uintptr_t, std::shared_ptr<happening>> events_;
    std::map<std::uintptr_t, loaded> modules_;
    std::map<std::uintptr_t, std::pair<std::string, std::string>> kernels_;  // cubin and name, by handle
    std::optional<device_error> lost_, late_;
};

}  // namespace tilewalk::cuda
