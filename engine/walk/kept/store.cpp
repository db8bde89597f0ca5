// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/kept/store.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "tilewalk/error.h"

namespace tilewalk::kept {

namespace {

using clock = std::chrono::steady_clock;
constexpr std::string_view ending_of_blocks = ".kept";
constexpr char is_tally = 'T', is_text = 'D';

std::string bytes_of(const run::tally& of) {
    std::ostringstream out;
    out << is_tally;
    run::write(out, {&of, 1});
    return out.str();
}

run::tally tally_in(const std::string& bytes) {
    std::istringstream in(bytes.substr(1));
    return std::move(run::read_tallies(in, "a block").front());
}

// The name follows from the records, so that a block written twice is one file.
std::string name_of_block(const std::vector<record>& all) {
    fingerprint of;
    for (const auto& [what, bytes] : all) {
        of.add(what.first);
        of.add(what.second);
        of.add(bytes);
    }
    return "block-" + of.found().text() + std::string(ending_of_blocks);
}

}  // namespace

store::store(std::string request, std::filesystem::path folder, double block_seconds)
    : request_(std::move(request)), folder_(std::move(folder)), block_seconds_(block_seconds) {
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    if (failed) fail_to_write({folder_.string()}, failed.value());
    std::vector<std::filesystem::path> blocks;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, failed))
        if (entry.path().extension() == ending_of_blocks) blocks.push_back(entry.path());
    if (failed) fail_to_write({folder_.string()}, failed.value());
    std::ranges::sort(blocks);
    for (const std::filesystem::path& file : blocks) {
        const read_block found = block_in(file, request_);
        if (found.is != finding::whole) {
            damaged_.push_back(file.string());
            continue;
        }
        ++blocks_taken_;
        add_records(found.records);
    }
}

void store::add_records(std::span<const record> all) {
    const std::lock_guard guard(lock_);
    for (const record& one : all) take_one(one);
}

void store::take_one(const record& one) {
    if (one.bytes.starts_with(is_text)) {
        texts_.try_emplace(one.of, one.bytes.substr(1));
        return;
    }
    run::tally found = tally_in(one.bytes);
    const auto at = tallies_.find(one.of);
    if (at == tallies_.end())
        tallies_.emplace(one.of, std::move(found));
    else
        at->second.add_unknown(found);
}

std::optional<run::tally> store::tally_of(const key& what) const {
    const std::lock_guard guard(lock_);
    const auto at = tallies_.find(what);
    if (at == tallies_.end()) return std::nullopt;
    return at->second;
}

std::optional<std::string> store::text_of(const key& what) const {
    const std::lock_guard guard(lock_);
    const auto at = texts_.find(what);
    if (at == texts_.end()) return std::nullopt;
    return at->second;
}

void store::keep(const key& what, const run::tally& found) {
    const std::lock_guard guard(lock_);
    const auto at = tallies_.find(what);
    if (at == tallies_.end())
        tallies_.emplace(what, found);
    else
        at->second.add_unknown(found);
    if (!folder_.empty()) pending_.push_back({what, bytes_of(found)});
}

void store::keep(const key& what, const std::string& text) {
    const std::lock_guard guard(lock_);
    if (!texts_.try_emplace(what, text).second || folder_.empty()) return;
    pending_.push_back({what, is_text + text});
    if (is_due()) write_pending();
}

bool store::is_due() const {
    return std::chrono::duration<double>(clock::now() - written_).count() >= block_seconds_;
}

void store::write_if_due() {
    const std::lock_guard guard(lock_);
    if (is_due()) write_pending();
}

void store::flush() {
    const std::lock_guard guard(lock_);
    write_pending();
}

// Records stay pending if the block can't be written, and go into the next.
void store::write_pending() {
    if (pending_.empty()) return;
    write_block(folder_ / name_of_block(pending_), request_, pending_);
    pending_.clear();
    written_ = clock::now();
}

std::vector<record> store::tallies() const {
    const std::lock_guard guard(lock_);
    std::vector<record> out;
    for (const auto& [what, found] : tallies_) out.push_back({what, bytes_of(found)});
    return out;
}

std::vector<record> store::texts() const {
    const std::lock_guard guard(lock_);
    std::vector<record> out;
    for (const auto& [what, text] : texts_) out.push_back({what, is_text + text});
    return out;
}

}  // namespace tilewalk::kept
