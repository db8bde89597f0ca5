// SPDX-License-Identifier: Apache-2.0
// Blocks of kept work are valid only if complete and undamaged. Work done in shares, in blocks and in several
// attempts merges to the tallies of a single walk.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/decide/settled.h"
#include "engine/plan/trade_program.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/arrays/shock_writer.h"
#include "engine/walk/cost.h"
#include "engine/walk/cpu/back_end.h"
#include "engine/walk/kept/block.h"
#include "engine/walk/kept/fingerprints_of_jobs.h"
#include "engine/walk/kept/kept_file.h"
#include "engine/walk/kept/store.h"
#include "engine/walk/kept/work.h"
#include "tests/own_folder.h"
#include "tests/refusal.h"
#include "tests/texts.h"
#include "tilewalk/book.h"
#include "tilewalk/error.h"

namespace tilewalk::kept::kept_test {
namespace {

using tests::text_of;

const std::vector<record> some_records{{{1, 2}, "Dfirst"}, {{3, 4}, std::string("D\0\1", 3)}, {{5, 6}, "D"}};

TEST(kept_blocks, are_read_as_they_were_written) {
    const tests::own_folder folder;
    write_block(folder / "a.kept", "request", some_records);
    const read_block found = block_in(folder / "a.kept", "request");
    EXPECT_EQ(found.is, finding::whole);
    EXPECT_EQ(found.records, some_records);
    EXPECT_EQ(block_in(folder / "a.kept", "another").is, finding::of_another_request);
    EXPECT_EQ(block_in(folder / "b.kept", "request").is, finding::absent);
    write_block(folder / "b.kept", "request", some_records);
    EXPECT_EQ(text_of(folder / "a.kept"), text_of(folder / "b.kept"));
}

TEST(kept_blocks, are_damaged_by_every_flip_and_cut) {
    const tests::own_folder folder;
    const std::filesystem::path file = folder / "a.kept";
    write_block(file, "request", some_records);
    const std::string whole = text_of(file);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        folder.write("a.kept", whole.substr(0, size));
        EXPECT_EQ(block_in(file, "request").is, finding::damaged) << size;
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string other = whole;
            other[at] = static_cast<char>(other[at] ^ (1 << bit));
            folder.write("a.kept", other);
            EXPECT_EQ(block_in(file, "request").is, finding::damaged) << at << ", bit " << bit;
        }
    }
    folder.write("a.kept", whole + "x");
    EXPECT_EQ(block_in(file, "request").is, finding::damaged);
}

class full_disk {
  public:
    explicit full_disk(::rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
        if (::getrlimit(RLIMIT_FSIZE, &before_) != 0) ADD_FAILURE();
        ::rlimit small = before_;
        small.rlim_cur = bytes;
        if (::setrlimit(RLIMIT_FSIZE, &small) != 0) ADD_FAILURE();
    }
    ~full_disk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, signal_);
    }
    full_disk(const full_disk&) = delete;
    full_disk& operator=(const full_disk&) = delete;

  private:
    ::rlimit before_{};
    void (*signal_)(int);
};

TEST(kept_files, that_can_not_be_written_leave_the_one_before) {
    const tests::own_folder folder;
    const std::filesystem::path file = folder / "a";
    const auto files = [&] {
        std::vector<std::string> out;
        for (const auto& one : std::filesystem::directory_iterator(folder.path()))
            out.push_back(one.path().filename());
        return out;
    };
    const std::string large(5000, 'x');
    const auto written_to_full_disk = [&] {
        const full_disk full(1000);
        return tests::refusal([&] { write_file(file, large); });
    };
    EXPECT_NE(written_to_full_disk(), tests::nothing_refused);
    EXPECT_EQ(files(), std::vector<std::string>{}) << "a part of a file is none";
    write_file(file, "before");
    EXPECT_NE(written_to_full_disk(), tests::nothing_refused);
    EXPECT_EQ(files(), std::vector<std::string>{"a"});
    EXPECT_EQ(text_of(file), "before");
    write_file(file, large);
    EXPECT_EQ(text_of(file), large);
    EXPECT_EQ(files(), std::vector<std::string>{"a"});
}

