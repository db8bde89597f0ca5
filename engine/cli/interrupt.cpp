// SPDX-License-Identifier: Apache-2.0
// Signal handlers may touch little: one lock-free flag, and the way out.
#include "engine/cli/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "engine/cli/exit_code.h"
#include "tilewalk/error.h"

namespace tilewalk::cli {

namespace {

// A handler can reach nothing but what outlives every scope.
std::atomic<bool> postponed = false;  // somebody has something to put in order first
std::atomic<bool> asked_to_stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int number) {
    if (!postponed) ::_exit(exit_code::interrupted);
    if (!asked_to_stop.exchange(true)) return;
    std::signal(number, SIG_DFL);
    std::raise(number);
}

}  // namespace

void exit_on_interrupt() {
    for (const int number : {SIGINT, SIGTERM}) {
        struct sigaction action {};
        sigaction(number, nullptr, &action);
        if (action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = on_signal;
        action.sa_flags = SA_RESTART;
        sigaction(number, &action, nullptr);
    }
}

interrupt::interrupt() {
    asked_to_stop = false;
    postponed = true;
}

interrupt::~interrupt() {
    postponed = false;
}

const std::atomic<bool>* interrupt::flag() const {
    return &asked_to_stop;
}

void interrupt::check() const {
    if (asked_to_stop) throw error(error_kind::cancelled, "interrupted");
}

}  // namespace tilewalk::cli
