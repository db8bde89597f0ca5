// SPDX-License-Identifier: Apache-2.0
#include "products/program/streams.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace tilewalk::program {

namespace {

// FNV-1a, with the finaliser of MurmurHash3, which spreads the last letters of short names over all bits.
std::uint64_t hash(std::string_view name) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
    return h ^ (h >> 33);
}

}  // namespace

stream_name::stream_name(std::string name) : text(std::move(name)), key(hash(text) >> 2) {}

std::string fault_of_keys(std::span<const stream_name> all) {
    std::map<std::uint64_t, const stream_name*> known;
    for (const stream_name& n : all) {
        const auto [at, is_new] = known.emplace(n.key, &n);
        if (is_new || at->second->text == n.text) continue;
        return "'" + at->second->text + "' and '" + n.text +
               "' have the same key of random numbers, so they would move alike; expected another name for "
               "one of them";
    }
    return {};
}

std::vector<place_in_stream> places_in_streams(std::span<const std::uint32_t> streams, int slots) {
    const auto stream_of = [&](std::size_t slot) { return streams.empty() ? 0 : streams[slot]; };
    std::vector<place_in_stream> out(static_cast<std::size_t>(slots));
    std::map<std::uint32_t, std::uint32_t> dimensions;
    for (std::size_t s = 0; s < out.size(); ++s) {
        out[s].stream = stream_of(s);
        out[s].dimension = dimensions[out[s].stream]++;
    }
    for (place_in_stream& p : out) p.dimensions = dimensions[p.stream];
    return out;
}

std::uint64_t key_of(std::span<const stream_name> names, std::size_t stream) {
    return stream < names.size() ? names[stream].key : 0;
}

}  // namespace tilewalk::program
