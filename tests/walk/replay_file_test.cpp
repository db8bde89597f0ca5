// SPDX-License-Identifier: Apache-2.0
// Files of shocks in both forms read back as they were written. Wrong, damaged or hostile files are refused,
// with the fault and its place.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/walk/arrays/layout.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/arrays/shock_writer.h"
#include "tests/own_folder.h"
#include "tests/texts.h"
#include "tilewalk/error.h"

namespace replay_file_test {
namespace {

using namespace tilewalk;
using arrays::element;
using arrays::shock_file;

class replay_file : public testing::Test {
  protected:
    tests::own_folder own_;
    std::filesystem::path folder_ = own_.path();

    std::filesystem::path write(const std::string& bytes) const { return own_.write("shocks", bytes); }
};

// The message with which a file of these bytes is refused; empty if it is read.
std::string refusal(const std::string& bytes) {
    // A copy in memory of exactly this size, so that a sanitizer sees a read beyond the end.
    const std::vector<std::byte> exact(reinterpret_cast<const std::byte*>(bytes.data()),
                                       reinterpret_cast<const std::byte*>(bytes.data()) + bytes.size());
    try {
        arrays::read_layout(exact, "f");
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::input);
        EXPECT_EQ(e.where().file, "f");
        return e.message();
    }
    return "";
}

template <class call>
std::string message_of(error_kind kind, const call& c) {
    try {
        c();
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), kind) << e.what();
        return e.message();
    }
    return "";
}

std::string numpy(const std::string& fields, std::size_t data_bytes, int version = 1) {
    const std::size_t before = version == 1 ? 10 : 12;
    std::string header = fields;
    while ((before + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    std::string bytes = "\x93NUMPY";
    bytes += static_cast<char>(version);
    bytes += '\0';
    for (std::size_t i = 0; i < before - 8; ++i) bytes += static_cast<char>(header.size() >> 8 * i & 0xff);
    return bytes + header + std::string(data_bytes, '\0');
}

std::string numpy_of_shape(const std::string& shape, std::size_t data_bytes) {
    return numpy("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }", data_bytes);
}

std::string own(const arrays::layout& what, std::size_t data_bytes) {
    return arrays::header_of(what) + std::string(data_bytes, '\0');
}

template <class shock>
std::vector<shock> numbered(std::size_t count, double from, double by) {
    std::vector<shock> all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(static_cast<shock>(from + by * static_cast<double>(i)));
    return all;
}

template <class shock>
void expect_shocks(const arrays::shock_cube& got, const std::vector<shock>& expected, std::uint64_t steps,
                   std::uint64_t slots, std::uint64_t paths) {
    EXPECT_EQ(got.steps, steps);
    EXPECT_EQ(got.slots, slots);
    EXPECT_EQ(got.paths, paths);
    ASSERT_TRUE(std::holds_alternative<const shock*>(got.first));
    const shock* const first = std::get<const shock*>(got.first);
    for (std::uint64_t step = 0; step < steps; ++step) {
        for (std::uint64_t slot = 0; slot < slots; ++slot) {
            for (std::uint64_t p = 0; p < paths; ++p) {
                EXPECT_EQ(first[step * got.step_stride + slot * got.slot_stride + p],
                          expected[(step * slots + slot) * paths + p]);
            }
        }
    }
}

template <class shock>
void expect_round_trips(const std::filesystem::path& file) {
    constexpr std::uint64_t steps = 3, paths = 5;
    const auto normals = numbered<shock>(steps * 2 * paths, -1.5, 0.1);
    const auto uniforms = numbered<shock>(steps * 1 * paths, 0.01, 0.05);
    for (const element walked_as : {element::single_, element::double_}) {
        arrays::write_shocks<shock>(file, {steps, 2, 1, paths, normals, uniforms});
        EXPECT_EQ(std::filesystem::file_size(file), 64 + (normals.size() + uniforms.size()) * sizeof(shock));
        const shock_file both(file, walked_as);
        EXPECT_EQ(both.paths(), paths);
        expect_shocks(both.normals(), normals, steps, 2, paths);
        expect_shocks(both.uniforms(), uniforms, steps, 1, paths);

        arrays::write_shocks<shock>(file, {steps, 0, 1, paths, {}, uniforms});
        const shock_file only_uniforms(file, walked_as);
        EXPECT_EQ(only_uniforms.paths(), paths);
        EXPECT_EQ(only_uniforms.normals().slots, 0u);
        expect_shocks(only_uniforms.uniforms(), uniforms, steps, 1, paths);

        arrays::write_numpy<shock>(file, {steps, 2, 0, paths, normals, {}});
        const shock_file array(file, walked_as);
        expect_shocks(array.normals(), normals, steps, 2, paths);
        EXPECT_EQ(array.uniforms().slots, 0u);
    }
}

}  // namespace

TEST_F(replay_file, reads_what_was_written) {
    expect_round_trips<double>(folder_ / "shocks");
    expect_round_trips<float>(folder_ / "shocks");
}

TEST_F(replay_file, writes_numpy_arrays_as_numpy_does) {
    const auto normals = numbered<double>(24, 0, 1);
    arrays::write_numpy<double>(folder_ / "a.npy", {2, 3, 0, 4, normals, {}});
    const std::string expected =
        numpy_of_shape("(2, 3, 4)", 0) +
        std::string(reinterpret_cast<const char*>(normals.data()), 24 * sizeof(double));
    EXPECT_EQ(tests::text_of(folder_ / "a.npy"), expected);
    EXPECT_EQ(expected.size(), 128 + 24 * sizeof(double));
}

TEST_F(replay_file, keeps_the_bytes_that_its_documentation_says) {
    const float normal = 0.25f, uniform = 0.5f;
    arrays::write_shocks<float>(folder_ / "a", {1, 1, 1, 1, {&normal, 1}, {&uniform, 1}});
    const std::string expected(
        "TWSHOCKS\x01\0\0\0\x04\0\0\0"
        "\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0"
        "\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0",
        56);
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : expected) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    std::string sum(8, '\0');
    std::memcpy(sum.data(), &hash, 8);
    EXPECT_EQ(tests::text_of(folder_ / "a"), expected + sum + std::string("\0\0\x80\x3e\0\0\0\x3f", 8));
}

