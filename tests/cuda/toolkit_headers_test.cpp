// SPDX-License-Identifier: Apache-2.0
// The search for headers of the CUDA toolkit, in made-up folders and on this machine.
#include "engine/walk/cuda/compile/toolkit_headers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/cuda/compile/compiler.h"
#include "tests/own_folder.h"

namespace tilewalk::cuda::toolkit_headers_test {
namespace {

namespace fs = std::filesystem;
using tests::own_folder;

constexpr std::string_view wanted[] = {"a.h", "library/b"};

// A folder with all wanted headers; the second lies where CUDA 13.0 puts it (cccl), or where CUDA 12 does.
struct toolkit : own_folder {
    explicit toolkit(const char* text = "a", bool has_cccl = false) {
        write("a.h", text);
        write("a_part.h", "part of a");
        const fs::path of_library = has_cccl ? "cccl/library" : "library";
        fs::create_directories(*this / of_library);
        write(of_library / "b", "b");
    }
    std::string name() const { return path().string(); }
};

TEST(toolkit_headers, are_those_of_the_first_folder_that_has_all) {
    const toolkit first, second, with_cccl("a", true);
    const own_folder without, with_half;
    with_half.write("a.h", "a");
    const std::vector<std::string> folders = {"/nowhere", without.path().string(), with_half.path().string(),
                                              first.name(), second.name()};
    EXPECT_EQ(find_toolkit_headers(wanted, folders).folders,
              (std::vector<std::string>{first.name(), first.name() + "/cccl"}));
    const std::vector<std::string> newer = {with_cccl.name()};
    EXPECT_EQ(find_toolkit_headers(wanted, newer).folders.front(), with_cccl.name());
}

TEST(toolkit_headers, have_a_digest_of_their_texts_alone) {
    const auto digest = [](const toolkit& of) {
        const std::vector<std::string> folders = {of.name()};
        return find_toolkit_headers(wanted, folders).digest;
    };
    const toolkit one, same, other("another a"), other_part, other_library, more;
    other_part.write("a_part.h", "another part");
    other_library.write("library/b", "another b");
    more.write("c.h", "");
    EXPECT_EQ(digest(one).size(), 64u);
    EXPECT_EQ(digest(one), digest(same)) << "wherever they lie";
    for (const toolkit* changed : {&other, &other_part, &other_library, &more})
        EXPECT_NE(digest(one), digest(*changed));
}

TEST(toolkit_headers, that_are_missing_are_named_with_where_they_were_looked_for) {
    const own_folder half;
    half.write("a.h", "a");
    const auto message = [](const std::vector<std::string>& folders) -> std::string {
        try {
            find_toolkit_headers(wanted, folders);
        } catch (const error& e) {
            EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(error_kind::device));
            return e.message();
        }
        return "nothing was thrown";
    };
    EXPECT_EQ(message({"/nowhere", half.path().string()}),
              "the toolkit of NVRTC has no headers <a.h>, <library/b>; looked in /nowhere, " +
                  half.path().string() + ", and those of another toolkit are not mixed with it");
    EXPECT_EQ(message({}),
              "the toolkit of NVRTC has no headers <a.h>, <library/b>; looked in no folder, and "
              "those of another toolkit are not mixed with it");
}

TEST(toolkit_headers, are_those_of_the_toolkit_that_has_the_compiler) {
    const own_folder root;
    const auto of = [&](const std::string& libraries) {
        std::vector<std::string> out;
        for (const std::string& folder : toolkit_header_folders((root / libraries).string()))
            out.push_back(fs::relative(folder, root.path()).string());
        return out;
    };
    using folders = std::vector<std::string>;
    for (const char* folder :
         {"cuda/targets/x86_64-linux", "site/nvidia/cu13", "site/nvidia/cuda_nvrtc", "site/nvidia/curand"})
        fs::create_directories(root / folder);
    EXPECT_EQ(of("cuda/lib64"), (folders{"cuda/include", "cuda/targets/x86_64-linux/include"}));
    EXPECT_EQ(of("cuda/targets/x86_64-linux/lib"), (folders{"cuda/targets/x86_64-linux/include"}));
    EXPECT_EQ(of("site/nvidia/cuda_nvrtc/lib"),
              (folders{"site/nvidia/cuda_nvrtc/include", "site/nvidia/curand/include"}));
    EXPECT_EQ(of("site/nvidia/cu13/lib"), folders{"site/nvidia/cu13/include"});
    EXPECT_EQ(toolkit_header_folders("/usr/lib/x86_64-linux-gnu").back(), "/usr/include");
    EXPECT_EQ(toolkit_header_folders(""), folders{});
    if (const std::string why = why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    EXPECT_EQ(toolkit_header_folders(nvrtc_folder()).front(),
              (fs::path(nvrtc_folder()).parent_path() / "include").string());
}

}  // namespace
}  // namespace tilewalk::cuda::toolkit_headers_test
