// SPDX-License-Identifier: Apache-2.0
// The search for libraries of the CUDA toolkit, in made-up folders and processes. NVRTC's two libraries must
// come from one toolkit.
#include "engine/walk/cuda/device/toolkit_libraries.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/cuda/compile/compiler.h"
#include "tests/own_folder.h"

namespace tilewalk::cuda::toolkit_libraries_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view one_name[] = {"libpart.so.13"};
constexpr std::string_view two_names[] = {"libpart.so.13", "libpart.so.12"};

// A made-up machine in a folder of its own. Tilewalk runs there as a Python module unless told otherwise.
class machine : public tests::own_folder {
  public:
    machine() { in_.own_file = library(site() / "tilewalk/_native.abi3.so"); }

    static fs::path site() { return "venv/lib/python3.12/site-packages"; }
    fs::path library(const fs::path& name) {
        fs::create_directories((*this / name).parent_path());
        return write(name, "");
    }
    machine& loads(const std::string& file) {
        in_.loaded.push_back(file);
        return *this;
    }
    machine& sets(const std::string& name, const std::string& value) {
        variables_[name] = value;
        return *this;
    }
    machine& has_as_tilewalk(const fs::path& name) {
        in_.own_file = library(name);
        return *this;
    }

    std::vector<std::string> finds(std::span<const std::string_view> names = one_name) {
        in_.variable = [this](const char* name) {
            const auto set = variables_.find(name);
            return set == variables_.end() ? std::string() : set->second;
        };
        std::vector<std::string> out;
        const std::string here = path().string() + '/';
        for (const std::string& file : toolkit_libraries(names, in_))
            out.push_back(file.starts_with(here) ? file.substr(here.size()) : file);
        return out;
    }
    std::vector<std::string> finds_there(std::span<const std::string_view> names = one_name) {
        std::vector<std::string> out;
        for (const std::string& file : finds(names)) {
            if (fs::exists(*this / file) || file.find('/') == std::string::npos) out.push_back(file);
        }
        return out;
    }

  private:
    surroundings in_;
    std::map<std::string, std::string> variables_;
};

using list = std::vector<std::string>;

TEST(toolkit_libraries, are_looked_for_as_python_does) {
    machine m;
    for (const char* place : {"home/.local/lib/python3.11/site-packages/nvidia/cu13/lib",
                              "venv/lib/python3.12/site-packages/nvidia/cu13/lib",
                              "other/lib/python3.12/site-packages/nvidia/cu13/lib",
                              "active/lib/python3.13/site-packages/nvidia/cu13/lib", "conda/lib",
                              "conda/targets/x86_64-linux/lib", "home_of_cuda/lib64", "path_of_cuda/lib64"})
        m.library(fs::path(place) / "libpart.so.13");
    m.loads((m / "other/lib/python3.12/site-packages/numpy/core.so").string());
    m.loads((m.library("torch/libpart.so.13")).string());
    m.sets("HOME", (m / "home").string()).sets("VIRTUAL_ENV", (m / "active").string());
    m.sets("CONDA_PREFIX", (m / "conda").string());
    m.sets("CUDA_HOME", (m / "home_of_cuda").string()).sets("CUDA_PATH", (m / "path_of_cuda").string());
    EXPECT_EQ(
        m.finds_there(),
        (list{"torch/libpart.so.13", "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libpart.so.13",
              "other/lib/python3.12/site-packages/nvidia/cu13/lib/libpart.so.13",
              "active/lib/python3.13/site-packages/nvidia/cu13/lib/libpart.so.13",
              "home/.local/lib/python3.11/site-packages/nvidia/cu13/lib/libpart.so.13",
              "conda/lib/libpart.so.13", "conda/targets/x86_64-linux/lib/libpart.so.13", "libpart.so.13",
              "home_of_cuda/lib64/libpart.so.13", "path_of_cuda/lib64/libpart.so.13"}));
    EXPECT_EQ(m.finds().back(), "/usr/local/cuda/lib64/libpart.so.13");

    const fs::path base = "base/lib/python3.11/site-packages/nvidia/cu13/lib/libpart.so.13";
    m.library(base);
    m.sets("PYTHONUSERBASE", (m / "base").string());
    const list with_base = m.finds_there();
    EXPECT_EQ(std::count(with_base.begin(), with_base.end(), base.string()), 1);
    EXPECT_EQ(std::count_if(with_base.begin(), with_base.end(),
                            [](const std::string& s) { return s.starts_with("home/"); }),
              0)
        << "a base of the user's own stands for ~/.local, as in Python";
}

