// SPDX-License-Identifier: Apache-2.0
#include "python/extension/interpreter.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tilewalk::python {

namespace {

// Longest wait for threads at shutdown: runs stop within milliseconds, reading or writing a file may not.
constexpr std::chrono::seconds longest_wait{10};

struct ending {
    std::mutex lock;  // guards the members below
    std::condition_variable fewer;
    int away = 0;  // threads that have released the GIL
    bool begins = false, is_over = false;
    std::thread::id by;

    bool ends(bool since) const { return since && by != std::this_thread::get_id(); }
};

// Never destroyed: threads may use it after static destructors have run.
ending*& now() {
    static auto* state = new ending;
    return state;
}

// Called in a forked child, which has only the thread that forked.
void begin_anew() {
    now() = new ending;
}

void wait_for_threads() {
    PyThreadState* const state = PyEval_SaveThread();
    {
        ending& all = *now();
        std::unique_lock<std::mutex> held(all.lock);
        all.by = std::this_thread::get_id();
        all.begins = true;
        all.fewer.wait_for(held, longest_wait, [&] { return all.away <= 0; });
        all.is_over = true;
    }
    PyEval_RestoreThread(state);
}

}  // namespace

without_interpreter::without_interpreter() {
    {
        ending& all = *now();
        const std::lock_guard<std::mutex> alone(all.lock);
        // Keep the GIL if Python is ending, since it could not be reacquired.
        if (all.ends(all.is_over)) return;
        ++all.away;
    }
    state_ = PyEval_SaveThread();
}

without_interpreter::~without_interpreter() {
    if (state_ == nullptr) return;
    ending& all = *now();
    {
        std::unique_lock<std::mutex> held(all.lock);
        if (all.ends(all.is_over)) {
            held.unlock();
            for (;;) ::pause();  // the process is about to end
        }
    }
    PyEval_RestoreThread(state_);
    {
        const std::lock_guard<std::mutex> alone(all.lock);
        --all.away;
    }
    all.fewer.notify_all();
}

bool is_python_ending() {
    ending& all = *now();
    const std::lock_guard<std::mutex> alone(all.lock);
    return all.ends(all.begins);
}

void add_ending(nb::module_&) {
    // Objects alive at shutdown, which nanobind would report as leaks, are no defect of the user's program.
    nb::set_leak_warnings(false);
    now();
    ::pthread_atfork(nullptr, nullptr, begin_anew);
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(wait_for_threads));
}

}  // namespace tilewalk::python