TEST_F(replay_file, rows_are_copied_in_the_precision_asked_for_and_filled_up) {
    const auto normals = numbered<double>(2 * 3 * 4, 0.1, 0.1);
    arrays::write_shocks<double>(folder_ / "a", {2, 3, 0, 4, normals, {}});
    const shock_file file(folder_ / "a", element::single_);
    std::vector<float> row(6, -1);
    arrays::copy_row(file.normals(), 1, 2, 1, 5, row.data());
    const double* const from = normals.data() + (1 * 3 + 2) * 4;
    EXPECT_EQ(row, (std::vector<float>{static_cast<float>(from[1]), static_cast<float>(from[2]),
                                       static_cast<float>(from[3]), static_cast<float>(from[3]),
                                       static_cast<float>(from[3]), -1}));
    std::vector<double> beyond(2, -1);
    arrays::copy_row(file.normals(), 0, 0, 1024, 1, beyond.data());
    EXPECT_EQ(beyond, (std::vector<double>{normals[3], -1}));
}

TEST_F(replay_file, numpy_arrays_of_every_version_and_layout_of_the_header_are_read) {
    for (const int version : {1, 2, 3}) {
        for (const std::string fields : {
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 4), }",
                 "{'shape': (2, 3, 4), 'descr': '<f8', 'fortran_order': False}",
                 "{\"descr\":\"<f8\",\"fortran_order\":False,\"shape\":(2,3,4,)}",
                 "  { 'fortran_order' : False , 'shape' : ( 2 , 3 , 4 ) , 'descr' : '<f8' , }  ",
             }) {
            EXPECT_EQ(refusal(numpy(fields, 192, version)), "") << version << fields;
        }
    }
    const std::string flat = numpy_of_shape("(3, 4)", 96);
    const auto l = arrays::read_layout(std::as_bytes(std::span(flat)), "f");
    EXPECT_EQ(l.steps, 3u);
    EXPECT_EQ(l.normals_per_step, 1u);
    EXPECT_EQ(l.paths, 4u);
}

