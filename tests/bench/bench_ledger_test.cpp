// SPDX-License-Identifier: Apache-2.0
// Figures drawn from stored benchmark runs against their digests in tests/data/benchmarks.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/ledger.h"
#include "tilewalk/benchmark.h"

namespace tilewalk::bench_ledger_test {
namespace {

const std::filesystem::path source = TILEWALK_SOURCE_DIR;

TEST(bench_ledger, figures_are_those_of_the_ledger) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(source / "bench/results"))
        if (entry.path().filename().string().starts_with("2026-11-21-NVIDIA-H100") &&
            entry.path().extension() == ".jsonl")
            files.push_back(entry.path());
    std::ranges::sort(files);
    tests::kept_words made;
    for (const auto& file : files) {
        std::stringstream text;
        text << std::ifstream(file).rdbuf();
        const std::string name = file.filename().string();
        const auto rows = benchmark_results::parse(text.str(), name, true);
        for (const auto& [figure, drawn] : rows.figures()) tests::add_text(made, name + " " + figure, drawn);
        tests::add_text(made, name + " page", rows.page());
    }
    EXPECT_GT(made.size(), 20U);
    tests::expect_as_kept(made, source / "tests/data/benchmarks.txt",
                          "# Digests and sizes of figures of benchmarks. Written by `make bits`.\n");
}

}  // namespace
}  // namespace tilewalk::bench_ledger_test