TEST(kept_stores, lose_one_block_at_most_and_take_nothing_wrong) {
    const tests::own_folder folder;
    std::vector<record> all;
    for (std::uint64_t block = 0; block < 5; ++block) {
        store to("request", folder.path());
        for (std::uint64_t k = 0; k < 3; ++k) {
            const key what{block, k};
            if (to.text_of(what)) continue;
            to.keep(what, std::string(5 + k, static_cast<char>('a' + block)));
        }
        run::tally found(4);
        found.add({block % 4, 1}, {{1024, 1.5, 2, 3, 4}});
        to.keep({block, 9}, found);
        to.flush();
        all = to.texts();
        for (const record& r : to.tallies()) all.push_back(r);
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        files.push_back(entry.path());
    ASSERT_EQ(files.size(), 5U);
    const auto look = [&](std::size_t damaged, const std::string& name) {
        const store found("request", folder.path());
        EXPECT_EQ(found.damaged().size(), damaged) << name;
        std::vector<record> taken = found.texts();
        for (const record& r : found.tallies()) taken.push_back(r);
        EXPECT_EQ(taken.size(), all.size() - 4 * damaged) << name;
        for (const record& r : taken) EXPECT_NE(std::ranges::find(all, r), all.end()) << name;
    };
    look(0, "whole");
    for (const std::filesystem::path& file : files) {
        const std::string whole = text_of(file);
        for (std::size_t at = 0; at < whole.size(); ++at) {
            std::string other = whole;
            other[at] = static_cast<char>(other[at] ^ (1 << (at % 8)));
            std::ofstream(file, std::ios::binary) << other;
            look(1, "flip " + std::to_string(at));
            std::ofstream(file, std::ios::binary) << whole.substr(0, at);
            look(1, "cut " + std::to_string(at));
        }
        std::ofstream(file, std::ios::binary) << whole;
    }
    look(0, "whole again");
}

TEST(kept_fingerprints, differ_where_a_bit_or_a_border_does) {
    std::vector<key> all;
    const auto take = [&](const auto& add) {
        fingerprint of;
        add(of);
        all.push_back(of.found());
    };
    take([](fingerprint&) {});
    take([](fingerprint& of) { of.add(std::uint64_t{0}); });
    take([](fingerprint& of) {
        of.add(std::uint64_t{0});
        of.add(std::uint64_t{0});
    });
    for (int bit = 0; bit < 64; ++bit) take([&](fingerprint& of) { of.add(std::uint64_t{1} << bit); });
    for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
             {"ab", "c"}, {"a", "bc"}, {"", "abc"}, {"abc", ""}, {"abc", std::string(1, '\0')}}) {
        take([&](fingerprint& of) {
            of.add(a);
            of.add(b);
        });
    }
    take([](fingerprint& of) { of.add(std::vector<double>{0.0, -0.0}); });
    take([](fingerprint& of) { of.add(std::vector<double>{-0.0, 0.0}); });
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

// Walks of three trades over 37 tiles, one of them an option with a long path.
class kept_walks_in_parts : public testing::Test {
  protected:
    static constexpr std::uint64_t paths = 37 * kernels::paths_per_tile - 100;

    kept_walks_in_parts() {
        for (const books::trade& t : state_of(trades_).trades)
            plans_.push_back(plan::plan_trade(t, state_of(*trades_.market())));
        for (const plan::trade_program& p : plans_) jobs_.push_back({&p.code, &p.data, &p.when});
        asked_.jobs = jobs_;
        asked_.seed = 42;
        asked_.paths = paths;
    }

    std::vector<run::tally> walk(work& by) {
        std::vector<run::tally> out(jobs_.size(), run::tally(1));
        const walker on = [&](const run::walk& of, const tally_callback& take) {
            run::outcome got = back_end_.walk_all(of);
            jobs_of_walks_.push_back(of.jobs.size());
            for (std::size_t k = 0; k < of.jobs.size(); ++k) {
                tiles_walked_ += of.tiles.count;
                take(k, got.tallies[k]);
            }
            return got.failures;
        };
        const auto failures =
            by.walk(on, asked_, jobs_, by_, [&](std::size_t k, const run::tally& found) { out[k] = found; });
        for (const auto& f : failures) EXPECT_FALSE(f);
        return out;
    }