TEST_F(replay_file, numpy_arrays_that_will_not_do_are_refused_with_what_to_do) {
    const auto with = [](const std::string& fields) { return refusal(numpy(fields, 64)); };
    EXPECT_EQ(with("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 4), }"),
              "found an array in Fortran order, expected C order; save numpy.ascontiguousarray(x)");
    EXPECT_EQ(with("{'descr': '>f8', 'fortran_order': False, 'shape': (2, 4), }"),
              "found numbers of the type '>f8', expected '<f8' or '<f4'; save numpy.asarray(x, '<f8')");
    EXPECT_EQ(with("{'descr': '|O', 'fortran_order': False, 'shape': (2, 4), }"),
              "found numbers of the type '|O', expected '<f8' or '<f4'; save numpy.asarray(x, '<f8')");
    for (const char* shape : {"()", "(8,)", "(2, 2, 2, 1)"}) {
        EXPECT_NE(refusal(numpy_of_shape(shape, 64))
                      .find("expected the shape (steps, slots, paths) or (steps, paths)"),
                  std::string::npos);
    }
    EXPECT_EQ(refusal(numpy_of_shape("(2, 5)", 64)),
              "found 64 bytes of numbers, expected 80 for 2 steps of 1 normals on 5 paths");
    EXPECT_EQ(refusal(numpy_of_shape("(2, 0)", 0)),
              "the file has no shocks: 2 steps of 1 normals on 0 paths");
    EXPECT_EQ(
        refusal(numpy_of_shape("(4294967296, 4294967296)", 64)),
        "found 64 bytes of numbers, expected more than 2^64 for 4294967296 steps of 1 normals on 4294967296 "
        "paths");
    // 2^61 numbers of 8 bytes are 2^64 bytes, which overflows to 0.
    EXPECT_NE(refusal(numpy_of_shape("(2, 1152921504606846976)", 0)).find("expected more than 2^64"),
              std::string::npos);
    const std::string cannot = "the header of the NumPy array can't be read: found ";
    EXPECT_EQ(refusal(numpy_of_shape("(2, 18446744073709551616)", 0)), cannot + "a number beyond 64 bits");
    EXPECT_EQ(refusal(numpy_of_shape("(2, -4)", 64)), cannot + "no number, expected one in the shape");
    EXPECT_EQ(refusal(numpy_of_shape("(2, 4L)", 64)), cannot + "'L', expected ')'");
    EXPECT_EQ(refusal(numpy_of_shape("[2, 4]", 64)), cannot + "'[', expected '('");
    EXPECT_EQ(with("{'descr': '<f8', 'shape': (2, 4), }"), cannot + "no key fortran_order, expected one");
    EXPECT_EQ(with("{'descr': '<f8', 'descr': '<f8', 'shape': (2, 4), }"),
              cannot + "the key 'descr' twice, expected it once");
    EXPECT_EQ(with("{'descr': '<f8', 'code': 'x', }"),
              cannot + "the key 'code', expected descr, fortran_order or shape");
    EXPECT_EQ(with("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (8,), }"),
              cannot + "'[', expected '''");
    EXPECT_EQ(with("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4), } + 1"),
              cannot + "text after its end, expected none");
    EXPECT_EQ(with("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 4), }"),
              cannot + "neither True nor False, expected one of them for fortran_order");
    EXPECT_EQ(with("{'descr': '<f8"), cannot + "a text without end, expected a closing quote");
    EXPECT_EQ(with(""), cannot + "its end, expected '{'");
    EXPECT_EQ(with("{'de\\x41scr': 1}"), cannot + "a backslash, expected plain text");
    EXPECT_EQ(refusal(numpy("{'descr': '<f8'}", 0, 4)),
              "found a NumPy array of version 4.0, expected 1.0, 2.0 or 3.0");
    EXPECT_NE(refusal(numpy_of_shape(std::string(4096, ' ') + "(2, 4)", 64)).find("expected at most 4096"),
              std::string::npos);
    // A header that is 11 bytes longer makes doubles begin at an address that is not aligned.
    const std::string fields = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), } ";
    std::string odd("\x93NUMPY\x01\0", 8);
    odd += static_cast<char>(fields.size());
    odd += '\0';
    EXPECT_EQ(
        refusal(odd + fields + std::string(8, '\0')),
        "the numbers begin at byte " + std::to_string(10 + fields.size()) + ", expected a multiple of 8");
}

