// SPDX-License-Identifier: Apache-2.0
// Streams of random numbers. A stream is identified by the name of its source, such as an asset: trades on
// one asset take the same numbers, trades on different assets have none in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilewalk::program {

// A name, and its 62 bits of the random counter (see kernels/philox.h). Without a name, the key is 0.
struct stream_name {
    std::string text;
    std::uint64_t key = 0;

    stream_name() = default;
    explicit stream_name(std::string name);
    friend bool operator==(const stream_name&, const stream_name&) = default;
};

// Describes two different names with the same key; empty if there are none.
std::string fault_of_keys(std::span<const stream_name> all);

// The most numbers of a stream that a path can take: the counter has 24 bits for blocks of two or four.
inline constexpr std::uint64_t most_numbers_of_stream = std::uint64_t{1} << 25;

// The place of a slot in its stream: step s takes number s * dimensions + dimension.
struct place_in_stream {
    std::uint32_t stream = 0, dimension = 0, dimensions = 1;
};
// By slot, for `slots` slots. `streams` has the number of each slot's stream, counted in the order of their
// first slots; if empty, all slots are of one stream.
std::vector<place_in_stream> places_in_streams(std::span<const std::uint32_t> streams, int slots);

std::uint64_t key_of(std::span<const stream_name> names, std::size_t stream);

}  // namespace tilewalk::program
