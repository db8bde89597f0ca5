// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/tuned_choices.h"

#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/digest.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/kept/kept_file.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;

std::string subject_of(const device_properties& on, const program::path_program& p,
                       const kernel_wish& asked) {
    const bool reads = reads_shocks(asked), is_fewer = !reads && asked.rounds != kernels::philox_rounds;
    return fmt::format("{}\n{}\n{}\n{}{}\n{}\n{}\n{}\n{}", on.name, on.driver,
                       program::name_of(asked.precision),
                       asked.points == point_way::targets ? "targets met"
                       : asked.points == point_way::made  ? "points made"
                       : reads                            ? "shocks read"
                                                          : "shocks made",
                       is_fewer ? fmt::format(" in {} rounds", asked.rounds) : "", asked.space,
                       asked.row_space, asked.reduction, program::shape_of(p));
}

std::string plain(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
        if (is_plain || (!out.empty() && out.back() != '-')) out += is_plain ? c : '-';
    }
    return out;
}

std::optional<tuned_choice> choice_in(const std::string& text, const std::string& subject_digest,
                                      const kernel_wish& asked) {
    const json read = json::parse(text, nullptr, false);
    if (read.is_discarded() || !read.is_object()) return std::nullopt;
    try {
        if (read.at("subject") != subject_digest) return std::nullopt;
        tuned_choice out;
        kernel_wish wish = asked;
        wish.feed = read.at("feed").get<std::string>();
        wish.blocks = read.at("blocks_resident").get<int>();
        for (const knob_id k : all_knobs()) {
            const auto found = read.find(k.line().name);
            if (found == read.end()) continue;  // the choice was stored before this knob existed
            const std::string value =
                found->is_string() ? found->get<std::string>() : std::to_string(found->get<int>());
            const bool is_name = !k.line().values.names.empty();
            wish[k] = value_of(k.line(), value);
            if (!wish[k] || found->is_string() != is_name) return std::nullopt;
        }
        out.how = with_presets(wish);
        out.milliseconds = read.at("milliseconds");
        out.untuned_milliseconds = read.at("untuned_milliseconds");
        out.date = read.at("date").get<std::string>();
        if (out.how.blocks < 0) return std::nullopt;
        return out;
    } catch (const json::exception&) {
        return std::nullopt;
    } catch (const error&) {
        return std::nullopt;
    }
}

}  // namespace

std::filesystem::path tuned_choices::file_of(const device_properties& on, const program::path_program& p,
                                             const kernel_wish& asked) const {
    return folder_ / fmt::format("{}-driver-{}-{}.json", plain(on.name), plain(on.driver),
                                 config::sha256(subject_of(on, p, asked)).substr(0, 16));
}

std::optional<tuned_choice> tuned_choices::find(const device_properties& on, const program::path_program& p,
                                                const kernel_wish& asked) {
    if (folder_.empty()) return std::nullopt;
    const std::string subject = config::sha256(subject_of(on, p, asked));
    const std::filesystem::path file = file_of(on, p, asked);
    const std::lock_guard guard(lock_);
    const auto [at, is_new] = known_.try_emplace(file.string());
    if (is_new) {
        std::string text;
        if (kept::why_foreign(folder_).empty() &&
            kept::read_own_file(file, most_bytes, text) == kept::reading::done)
            at->second = choice_in(text, subject, asked);
    }
    return at->second;
}

void tuned_choices::remember(const device_properties& on, const program::path_program& p,
                             const kernel_wish& asked, const tuned_choice& found) {
    if (folder_.empty()) {
        throw error(error_kind::io,
                    "there is no folder to keep what was measured in; set TILEWALK_CACHE_DIR");
    }
    json text{{"device", on.name},
              {"driver", on.driver},
              {"precision", std::string(program::name_of(asked.precision))},
              {"feed", found.how.feed}};
    for (const knob_id k : all_knobs()) {
        const knob& of = k.line();
        text[std::string(of.name)] =
            of.values.names.empty() ? json(found.how[k]) : json(text_of(of, found.how[k]));
    }
    text.update({{"blocks_resident", found.how.blocks},
                 {"milliseconds", found.milliseconds},
                 {"untuned_milliseconds", found.untuned_milliseconds},
                 {"date", found.date},
                 {"subject", config::sha256(subject_of(on, p, asked))}});
    kept::make_own_folder(folder_);
    if (const std::string why = kept::why_foreign(folder_); !why.empty())
        throw error(error_kind::io, why + ", so that what is measured can't be kept there");
    const auto file = file_of(on, p, asked);
    kept::write_file(file, text.dump(2) + '\n');
    const std::lock_guard guard(lock_);
    known_[file.string()] = found;
    ++changes_;
}

}  // namespace tilewalk::cuda