TEST_F(replay_file, headers_of_our_own_are_not_trusted) {
    const auto of = element::double_;
    EXPECT_EQ(refusal(own({of, 2, 3, 1, 4, 64}, 2 * 4 * 4 * 8)), "");
    EXPECT_EQ(refusal(own({of, 2, 3, 1, 4, 64}, 2 * 4 * 4 * 8 - 1)),
              "found 255 bytes of numbers, expected 256 for 2 steps of 3 normals and 1 uniforms on 4 paths");
    EXPECT_NE(refusal(own({of, 2, 3, 1, 4, 64}, 2 * 4 * 4 * 8 + 1)), "");
    EXPECT_EQ(refusal(own({of, 1, 0, 0, 1, 64}, 0)),
              "the file has no shocks: 1 steps of 0 normals on 1 paths");
    constexpr std::uint64_t all = ~std::uint64_t{0};
    EXPECT_NE(refusal(own({of, all, 1, 1, 1, 64}, 0)).find("more than 2^64"), std::string::npos);
    EXPECT_NE(refusal(own({of, 1, all, 1, 1, 64}, 0)).find("more than 2^64"), std::string::npos);
    EXPECT_NE(refusal(own({of, 1, all, 2, 1, 64}, 8)).find("more than 2^64"), std::string::npos);
    EXPECT_NE(refusal(own({of, std::uint64_t{1} << 61, 1, 0, 1, 64}, 0)).find("more than 2^64"),
              std::string::npos);
    EXPECT_EQ(refusal("TWSHOCKS"), "found a header of 8 bytes, expected 64");

    const auto with_byte = [&](std::size_t at, char value) {
        std::string bytes = own({of, 1, 1, 0, 1, 64}, 8);
        bytes[at] = value;
        std::uint64_t hash = 0xcbf29ce484222325u;
        for (std::size_t i = 0; i < 56; ++i)
            hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
        std::memcpy(bytes.data() + 56, &hash, 8);
        return refusal(bytes);
    };
    EXPECT_EQ(with_byte(8, 1), "");
    EXPECT_EQ(with_byte(8, 2), "found version 2 of Tilewalk's shocks, expected 1");
    EXPECT_EQ(with_byte(12, 2), "found numbers of 2 bytes, expected 4 or 8");
    EXPECT_EQ(with_byte(50, 1), "found bytes 48 to 55 of the header in use, expected all 0");
}

TEST_F(replay_file, no_damage_of_a_header_of_our_own_goes_unseen) {
    const std::string good = own({element::single_, 2, 3, 0, 4, 64}, 2 * 3 * 4 * 4);
    ASSERT_EQ(refusal(good), "");
    for (std::size_t bit = 0; bit < 64 * 8; ++bit) {
        std::string bad = good;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
        EXPECT_NE(refusal(bad), "") << "bit " << bit;
    }
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_NE(refusal(good.substr(0, size)), "") << size;
}

