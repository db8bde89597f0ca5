// SPDX-License-Identifier: Apache-2.0
// Facts of CUDA kernels (registers, spills, instructions), cached in tests/data/kernels.txt by a digest of
// everything they depend on. An unknown kernel is compiled, which takes a second; `make kernels` rewrites the
// file with exactly what the tests ask for.
//
// With TILEWALK_KERNELS=ignore every kernel is compiled, and facts that differ from the file are a failure.
// With TILEWALK_KERNELS=/absolute/path the lines of all requested kernels are appended to that file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/digest.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/kernel_headers.h"
#include "tests/measured_kernel.h"

namespace tilewalk::tests {

// Digests of everything that a kernel's facts depend on: its text, the headers of kernels/ that it reaches,
// the architecture, NVRTC's version, and how it is compiled and measured. Comment lines are left out.
class kernel_digests {
  public:
    explicit kernel_digests(std::span<const cuda::kernel_header> headers = cuda::kernel_headers()) {
        for (const auto& [name, text] : headers)
            headers_[std::string(name)] = {config::sha256(without_comments(text)), included_by(text)};
        for (const char* const file :
             {"/engine/walk/cuda/compile/compiler.cpp", "/tests/measured_kernel.h"}) {
            std::ifstream in(std::string(TILEWALK_SOURCE_DIR) + file);
            std::stringstream text;
            if (!(text << in.rdbuf())) throw std::runtime_error(std::string("can't read ") + file);
            made_by_ += config::sha256(without_includes(without_comments(text.str()))) + '\n';
        }
    }

    std::string of(const cuda::compile_request& what, const std::vector<std::string>& words) const {
        std::set<std::string> reached;
        reach(what.text, reached);
        std::string all = cuda::nvrtc_version() + '\n' + made_by_ + what.architecture + '\n' +
                          std::to_string(what.headers.folders.empty()) + what.headers.digest + '\n';
        for (const std::string& name : reached) {
            const auto known = headers_.find(name);
            if (known != headers_.end()) all += name + ' ' + known->second.digest + '\n';
        }
        for (const std::string& word : words) all += word + '\n';
        return config::sha256(all + '\0' + what.text).substr(0, 16);
    }

  private:
    struct header {
        std::string digest;
        std::set<std::string> includes;
    };

    // All names in quotes that look like a header of kernels/, however they are included.
    static std::set<std::string> included_by(std::string_view text) {
        constexpr std::string_view begin = "\"kernels/";
        std::set<std::string> names;
        for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1))
            names.emplace(text.substr(at + 1, text.find('"', at + 1) - at - 1));
        return names;
    }

    static std::string without_comments(std::string_view text) {
        std::string out;
        while (!text.empty()) {
            const std::string_view line = text.substr(0, text.find('\n'));
            const std::size_t first = line.find_first_not_of(' ');
            const bool is_comment = first != line.npos && line.substr(first).starts_with("//");
            if (!is_comment || line.ends_with('\\')) out.append(line) += '\n';
            text.remove_prefix(std::min(text.size(), line.size() + 1));
        }
        return out;
    }

    static std::string without_includes(const std::string& text) {
        std::istringstream lines(text);
        std::string out;
        for (std::string line; std::getline(lines, line);)
            if (!line.starts_with("#include")) out += line + '\n';
        return out;
    }

    void reach(std::string_view text, std::set<std::string>& reached) const {
        std::vector<std::string> left;
        const auto add = [&](const std::set<std::string>& names) {
            for (const std::string& name : names)
                if (reached.insert(name).second) left.push_back(name);
        };
        add(included_by(text));
        while (!left.empty()) {
            const auto next = headers_.find(left.back());
            left.pop_back();
            if (next != headers_.end()) add(next->second.includes);
        }
    }

    std::map<std::string, header> headers_;  // by name
    std::string made_by_;
};

