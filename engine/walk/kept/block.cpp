// SPDX-License-Identifier: Apache-2.0
// Layout of a block: a mark, the text of the request, the number of records, the fingerprint and bytes of
// each, and the fingerprint of all bytes before. Numbers are little-endian 64-bit words.
#include "engine/walk/kept/block.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/walk/kept/kept_file.h"

namespace tilewalk::kept {

namespace {

constexpr std::string_view mark = "tilewalk block 1\n";
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;

void put(std::string& to, std::uint64_t word) {
    for (int i = 0; i < 8; ++i) to += static_cast<char>(word >> (8 * i) & 0xff);
}
void put(std::string& to, const key& of) {
    put(to, of.first);
    put(to, of.second);
}
void put(std::string& to, std::string_view text) {
    put(to, std::uint64_t{text.size()});
    to += text;
}

key sum_of(std::string_view bytes) {
    fingerprint of;
    of.add(bytes);
    return of.found();
}

// Reads values from the front of a file's bytes; a value is empty if the file ends too early.
class reader {
  public:
    explicit reader(std::string_view bytes) : left_(bytes) {}

    std::optional<std::string_view> bytes(std::uint64_t count) {
        if (count > left_.size()) return std::nullopt;
        const std::string_view out = left_.substr(0, static_cast<std::size_t>(count));
        left_.remove_prefix(static_cast<std::size_t>(count));
        return out;
    }
    std::optional<std::uint64_t> word() {
        const auto of = bytes(8);
        if (!of) return std::nullopt;
        std::uint64_t out = 0;
        for (std::size_t i = 0; i < 8; ++i)
            out |= std::uint64_t{static_cast<unsigned char>((*of)[i])} << (8 * i);
        return out;
    }
    std::optional<key> fingerprint_of() {
        const auto first = word(), second = word();
        if (!first || !second) return std::nullopt;
        return key{*first, *second};
    }
    std::optional<std::string_view> text() {
        const auto size = word();
        return size ? bytes(*size) : std::nullopt;
    }
    bool is_at_end() const { return left_.empty(); }

  private:
    std::string_view left_;
};

// Empty if write_block did not write these bytes.
std::optional<read_block> taken_from(std::string_view all, std::string_view request) {
    constexpr std::size_t sum_bytes = 16;
    if (all.size() < mark.size() + sum_bytes || !all.starts_with(mark)) return std::nullopt;
    const std::string_view summed = all.substr(0, all.size() - sum_bytes);
    if (reader(all.substr(summed.size())).fingerprint_of() != sum_of(summed)) return std::nullopt;
    reader from(summed.substr(mark.size()));
    const auto of = from.text();
    if (!of) return std::nullopt;
    read_block out;
    if (*of != request) {
        out.is = finding::of_another_request;
        return out;
    }
    const auto count = from.word();
    for (std::uint64_t left = count.value_or(0); left > 0; --left) {
        const auto what = from.fingerprint_of();
        const auto bytes = from.text();
        if (!what || !bytes) return std::nullopt;
        out.records.push_back({*what, std::string(*bytes)});
    }
    if (!count || !from.is_at_end()) return std::nullopt;
    out.is = finding::whole;
    return out;
}

}  // namespace

void write_block(const std::filesystem::path& file, std::string_view request,
                 const std::vector<record>& all) {
    std::string bytes(mark);
    put(bytes, request);
    put(bytes, std::uint64_t{all.size()});
    for (const auto& [of, what] : all) {
        put(bytes, of);
        put(bytes, what);
    }
    put(bytes, sum_of(bytes));
    write_file(file, bytes);
}

read_block block_in(const std::filesystem::path& file, std::string_view request) {
    std::string bytes;
    const reading got = read_file(file, most_bytes, bytes);
    if (got == reading::absent) return {};
    if (got == reading::done)
        if (auto taken = taken_from(bytes, request)) return *std::move(taken);
    return {finding::damaged};
}

}  // namespace tilewalk::kept
