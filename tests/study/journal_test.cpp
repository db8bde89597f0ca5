// SPDX-License-Identifier: Apache-2.0
// A run with a journal that was ended at any moment, or whose journal was damaged, resumes and ends with the
// bits of an undisturbed run.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/market_text.h"
#include "tests/own_folder.h"
#include "tests/texts.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::journal_test {
namespace {

// Three trades without rights, one with a right, and paths enough for pilots, also of the digital's jump.
const std::string text_of_book = R"(
settings: {paths: 16384, seed: 7, threads: 2}
market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2}
    B: {currency: USD, spot: 80, volatility: 0.3}
  correlations: [[A, B, 0.4]]
trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: digital, product: digital, underlying: A, strike: 105, maturity: 1, payout: 10}
  - {id: both, product: basket, basket: [A, B], weights: [0.5, 0.5], strike: 90, maturity: 1}
  - {id: early, product: american, underlying: A, strike: 100, maturity: 1, option: put}
)";

std::string shown(const results& r, bool has_greeks) {
    std::ostringstream out;
    write(out, r, output_format::csv);
    if (has_greeks) write_greeks(out, r, output_format::csv);
    return out.str();
}

std::string run(const book& trades, bool has_greeks, const std::string& journal,
                double block_seconds = 0.001) {
    run_options with;
    with.journal = journal;
    with.journal_block_seconds = block_seconds;
    const engine by;
    const results r =
        has_greeks ? by.greeks(trades, *trades.market(), {{"delta", "vega"}}, with) : by.price(trades, with);
    return shown(r, has_greeks);
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) out.push_back(entry.path());
    return out;
}

class journal : public testing::TestWithParam<bool> {
  protected:
    const book trades_ = book::parse(text_of_book);
    const std::string whole_ = run(trades_, GetParam(), "");
};
INSTANTIATE_TEST_SUITE_P(of, journal, testing::Bool(),
                         [](const auto& of) { return of.param ? "greeks" : "prices"; });

TEST_P(journal, changes_no_bit_and_is_taken_up) {
    const tests::own_folder folder;
    EXPECT_EQ(run(trades_, GetParam(), folder.path()), whole_);
    const std::size_t files = files_in(folder.path()).size();
    EXPECT_GT(files, 3U);
    EXPECT_EQ(run(trades_, GetParam(), folder.path()), whole_);
    EXPECT_EQ(files_in(folder.path()).size(), files) << "something was done twice";
}

// Equal trades on equal assets: their random numbers differ, since these go by the asset's name.
TEST(journal_of_alike_trades, keeps_the_paths_of_each) {
    const std::string terms = ", strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}\n";
    const book trades =
        book::parse("settings: {paths: 16384, seed: 7, threads: 2}\n" +
                    tests::in_book(tests::dollar_market(
                        0.03, {{"A", "spot: 100, volatility: 0.2"}, {"B", "spot: 100, volatility: 0.2"}})) +
                    "trades:\n  - {id: a, product: asian, underlying: A" + terms +
                    "  - {id: b, product: asian, underlying: B" + terms);
    const tests::own_folder folder;
    const std::string whole = run(trades, false, "");
    EXPECT_EQ(run(trades, false, folder.path()), whole);
    EXPECT_EQ(run(trades, false, folder.path()), whole);
}

TEST_P(journal, of_another_request_is_left_alone) {
    const tests::own_folder folder;
    EXPECT_EQ(run(trades_, GetParam(), folder.path()), whole_);
    const book changed = book::parse(tests::replaced(text_of_book, "spot: 100", "spot: 101"));
    EXPECT_EQ(run(changed, GetParam(), folder.path()), run(changed, GetParam(), ""));
    EXPECT_EQ(run(trades_, GetParam(), folder.path()), whole_);
}

TEST_P(journal, survives_100_kills) {
    const tests::own_folder folder;
    std::mt19937_64 dice(GetParam() ? 11 : 12);
    int killed = 0, ended = 0;
    double longest = 0.3;
    for (int attempt = 0; killed < 100 && attempt < 400; ++attempt) {
        const pid_t child = ::fork();
        if (child == 0) {
            const bool is_right = run(trades_, GetParam(), folder.path()) == whole_;
            ::_exit(is_right ? 0 : 1);
        }
        ASSERT_GT(child, 0);
        const double wait = std::uniform_real_distribution<double>(0, longest)(dice);
        std::this_thread::sleep_for(std::chrono::duration<double>(wait));
        ::kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status)) {
            ++killed;
            continue;
        }
        ASSERT_EQ(WEXITSTATUS(status), 0) << "attempt " << attempt << " came to other bits";
        ++ended;
        longest = std::max(0.02, longest * 0.8);
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            std::filesystem::remove_all(entry.path());
    }
    EXPECT_GE(killed, 100);
    EXPECT_EQ(run(trades_, GetParam(), folder.path()), whole_);
}

// kept_test damages every byte of a journal; here a run resumes from such a journal.
TEST_P(journal, with_a_damaged_block_is_done_again) {
    const tests::own_folder folder;
    EXPECT_EQ(run(trades_, GetParam(), folder.path(), 0.01), whole_);
    std::mt19937_64 dice(5);
    const std::vector<std::filesystem::path> files = files_in(folder.path());
    for (const std::filesystem::path& file : files) {
        const std::string whole = tests::text_of(file);
        for (const bool is_cut : {false, true}) {
            std::string other = whole;
            const std::size_t at = std::uniform_int_distribution<std::size_t>(0, whole.size() - 1)(dice);
            if (is_cut)
                other.resize(at);
            else
                other[at] = static_cast<char>(other[at] ^ (1 << (at % 8)));
            std::ofstream(file, std::ios::binary) << other;
            ASSERT_EQ(run(trades_, GetParam(), folder.path(), 0.01), whole_) << file << " at " << at;
        }
        std::ofstream(file, std::ios::binary) << whole;
    }
}

TEST_P(journal, of_a_folder_that_can_not_be_written_is_an_error) {
    const tests::own_folder folder;
    folder.write("file", "x");
    EXPECT_THROW(run(trades_, GetParam(), folder / "file"), error);
}

}  // namespace
}  // namespace tilewalk::journal_test