class kernel_ledger {
  public:
    // `how` is the value of TILEWALK_KERNELS. A missing file counts as empty.
    kernel_ledger(const std::filesystem::path& file, std::string how) : file_(file), how_(std::move(how)) {
        if (!how_.empty() && how_ != "ignore" && !how_.starts_with('/'))
            throw std::invalid_argument("TILEWALK_KERNELS is " + how_ +
                                        ", neither 'ignore' nor an absolute path");
        std::ifstream in(file);
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with('#')) continue;
            const std::size_t digest = line.find(' ');
            const std::string figures = digest == line.npos ? "" : line.substr(digest + 1);
            if (text_of(facts_in(figures)) != figures ||
                lines_.emplace(line.substr(0, digest), figures).first->second != figures)
                throw std::runtime_error(file.string() + ": no figures, or two of one kernel: " + line);
        }
    }

    bool knows(const cuda::compile_request& what, const std::vector<std::string>& words) const {
        return how_ != "ignore" && lines_.contains(digests_.of(what, words));
    }

    kernel_facts facts_of(const cuda::compile_request& what, const std::vector<std::string>& words) const {
        const std::string digest = digests_.of(what, words);
        const auto known = lines_.find(digest);
        kernel_facts out;
        if (known != lines_.end() && how_ != "ignore") {
            out = facts_in(known->second);
            out.log =
                file_.string() + ": " + digest + " (TILEWALK_KERNELS=ignore compiles it and shows the log)";
        } else {
            out = measured(cuda::nvrtc_compiler().compile(what, true), words);
        }
        if (known != lines_.end() && known->second != text_of(out)) {
            std::ostringstream said;
            said << file_.string() << ": " << digest << " is " << known->second << ", but the compiler makes "
                 << text_of(out) << "; remove its line and run `make kernels`\n"
                 << out;
            throw std::runtime_error(said.str());
        }
        if (how_.starts_with('/')) {
            std::ofstream to(how_, std::ios::app);  // processes append at once, each a line in one call
            if (!(to << digest + ' ' + text_of(out) + '\n' << std::flush))
                throw std::runtime_error("can't write " + how_);
        }
        return out;
    }

  private:
    static std::string text_of(const kernel_facts& of) {
        std::ostringstream out;
        out << of.kernels << ' ' << of.registers << ' ' << of.stack_bytes << ' ' << of.spill_stores << ' '
            << of.spill_loads << ' ' << of.warnings << ' ' << of.inexact << ' ' << of.contracted;
        for (const int count : of.words) out << ' ' << count;
        return out.str();
    }
    static kernel_facts facts_in(const std::string& text) {
        std::istringstream in(text);
        kernel_facts out;
        in >> out.kernels >> out.registers >> out.stack_bytes >> out.spill_stores >> out.spill_loads >>
            out.warnings >> out.inexact >> out.contracted;
        for (int count = 0; in >> count;) out.words.push_back(count);
        return out;
    }

    std::filesystem::path file_;
    std::string how_;
    kernel_digests digests_;
    std::map<std::string, std::string> lines_;  // figures, by the kernel's digest
};

inline const kernel_ledger& ledger() {
    static const kernel_ledger of_tests = [] {
        const char* const how = std::getenv("TILEWALK_KERNELS");
        return kernel_ledger(TILEWALK_SOURCE_DIR "/tests/data/kernels.txt", how != nullptr ? how : "");
    }();
    return of_tests;
}

// The facts of a kernel, from the ledger or by compiling it; `words` are counted in its PTX. Throws what the
// compiler throws. Only tests with `kernel` or `compile` in their name may call it: `make kernels` runs
// these.
inline kernel_facts facts_of(const cuda::compile_request& what, const std::vector<std::string>& words = {}) {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = std::string(test.test_suite_name()) + '.' + test.name();
    if (name.find("kernel") == name.npos && name.find("compile") == name.npos)
        throw std::logic_error(
            name + " has neither `kernel` nor `compile` in its name, which `make kernels` looks for");
    return ledger().facts_of(what, words);
}

// True if the ledger has the kernel's facts. A suite that compiles a share of its kernels checks all these.
inline bool is_known(const cuda::compile_request& what, const std::vector<std::string>& words = {}) {
    return ledger().knows(what, words);
}

}  // namespace tilewalk::tests
