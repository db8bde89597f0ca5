// SPDX-License-Identifier: Apache-2.0
// Long calls run in a thread of their own; the caller's thread releases the GIL and looks for Ctrl-C.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "python/extension/module.h"
#include "tilewalk/engine.h"
#include "tilewalk/write.h"

namespace tilewalk::python {

class watched_call {
  public:
    // `hears` is None or is called with progress as a dict; `cancel` is None or has is_set().
    watched_call(nb::object hears, nb::object cancel)
        : hears_(std::move(hears)), cancel_(std::move(cancel)) {}

    // Runs `work` in a thread of its own. Throws what `work` throws, or what Python has raised meanwhile.
    void run(const std::function<void()>& work);
    run_options watching(run_options options);
    // Reports progress from any thread: `made` is called with the GIL, unless newer progress replaces it.
    void tell(std::function<nb::dict()> made);

  private:
    void look_at_python();

    nb::object hears_, cancel_;
    std::atomic<bool> stop_ = false;
    std::exception_ptr raised_;  // raised by a signal, `cancel_` or `hears_`
    std::mutex lock_;            // guards the members below
    std::condition_variable ended_;
    bool is_done_ = false;
    std::function<nb::dict()> news_;
};

template <class Work>
auto run_beside(nb::object hears, nb::object cancel, Work work, const run_options& options = {}) {
    watched_call call(std::move(hears), std::move(cancel));
    const run_options watched = call.watching(options);
    std::optional<decltype(work(watched))> out;
    call.run([&] { out.emplace(work(watched)); });
    return std::move(*out);
}

struct run_arguments {
    std::shared_ptr<const engine> by;
    run_options options;
    nb::object hears, cancel;
};
// `said` has the run's settings, `how` the call's other options.
run_arguments arguments_of(const nb::dict& said, const nb::dict& how);

// Throws tilewalk::error (usage) for an unknown name or invalid value; `also` are names to suggest.
run_settings settings_of(const nb::dict& by_name, const std::vector<std::string>& also = {});

// The engine of this process, made on first use, or a new one with another instruction set.
std::shared_ptr<const engine> engine_with(const std::string& instruction_set);

template <class Page>
std::string text_of(const Page& of, output_format format) {
    std::ostringstream out;
    write(out, of, format);
    return std::move(out).str();
}

}  // namespace tilewalk::python
