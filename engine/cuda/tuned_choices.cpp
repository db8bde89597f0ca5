// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/tuned_choices.h"

#include <cctype>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/config/digest.h"
#include "engine/cuda/feeds.h"
#include "engine/cuda/kept_file.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;

// All that a choice holds good for.
std::string subject_of(const device_properties& on, const program::path_program& p,
                       const kernel_choice& asked) {
    const bool in_registers = !feed_named(asked.feed).makes_use_of(feed_entry::array);
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", on.name, on.driver,
                       program::name_of(asked.precision), in_registers ? "shocks made" : "shocks read",
                       asked.space, asked.row_space, asked.reduction, program::shape_of(p));
}

// A name that any file system takes.
std::string plain(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
        if (is_plain || (!out.empty() && out.back() != '-')) out += is_plain ? c : '-';
    }
    return out;
}

std::optional<tuned_choice> choice_in(const std::string& text, const std::string& subject_digest,
                                      const kernel_choice& asked) {
    const json read = json::parse(text, nullptr, false);
    if (read.is_discarded() || !read.is_object()) return std::nullopt;
    try {
        if (read.at("subject") != subject_digest) return std::nullopt;
        tuned_choice out;
        out.how = asked;
        out.how.is_open = false;
        out.how.has_best_layout = false;
        out.how.feed = read.at("feed").get<std::string>();
        out.how.distance = read.at("distance");
        out.how.rows = read.at("rows");
        const auto layout = read.at("layout").get<std::string>();
        std::size_t at = 0;
        while (at < layout_names.size() && layout != layout_names[at]) ++at;
        if (at == layout_names.size()) return std::nullopt;
        out.how.layout = static_cast<kernels::ring_layout>(at);
        out.how.width = read.at("width");
        out.how.threads = read.at("block");
        out.how.blocks = read.at("blocks_resident");
        out.milliseconds = read.at("milliseconds");
        out.untuned_milliseconds = read.at("untuned_milliseconds");
        out.date = read.at("date").get<std::string>();
        if (out.how.blocks < 0 || out.how.width < 1) return std::nullopt;
        static_cast<void>(feed_named(out.how.feed));
        return out;
    } catch (const json::exception&) {
        return std::nullopt;
    } catch (const error&) {
        return std::nullopt;
    }
}

}  // namespace

std::filesystem::path tuned_choices::file_of(const device_properties& on, const program::path_program& p,
                                             const kernel_choice& asked) const {
    return folder_ / fmt::format("{}-driver-{}-{}.json", plain(on.name), plain(on.driver),
                                 config::sha256(subject_of(on, p, asked)).substr(0, 16));
}

std::optional<tuned_choice> tuned_choices::find(const device_properties& on, const program::path_program& p,
                                                const kernel_choice& asked) {
    if (folder_.empty()) return std::nullopt;
    const std::string subject = config::sha256(subject_of(on, p, asked));
    const std::filesystem::path file = file_of(on, p, asked);
    const std::lock_guard guard(lock_);
    const auto [at, is_new] = known_.try_emplace(file.string());
    if (is_new) {
        std::string text;
        if (read_file(file, most_bytes, text) == reading::done) at->second = choice_in(text, subject, asked);
    }
    return at->second;
}

void tuned_choices::remember(const device_properties& on, const program::path_program& p,
                             const kernel_choice& asked, const tuned_choice& found) {
    if (folder_.empty()) {
        throw error(error_kind::io,
                    "there is no folder to keep what was measured in; set TILEWALK_CACHE_DIR");
    }
    const json text{{"device", on.name},
                    {"driver", on.driver},
                    {"precision", std::string(program::name_of(asked.precision))},
                    {"feed", found.how.feed},
                    {"distance", found.how.distance},
                    {"rows", found.how.rows},
                    {"layout", std::string(layout_names[static_cast<std::size_t>(found.how.layout)])},
                    {"width", found.how.width},
                    {"block", found.how.threads},
                    {"blocks_resident", found.how.blocks},
                    {"milliseconds", found.milliseconds},
                    {"untuned_milliseconds", found.untuned_milliseconds},
                    {"date", found.date},
                    {"subject", config::sha256(subject_of(on, p, asked))}};
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    if (failed) {
        throw error(error_kind::io, "can't make the folder " + folder_.string() + ": " + failed.message());
    }
    const auto file = file_of(on, p, asked);
    write_file(file, text.dump(2) + '\n');
    const std::lock_guard guard(lock_);
    known_[file.string()] = found;
}

}  // namespace tilewalk::cuda