TEST_F(replay_file, mutated_numpy_headers_are_refused_or_mean_what_they_say) {
    const std::string good = numpy_of_shape("(2, 3, 4)", 192);
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_NE(refusal(good.substr(0, size)), "") << size;
    std::mt19937_64 dice(3);
    const std::string pieces = "{}()[],:'\" \n\\0123456789TFalserudfnshpc_o<>|L\x93\xff";
    std::size_t accepted = 0;
    for (int i = 0; i < 60'000; ++i) {
        std::string bytes = good;
        const std::size_t changes = 1 + dice() % 3;
        for (std::size_t c = 0; c < changes; ++c) {
            const std::size_t at = dice() % 128;
            const char piece = dice() % 4 == 0 ? static_cast<char>(dice()) : pieces[dice() % pieces.size()];
            switch (dice() % 3) {
                case 0:
                    bytes[at] = piece;
                    break;
                case 1:
                    bytes.insert(at, 1, piece);
                    break;
                default:
                    bytes.erase(at, 1);
            }
        }
        if (!refusal(bytes).empty()) continue;
        ++accepted;
        const auto l = arrays::read_layout(std::as_bytes(std::span(bytes)), "f");
        const std::uint64_t numbers = l.steps * (l.normals_per_step + l.uniforms_per_step) * l.paths;
        ASSERT_EQ(l.data_at + numbers * arrays::bytes_of(l.of), bytes.size());
        ASSERT_EQ(l.data_at % arrays::bytes_of(l.of), 0u);
    }
    // Accepted changes are in spaces at the header's end, and in both quotes of a text.
    EXPECT_GT(accepted, 100u);
    EXPECT_LT(accepted, 40'000u);
}

TEST_F(replay_file, numbers_that_are_no_shocks_are_refused_with_their_place) {
    const auto refused = [&](bool is_uniform, std::size_t at, double value, element walked_as) {
        auto normals = numbered<double>(2 * 3 * 5000, -1, 1e-5);
        auto uniforms = numbered<double>(2 * 2 * 5000, 1e-6, 1e-6);
        (is_uniform ? uniforms : normals)[at] = value;
        arrays::write_shocks<double>(folder_ / "a", {2, 3, 2, 5000, normals, uniforms});
        return message_of(error_kind::input, [&] { shock_file(folder_ / "a", walked_as); });
    };
    constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
    constexpr bool uniform = true, normal = false;
    EXPECT_EQ(refused(normal, (1 * 3 + 2) * 5000 + 4999, nan, element::double_),
              "found nan as normal 2 of step 1 on path 4999 (all counted from 0), expected a finite number");
    EXPECT_EQ(refused(normal, 0, -infinity, element::double_),
              "found -inf as normal 0 of step 0 on path 0 (all counted from 0), expected a finite number");
    EXPECT_EQ(
        refused(uniform, (1 * 2 + 0) * 5000 + 7, 1, element::double_),
        "found 1 as uniform 0 of step 1 on path 7 (all counted from 0), expected a number strictly between 0 "
        "and 1");
    for (const double bad : {0.0, -0.0, -1e-300, 1.5, nan, infinity}) {
        EXPECT_NE(refused(uniform, 3, bad, element::double_), "") << bad;
    }
    for (const double good : {1e-300, 1 - 1e-12}) EXPECT_EQ(refused(uniform, 3, good, element::double_), "");
    for (const double bad : {1e-300, 1 - 1e-12}) {
        EXPECT_NE(refused(uniform, 3, bad, element::single_).find("between 0 and 1 in single precision"),
                  std::string::npos);
    }
    EXPECT_EQ(refused(normal, 3, 1e39, element::double_), "");
    EXPECT_EQ(refused(normal, 3, 3.4e38, element::single_), "");
    EXPECT_NE(refused(normal, 3, -1e39, element::single_).find("a finite number in single precision"),
              std::string::npos);
}

TEST_F(replay_file, a_trade_that_takes_more_than_there_is_hears_of_both) {
    const auto normals = numbered<double>(4 * 2 * 10, 0, 0.1);
    const auto uniforms = numbered<double>(4 * 1 * 10, 0.01, 0.01);
    arrays::write_shocks<double>(folder_ / "a", {4, 2, 1, 10, normals, uniforms});
    const shock_file file(folder_ / "a", element::double_);
    for (const arrays::needs& enough : {arrays::needs{4, 2, 1, 10}, {1, 0, 0, 1}, {4, 1, 1, 9}}) {
        EXPECT_NO_THROW(file.check(enough));
    }
    for (const arrays::needs& more :
         {arrays::needs{5, 2, 1, 10}, {4, 3, 1, 10}, {4, 2, 2, 10}, {4, 2, 1, 11}}) {
        EXPECT_NE(message_of(error_kind::input, [&] { file.check(more); }), "");
    }
    EXPECT_EQ(message_of(error_kind::input,
                         [&] {
                             file.check({252, 3, 0, 65536});
                         }),
              "the trade takes 252 steps of 3 normals and 0 uniforms on 65536 paths, the file has 4 steps of "
              "2 normals "
              "and 1 uniforms on 10 paths");
}

TEST_F(replay_file, files_that_can_not_be_read_are_named) {
    const auto refused = [&](error_kind kind, const std::filesystem::path& file) {
        return message_of(kind, [&] { shock_file(file, element::double_); });
    };
    EXPECT_EQ(refused(error_kind::io, folder_ / "nothing"), "there is no such file");
    EXPECT_EQ(refused(error_kind::io, folder_), "found a directory, expected a file");
    ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(refused(error_kind::io, folder_ / "pipe"), "found a pipe, expected a regular file");
    const std::string no_shocks =
        "expected a file of shocks: a NumPy array (.npy), or Tilewalk's own form, which begins with TWSHOCKS";
    EXPECT_EQ(refused(error_kind::input, write("")), no_shocks);
    EXPECT_EQ(refused(error_kind::input, write("0.1,0.2\n")), no_shocks);
    EXPECT_EQ(message_of(error_kind::io,
                         [&] {
                             arrays::write_shocks<float>(folder_ / "no" / "a", {1, 0, 0, 1, {}, {}});
                         }),
              "the file can't be written");
    EXPECT_EQ(message_of(error_kind::usage,
                         [&] {
                             arrays::write_shocks<float>(folder_ / "a", {2, 1, 0, 3, {}, {}});
                         }),
              "found 0 normals and 0 uniforms, expected 2 steps of 1 and 0 on 3 paths");
}

}  // namespace replay_file_test
