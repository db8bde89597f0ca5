// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text/checked_source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "engine/base/digest.h"
#include "engine/base/text/document.h"

namespace tilewalk::config {
namespace {

constexpr std::size_t checked_bytes = std::size_t{64} << 10;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace

checked_source::checked_source(std::string_view text, std::string name, const limits& within)
    : name_(std::move(name)),
      most_bytes_(within.bytes),
      check_(name_, within.line_bytes, within.reads_entries),
      given_(text) {
    if (text.size() <= most_bytes_) return;
    throw error(
        error_kind::input,
        "found " + std::to_string(text.size()) + " bytes, expected at most " + std::to_string(most_bytes_),
        {name_});
}

checked_source::checked_source(const std::filesystem::path& file, const limits& within,
                               const std::filesystem::path& inside)
    : name_(file.string()),
      most_bytes_(within.bytes),
      check_(name_, within.line_bytes, within.reads_entries),
      file_(std::make_unique<open_file>(file, inside)) {
    if (file_->stated_bytes() > most_bytes_) {
        throw error(error_kind::input,
                    "found " + std::to_string(file_->stated_bytes()) + " bytes, expected at most " +
                        std::to_string(most_bytes_),
                    {name_});
    }
    read_.reserve(file_->stated_bytes() + checked_bytes);
}

bool checked_source::fetch() {
    if (!file_) {
        const std::size_t before = shown_;
        shown_ = std::min(given_.size(), shown_ + checked_bytes);
        return shown_ > before;
    }
    const std::size_t before = read_.size();
    read_.resize(before + checked_bytes);
    ssize_t got = 0;
    do got = ::read(file_->descriptor(), read_.data() + before, checked_bytes);
    while (got < 0 && errno == EINTR);
    const int code = errno;
    read_.resize(before + static_cast<std::size_t>(std::max(got, ssize_t{0})));
    if (got < 0) {
        throw error(error_kind::io, "the file can't be read: " + std::generic_category().message(code),
                    {name_});
    }
    // A file may grow while it is read, and some files state no size, so count the bytes that arrive.
    if (read_.size() > most_bytes_) {
        throw error(error_kind::input,
                    "found more than " + std::to_string(most_bytes_) + " bytes, which is the limit", {name_});
    }
    return got > 0;
}

bool checked_source::grow() {
    const std::size_t before = text().size();
    while (!at_end_ && text().size() == before) {
        at_end_ = !fetch();
        if (at_end_) begin_hash();
        if (bytes().starts_with(byte_order_mark)) mark_bytes_ = byte_order_mark.size();
        check_.look(bytes().substr(mark_bytes_), at_end_);
    }
    return text().size() > before;
}

void checked_source::begin_hash() {
    constexpr std::size_t worth_a_thread = std::size_t{256} << 10;
    if (bytes().size() < worth_a_thread) return;
    try {
        hash_ = std::async(std::launch::async, [all = bytes()] { return sha256(all); });
    } catch (const std::system_error&) {
        // No thread is left: hash() computes the hash.
    }
}

std::string checked_source::hash() {
    return hash_.valid() ? hash_.get() : sha256(bytes());
}

std::string checked_source::take_text() {
    if (file_ && mark_bytes_ == 0) return std::move(read_);
    return std::string(text());
}

}  // namespace tilewalk::config