    const book trades_ = book::parse(
        "market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100, "
        "volatility: 0.2}}}\ntrades:\n"
        "  - {id: call, product: european, underlying: A, strike: 100, maturity: 1}\n"
        "  - {id: same_path, product: european, underlying: A, strike: 110, maturity: 1, option: put}\n"
        "  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, "
        "count: 25}}\n");
    std::vector<plan::trade_program> plans_;
    std::vector<run::job> jobs_;
    run::walk asked_;
    conditions by_{"double", "philox", "tree"};
    cpu::back_end back_end_{studies::operations_named("auto"), 2, program::precision::double_};
    std::uint64_t tiles_walked_ = 0;
    std::vector<std::size_t> jobs_of_walks_;
};

TEST_F(kept_walks_in_parts, have_the_shocks_that_they_replay_in_their_fingerprints) {
    const tests::own_folder folder;
    std::vector<key> all;
    for (std::size_t changed = 0; changed <= 12; ++changed) {
        std::vector<double> shocks(12, 0.5);
        if (changed < 12) shocks[changed] = 0.25;
        const auto file = folder / std::to_string(changed);
        arrays::write_shocks<double>(file, {2, 2, 0, 3, shocks, {}});
        const arrays::shock_file replay(file, arrays::element::double_);
        asked_.replay = &replay;
        all.push_back(fingerprints_of_jobs(asked_, by_).key_of(jobs_[0]));
    }
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST_F(kept_walks_in_parts, have_their_ways_back_and_points_in_their_fingerprints) {
    std::vector<key> all;
    const auto take = [&](const auto& change, std::size_t data = 0) {
        program::adjoint_program code;
        code.back = code.again = plans_[0].code;
        code.sections.resize(2);
        change(code);
        run::job job = jobs_[0];
        job.back = {&code, &plans_[data].data};
        all.push_back(fingerprints_of_jobs(asked_, by_).key_of(job));
    };
    using adjoint = program::adjoint_program;
    take([](adjoint&) {});
    take([](adjoint&) {}, 2);
    take([&](adjoint& a) { a.back = plans_[2].code; });
    take([&](adjoint& a) { a.again = plans_[2].code; });
    for (const program::derivative_in& one : {program::derivative_in{1, 2}, program::derivative_in{2, 1}}) {
        take([&](adjoint& a) { a.initial_states = {one}; });
        take([&](adjoint& a) { a.terms = {one}; });
        for (std::size_t section = 0; section < 2; ++section) {
            take([&](adjoint& a) { a.sections[section].given = {one}; });
            take([&](adjoint& a) { a.sections[section].rows = {one}; });
            take([&](adjoint& a) { a.sections[section].scenarios = {one}; });
            take([&](adjoint& a) { a.sections[section].tables = {{1, {{one.number, one.state}}}}; });
            take([&](adjoint& a) { a.sections[section].tables = {{2, {{one.number, one.state}}}}; });
        }
    }
    take([](adjoint& a) { a.smoothed = {{0, 1}}; });
    take([](adjoint& a) { a.smoothed = {{1, 0}}; });
    take([](adjoint& a) { a.smoothed = {{0, 1}, {1, 0}}; });
    take([](adjoint& a) { a.seeded = 1; });
    take([](adjoint& a) { a.has_control = true; });
    asked_.unit_paths = 4096;
    run::job job = jobs_[0];
    all.push_back(fingerprints_of_jobs(asked_, by_).key_of(job));
    for (const std::string_view name : quasi::construction_names) {
        job.points = quasi::points{quasi::construction_named(name)};
        all.push_back(fingerprints_of_jobs(asked_, by_).key_of(job));
    }
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST_F(kept_walks_in_parts, merge_to_one_walk_from_shares_in_any_order) {
    const std::vector<run::tally> whole = back_end_.walk_all(asked_).tallies;
    std::mt19937_64 dice(1);
    for (const std::uint64_t count : {1U, 2U, 3U, 7U, 37U, 50U}) {
        const auto all = std::make_shared<store>("request");
        std::vector<std::uint64_t> order(count);
        for (std::uint64_t k = 0; k < count; ++k) order[k] = k;
        std::ranges::shuffle(order, dice);
        tiles_walked_ = 0;
        for (const std::uint64_t k : order) {
            const auto own = std::make_shared<store>("request");
            work part(own, share{k, k + 1, count});
            walk(part);
            all->add_records(own->tallies());
        }
        EXPECT_EQ(tiles_walked_, 37 * jobs_.size()) << count;
        work known = work::that_is_known(all);
        EXPECT_EQ(walk(known), whole) << count;
    }
}

// Parts of a run, each a run of its own, are cut into shares where the whole run is.
TEST_F(kept_walks_in_parts, merge_to_one_walk_from_shares_of_parts) {
    const std::vector<run::tally> whole = back_end_.walk_all(asked_).tallies;
    constexpr std::uint64_t parts = 5;
    for (const std::uint64_t count : {1U, 2U, 3U, 7U, 37U, 50U}) {
        std::vector<std::shared_ptr<store>> all;
        std::generate_n(std::back_inserter(all), parts, [] { return std::make_shared<store>("request"); });
        std::uint64_t walked = 0;
        tiles_walked_ = 0;
        for (std::uint64_t k = 0; k < count; ++k) {
            for (std::uint64_t p = 0; p < parts; ++p) {
                const auto own = std::make_shared<store>("request");
                work part = work(own, share{k, k + 1, count}).of_part(p, parts);
                if (part.walks_any_of(37)) ++walked;
                walk(part);
                all[p]->add_records(own->tallies());
            }
        }
        EXPECT_EQ(tiles_walked_, parts * 37 * jobs_.size()) << count;
        EXPECT_LE(walked, parts + count - 1) << "shares cut " << count - 1 << " parts at most";
        for (const auto& of_part : all) {
            work known = work::that_is_known(of_part);
            EXPECT_EQ(walk(known), whole) << count;
        }
    }
}

TEST_F(kept_walks_in_parts, go_on_from_blocks_and_walk_no_tile_twice) {
    const std::vector<run::tally> whole = back_end_.walk_all(asked_).tallies;
    const tests::own_folder folder;
    {
        work first(std::make_shared<store>("request", folder.path(), 1e-4), share{5, 20, 37});
        walk(first);
        first.known().flush();
    }
    const std::uint64_t walked_first = tiles_walked_;
    EXPECT_EQ(walked_first, 15 * jobs_.size());
    std::size_t blocks = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++blocks;
    EXPECT_GT(blocks, jobs_.size());
    work second(std::make_shared<store>("request", folder.path()));
    EXPECT_EQ(second.known().blocks_taken(), blocks);
    EXPECT_EQ(walk(second), whole);
    EXPECT_EQ(tiles_walked_ - walked_first, 22 * jobs_.size());
}

// The first block's size follows from an assumed speed of 2^30 operations a second.
TEST_F(kept_walks_in_parts, a_trade_of_several_blocks_shares_none_with_others) {
    std::vector<double> operations;
    for (const run::job& j : jobs_)
        operations.push_back(37. * kernels::paths_per_tile * (run::operations_of(j) + 1));
    const double small = operations[0] + operations[1];
    ASSERT_GT(operations[2], 5 * small);
    const tests::own_folder folder;
    work by(std::make_shared<store>("request", folder.path(), 2 * small / (1 << 30)));
    EXPECT_EQ(walk(by), back_end_.walk_all(asked_).tallies);
    EXPECT_EQ(jobs_of_walks_.at(0), 2u);
    EXPECT_EQ(std::ranges::max(jobs_of_walks_), 2u);
}

TEST_F(kept_walks_in_parts, are_not_taken_by_a_request_of_other_paths) {
    const auto known = std::make_shared<store>("request");
    work first(known);
    walk(first);
    const auto has_all = [&](const run::walk& asked, const conditions& by) {
        return work::that_is_known(known)
            .take_known(asked, by, [](std::size_t, const run::tally&) {})
            .empty();
    };
    EXPECT_TRUE(has_all(asked_, by_));
    run::walk other = asked_;
    other.seed = 43;
    EXPECT_FALSE(has_all(other, by_));
    other = asked_;
    other.paths += 1;
    EXPECT_FALSE(has_all(other, by_));
    other = asked_;
    other.unit_paths = 1024;
    EXPECT_FALSE(has_all(other, by_));
    for (const conditions& c :
         {conditions{"single", "philox", "tree"}, conditions{"double", "philox_7", "tree"},
          conditions{"double", "philox", "atomic"}})
        EXPECT_FALSE(has_all(asked_, c));
    program::path_data data = *jobs_[0].data;
    data.initial_states[0] = std::nextafter(data.initial_states[0], 1e9);
    jobs_[0].data = &data;
    EXPECT_FALSE(has_all(asked_, by_));
    program::path_data of_another_asset = plans_[0].data;
    of_another_asset.normal_names.at(0) = program::stream_name("B");
    jobs_[0].data = &of_another_asset;
    EXPECT_FALSE(has_all(asked_, by_));
}

TEST_F(kept_walks_in_parts, say_what_is_missing_where_nothing_may_be_walked) {
    const auto known = std::make_shared<store>("request");
    work part(known, share{0, 36, 37});
    walk(part);
    work all = work::that_is_known(known);
    EXPECT_THROW(walk(all), error);
}

// Work that one process does as a whole, such as a bound, belongs to the share with the first tile, and other
// shares do none of it. It is written to a file once a block's time is over.
TEST_F(kept_walks_in_parts, do_as_a_whole_what_has_no_tiles_of_its_own) {
    const run::tally whole = back_end_.walk_all(asked_).tallies[0];
    const key what{1, 2};
    int made = 0;
    const auto make = [&] {
        ++made;
        return whole;
    };
    for (const std::uint64_t first : {1U, 2U}) {
        const auto other = std::make_shared<store>("request");
        work(other, share{first, first + 1, 3}).whole(what, 37, make);
        EXPECT_EQ(made, 0) << first;
        EXPECT_FALSE(other->tally_of(what)) << first;
    }
    const tests::own_folder folder;
    const auto own = std::make_shared<store>("request", folder.path(), 0);
    work part(own, share{0, 1, 3});
    for (int times = 0; times < 2; ++times) {
        EXPECT_EQ(part.whole(what, 37, make), whole);
        EXPECT_EQ(made, 1) << "it is known then";
    }
    EXPECT_EQ(store("request", folder.path()).tally_of(what), whole);
    work known = work::that_is_known(std::make_shared<store>("request"));
    EXPECT_THROW(known.whole(what, 37, make), error);
    EXPECT_EQ(made, 1);
}

TEST_F(kept_walks_in_parts, a_trade_of_which_a_block_fails_is_none_and_says_why) {
    const std::vector<run::tally> whole = back_end_.walk_all(asked_).tallies;
    const tests::own_folder folder;
    work by(std::make_shared<store>("request", folder.path(), 1e-4));
    int blocks_of_last = 0;
    const walker on = [&](const run::walk& of, const tally_callback& take) {
        run::outcome got = back_end_.walk_all(of);
        for (std::size_t k = 0; k < of.jobs.size(); ++k) {
            const bool is_last = of.jobs[k].data == jobs_[2].data;
            if (is_last && blocks_of_last++ == 1)
                got.failures[k] = error(error_kind::input, "a block of it failed");
            else
                take(k, got.tallies[k]);
        }
        return got.failures;
    };
    std::vector<std::optional<run::tally>> found(jobs_.size());
    const auto failures =
        by.walk(on, asked_, jobs_, by_, [&](std::size_t k, const run::tally& t) { found[k] = t; });
    EXPECT_GE(blocks_of_last, 2);
    for (const std::size_t k : {0U, 1U}) {
        EXPECT_FALSE(failures.at(k));
        EXPECT_EQ(found[k], whole[k]);
    }
    ASSERT_TRUE(failures.at(2));
    EXPECT_STREQ(failures[2]->what(), "a block of it failed");
    EXPECT_FALSE(found[2]);
}

TEST_F(kept_walks_in_parts, stop_between_blocks_and_lose_none) {
    const tests::own_folder folder;
    std::atomic<bool> stop = false;
    asked_.cancel = &stop;
    asked_.on_progress = [&](const run::progress&) {
        if (tiles_walked_ >= 30) stop = true;
    };
    {
        work first(std::make_shared<store>("request", folder.path(), 1e-4));
        EXPECT_THROW(walk(first), error);
    }
    const std::uint64_t walked_first = tiles_walked_;
    EXPECT_GE(walked_first, 30U);
    EXPECT_LT(walked_first, 37 * jobs_.size());
    asked_.cancel = nullptr;
    asked_.on_progress = {};
    work second(std::make_shared<store>("request", folder.path()));
    EXPECT_EQ(walk(second), back_end_.walk_all(asked_).tallies);
    EXPECT_EQ(tiles_walked_, 37 * jobs_.size());
}

}  // namespace
}  // namespace tilewalk::kept::kept_test