TEST(toolkit_libraries, of_packages_have_a_folder_each_or_one) {
    machine m;
    const std::string site = machine::site().string();
    m.library(machine::site() / "nvidia/part/lib/libpart.so.12");
    m.library(machine::site() / "nvidia/other/lib/libother.so.12");
    EXPECT_EQ(m.finds_there(two_names),
              (list{site + "/nvidia/part/lib/libpart.so.12", "libpart.so.13", "libpart.so.12"}));
    m.library(machine::site() / "nvidia/cu13/lib/libpart.so.13");
    EXPECT_EQ(m.finds_there(two_names).front(), site + "/nvidia/cu13/lib/libpart.so.13");
    const list none = machine().finds(two_names);
    EXPECT_EQ(none.front(), site + "/nvidia/cu13/lib/libpart.so.13");
    EXPECT_EQ(none[1], site + "/nvidia/cu13/lib/libpart.so.12");
}

TEST(toolkit_libraries, are_found_from_wherever_a_package_puts_tilewalk) {
    const fs::path wanted = machine::site() / "nvidia/cu13/lib/libpart.so.13";
    for (const char* own :
         {"venv/lib/python3.12/site-packages/tilewalk/_native.abi3.so",
          "venv/lib/python3.12/site-packages/tilewalk/bin/tilewalk",
          "venv/lib/python3.12/site-packages/tilewalk.libs/libtilewalk.so", "venv/bin/tilewalk"}) {
        machine m;
        m.library(wanted);
        EXPECT_EQ(m.has_as_tilewalk(own).finds_there().front(), wanted.string()) << own;
    }
    machine m;
    m.library("target/nvidia/cu13/lib/libpart.so.13");
    EXPECT_EQ(m.has_as_tilewalk("target/tilewalk/_native.abi3.so").finds_there().front(),
              "target/nvidia/cu13/lib/libpart.so.13");
    // A package whose files lie in a store, with links to them.
    machine linked;
    linked.library("store/tilewalk");
    linked.library("venv/bin/python");
    linked.library(wanted);
    fs::create_symlink(linked / "store/tilewalk", linked / "venv/bin/tilewalk");
    surroundings in;
    in.own_file = linked / "venv/bin/tilewalk";
    in.variable = [](const char*) { return std::string(); };
    EXPECT_EQ(toolkit_libraries(one_name, in).front(), linked / wanted);
    machine store;
    store.library(wanted);
    store.library("venv/bin/tilewalk");
    fs::create_symlink(store / "venv/bin/tilewalk", store / "command");
    in.own_file = store / "command";
    EXPECT_EQ(toolkit_libraries(one_name, in).front(), store / wanted);
}

TEST(toolkit_libraries, are_where_the_user_says_and_nowhere_else) {
    machine m;
    m.library(machine::site() / "nvidia/cu13/lib/libpart.so.13");
    m.loads((m.library("torch/libpart.so.13")).string());
    m.sets(library_path_variable, "/a:/b/:" + (m / "c").string());
    EXPECT_EQ(m.finds(two_names), (list{"/a/libpart.so.13", "/a/libpart.so.12", "/b/libpart.so.13",
                                        "/b/libpart.so.12", "c/libpart.so.13", "c/libpart.so.12"}));
    EXPECT_EQ(m.sets(library_path_variable, "").finds().front(), "torch/libpart.so.13");
}

TEST(toolkit_libraries, that_are_loaded_are_known) {
    const std::string own = surroundings_of_process().own_file.string();
    EXPECT_TRUE(fs::exists(own)) << own;
    void* library = ::dlopen("libm.so.6", RTLD_NOW);
    ASSERT_NE(library, nullptr);
    const list all = loaded_libraries();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const std::string& s) {
        return fs::path(s).filename() == "libm.so.6" && fs::path(s).is_absolute();
    }));
    ::dlclose(library);
}

TEST(toolkit_libraries, that_are_not_there_stand_together_in_words) {
    vain_search search;
    for (const char* name : {"liba.so.2", "liba.so.1", "/x/liba.so.2", "/x/liba.so.1"}) search.add(name, "");
    search.add("/y/liba.so.2", "is old");
    search.add("/y/liba.so.1", "");
    EXPECT_EQ(search.words(),
              "liba.so.2 or liba.so.1, /x/liba.so.2 or liba.so.1, /y/liba.so.2 (is old), "
              "/y/liba.so.1");
}

