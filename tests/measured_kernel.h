// SPDX-License-Identifier: Apache-2.0
// Figures of compiled CUDA kernels, from ptxas's report and from PTX. A change of this file makes every
// kernel unknown to the ledger of tests/known_kernels.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/cuda/compile/compiler.h"

namespace tilewalk::tests {

struct kernel_facts {
    int kernels = 0;  // reports of ptxas: one for each kernel of the text
    // The maximum over the kernels of the text.
    int registers = 0, stack_bytes = 0, spill_stores = 0, spill_loads = 0;
    int warnings = 0;
    int inexact = 0, contracted = 0;  // lines of PTX, see below
    std::vector<int> words;           // how often the PTX has each word that was asked for
    std::string log;                  // for people: the compiler's log and those lines

    bool is_in_registers() const {
        return kernels > 0 && stack_bytes == 0 && spill_stores == 0 && spill_loads == 0;
    }
};

inline std::ostream& operator<<(std::ostream& to, const kernel_facts& of) {
    return to << of.kernels << " kernels, " << of.registers << " registers, " << of.stack_bytes
              << " bytes stack frame, " << of.spill_stores << " bytes spill stores, " << of.spill_loads
              << " bytes spill loads, " << of.warnings << " warnings\n"
              << of.log;
}

inline int occurrences(std::string_view text, std::string_view word) {
    int count = 0;
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
    return count;
}

// Lines of PTX with a floating-point operation that is not IEEE 754's as the source writes it, or with a
// call. Additions and multiplications carry .rn, without which ptxas may contract them. One approximation is
// allowed as inline assembly, in kernels::sqrt_of_middle_range, which goes on to round correctly.
inline std::string inexact_in(const std::string& ptx) {
    static const std::regex exact(
        "(add|sub|mul|div|fma|sqrt|rcp)\\.rn\\.f(32|64)|(neg|abs|min|max|copysign|mov|selp)\\.f(32|64)|"
        "setp\\.\\w+(\\.(and|or|xor))?\\.f(32|64)|"
        "tex\\.1d\\.v4\\.f32\\.s32|(ld|st)(\\.\\w+)*(\\.v[24])?\\.f(32|64)|cvt(\\.r[nzmp]i?)?\\.\\w+\\.f(32|"
        "64)|cvt\\.rn\\.f(32|64)\\."
        "\\w+");
    static const std::regex guess("rsqrt\\.approx\\.ftz\\.f(32|64)");
    static const std::regex floating("\\.(f16|f16x2|bf16|bf16x2|tf32|f32|f32x2|f64)(\\.|$)");
    std::istringstream lines(ptx);
    std::string line, found;
    bool written = false;
    while (std::getline(lines, line)) {
        if (line.find("begin inline asm") != std::string::npos) written = true;
        if (line.find("end inline asm") != std::string::npos) written = false;
        std::istringstream words(line.substr(0, line.find("//")));
        std::string operation;
        words >> operation;
        if (operation.starts_with('@')) words >> operation;
        if (operation.empty() || operation.starts_with('.')) continue;
        if (operation.ends_with(';')) operation.pop_back();
        if (written && std::regex_match(operation, guess)) continue;
        const bool is_call = operation.starts_with("call");
        if (is_call || (std::regex_search(operation, floating) && !std::regex_match(operation, exact))) {
            found += line + '\n';
        }
    }
    return found;
}

// Lines of PTX with a fused operation that the compiler made itself, outside of inline assembly.
inline std::string contracted_in(const std::string& ptx) {
    std::istringstream lines(ptx);
    std::string line, found;
    bool written = false;
    while (std::getline(lines, line)) {
        if (line.find("begin inline asm") != std::string::npos) written = true;
        if (line.find("end inline asm") != std::string::npos) written = false;
        if (!written && line.find("fma.") != std::string::npos) found += line + '\n';
    }
    return found;
}

inline kernel_facts measured(const cuda::compiled& of, const std::vector<std::string>& words = {}) {
    static const std::regex report(
        "(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads|Used (\\d+) "
        "registers");
    kernel_facts out;
    const auto raise = [](int& most, const std::string& figure) { most = std::max(most, std::stoi(figure)); };
    for (std::sregex_iterator at(of.log.begin(), of.log.end(), report), end; at != end; ++at) {
        if ((*at)[4].matched) {
            raise(out.registers, (*at)[4]);
            continue;
        }
        ++out.kernels;
        raise(out.stack_bytes, (*at)[1]);
        raise(out.spill_stores, (*at)[2]);
        raise(out.spill_loads, (*at)[3]);
    }
    out.warnings = occurrences(of.log, "warning");
    const std::string inexact = inexact_in(of.ptx), contracted = contracted_in(of.ptx);
    out.inexact = occurrences(inexact, "\n");
    out.contracted = occurrences(contracted, "\n");
    for (const std::string& word : words) out.words.push_back(occurrences(of.ptx, word));
    out.log = of.log + "\ninexact:\n" + inexact + "contracted:\n" + contracted;
    return out;
}

}  // namespace tilewalk::tests