class toolkit : public tests::own_folder {
  public:
    explicit toolkit(int minor, bool has_builtins = true)
        : builtins_name("libnvrtc-builtins.so.12." + std::to_string(minor)) {
        std::string text =
            "extern \"C\" {\nint nvrtcVersion(int* a, int* b) { *a = 12; *b = " + std::to_string(minor) +
            "; return 0; }\n";
        for (const char* name : {"nvrtcGetErrorString", "nvrtcCreateProgram", "nvrtcDestroyProgram",
                                 "nvrtcCompileProgram", "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
                                 "nvrtcGetCUBINSize", "nvrtcGetCUBIN", "nvrtcGetPTXSize", "nvrtcGetPTX"})
            text += "int " + std::string(name) + "() { return 1; }\n";
        is_built = build("libnvrtc.so.12", text + "}\n") &&
                   (!has_builtins || build(builtins_name, "int built_in = " + std::to_string(minor) + ";\n"));
    }

    std::string library(const std::string& name) const { return (*this / name).string(); }
    std::string nvrtc() const { return library("libnvrtc.so.12"); }

    std::string builtins_name;
    bool is_built = false;

  private:
    // Builds a library that contains its own name (soname), by which the loader finds it when loaded.
    bool build(const std::string& name, const std::string& text) {
        const fs::path source = write(name + ".cpp", text);
        return std::system((std::string(TILEWALK_CXX) + " -shared -fPIC -Wl,-soname," + name + " -o '" +
                            library(name) + "' '" + source.string() + "'")
                               .c_str()) == 0;
    }
};

std::string opened(const std::vector<std::string>& libraries) {
    try {
        const std::string text = open_nvrtc(libraries)->fingerprint();
        return text.substr(0, text.find(" -"));
    } catch (const error& e) {
        return e.message();
    }
}

bool is_loaded(const std::string& file) {
    const list all = loaded_libraries();
    return std::find(all.begin(), all.end(), file) != all.end();
}

// Fake libraries stay loaded as real ones do, so each test uses a version number of its own.
TEST(toolkit_libraries_nvrtc, is_opened_with_its_own_built_in_functions) {
    const toolkit whole(101);
    ASSERT_TRUE(whole.is_built);
    EXPECT_EQ(opened({"/nowhere/libnvrtc.so.12", whole.nvrtc()}), "NVRTC 12.101");
    EXPECT_TRUE(is_loaded(whole.library(whole.builtins_name)));

    const toolkit linked(105);
    ASSERT_TRUE(linked.is_built);
    const tests::own_folder links;
    fs::create_symlink(linked.nvrtc(), links / "libnvrtc.so.12");
    EXPECT_EQ(opened({(links / "libnvrtc.so.12").string()}), "NVRTC 12.105");
    EXPECT_TRUE(is_loaded(linked.library(linked.builtins_name)));
}

TEST(toolkit_libraries_nvrtc, takes_no_half_of_another_toolkit) {
    const toolkit half(102, false), whole(103);
    ASSERT_TRUE(half.is_built && whole.is_built);
    const std::string refusal = opened({half.nvrtc()});
    EXPECT_NE(
        refusal.find(half.nvrtc() + " (has no libnvrtc-builtins.so.12.102 beside it, and that of another "
                                    "toolkit is not taken)"),
        std::string::npos)
        << refusal;
    EXPECT_EQ(opened({half.nvrtc(), whole.nvrtc()}), "NVRTC 12.103");

    const toolkit theirs(104), ours(104);
    ASSERT_TRUE(theirs.is_built && ours.is_built);
    ASSERT_NE(::dlopen(theirs.library(theirs.builtins_name).c_str(), RTLD_NOW | RTLD_GLOBAL), nullptr);
    const std::string mixed = opened({ours.nvrtc()});
    EXPECT_NE(mixed.find(ours.nvrtc() + " (has not its own libnvrtc-builtins.so.12.104: that of " +
                         theirs.path().string() + " is loaded already, and two toolkits are not mixed)"),
              std::string::npos)
        << mixed;
    EXPECT_EQ(opened({ours.nvrtc(), theirs.nvrtc()}), "NVRTC 12.104");
}

}  // namespace
}  // namespace tilewalk::cuda::toolkit_libraries_test
