// SPDX-License-Identifier: Apache-2.0
// The run-time compiler (NVRTC): compiles each kernel header alone, tells what is wrong with a text, serves
// many threads at once, and refuses libraries that are not NVRTC.
#include "engine/walk/cuda/compile/compiler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/walk/cuda/compile/kernel_headers.h"
#include "tests/own_folder.h"

namespace compiler_test {
namespace {

namespace fs = std::filesystem;
using tilewalk::error;
using tilewalk::error_kind;
using tilewalk::cuda::compile_request;
using tilewalk::cuda::nvrtc_compiler;

std::string kernel(const std::string& before, const std::string& body) {
    return before + "\nextern \"C\" __global__ void kernel(double* x) {\n" + body + "\n}\n";
}

template <class function>
std::string refusal(error_kind expected, const function& act) {
    try {
        act();
    } catch (const error& e) {
        EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(expected)) << e.what();
        return e.message();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

class compiler : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = tilewalk::cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    }
};

}  // namespace

TEST_F(compiler, compiles_for_each_architecture) {
    for (const std::string architecture : {"sm_80", "sm_90"}) {
        const compile_request what = {
            kernel("#include \"kernels/math.h\"", "x[0] = tilewalk::kernels::exp(x[1]);"), architecture};
        const auto with = nvrtc_compiler().compile(what, true);
        EXPECT_EQ(with.cubin.substr(1, 3), "ELF");
        EXPECT_NE(with.ptx.find(".target " + architecture), std::string::npos) << with.ptx;
        EXPECT_NE(with.ptx.find("kernel("), std::string::npos);
        EXPECT_NE(with.log.find("0 bytes stack frame, 0 bytes spill stores"), std::string::npos) << with.log;
        EXPECT_EQ(with.log.find("warning"), std::string::npos) << with.log;
        EXPECT_EQ(with.log.find('\0'), std::string::npos);
        const auto without = nvrtc_compiler().compile(what);
        EXPECT_EQ(without.ptx, "");
        EXPECT_EQ(without.cubin, with.cubin);
    }
}

TEST_F(compiler, compiles_every_kernel_header_alone) {
    const auto headers = tilewalk::cuda::kernel_headers();
    ASSERT_FALSE(headers.empty());
    for (const auto& header : headers) {
        // curand.h includes a header of the CUDA toolkit; bench_random_test compiles it where there is one.
        if (header.name == "kernels/studies/curand.h") continue;
        try {
            const auto got = nvrtc_compiler().compile(
                {kernel("#include \"" + std::string(header.name) + '"', "x[0] = 1;"), "sm_90"});
            EXPECT_EQ(got.log.find("warning"), std::string::npos) << header.name << '\n' << got.log;
        } catch (const error& e) {
            ADD_FAILURE() << header.name << '\n' << e.what();
        }
    }
}

TEST_F(compiler, contracts_nothing_and_rounds_as_the_host_does) {
    const auto got = nvrtc_compiler().compile({kernel("",
                                                      "float* y = (float*)x; x[0] = x[1] * x[2] + x[3] / "
                                                      "sqrt(x[4]); y[9] = y[8] / y[7] * y[6] + y[5];"),
                                               "sm_80"},
                                              true);
    EXPECT_EQ(got.ptx.find("fma"), std::string::npos) << got.ptx;
    EXPECT_NE(got.ptx.find("div.rn.f32"), std::string::npos) << got.ptx;
    EXPECT_EQ(got.ptx.find("ftz"), std::string::npos) << got.ptx;
}

TEST_F(compiler, warns_in_the_log) {
    const auto got = nvrtc_compiler().compile({kernel("", "int unused;"), "sm_90"});
    EXPECT_NE(got.log.find("warning"), std::string::npos) << got.log;
}

TEST_F(compiler, reports_a_stack_frame) {
    const auto got = nvrtc_compiler().compile(
        {kernel("", "double y[64]; for (int i = 0; i < 64; ++i) y[i] = x[i]; x[0] = y[(int)x[1]];"),
         "sm_90"});
    EXPECT_NE(got.log.find("512 bytes stack frame"), std::string::npos) << got.log;
}

TEST_F(compiler, builds_without_a_wish_for_blocks_what_spills_with_it) {
    const auto text = [](int numbers, const std::string& blocks) {
        const std::string count = std::to_string(numbers);
        return "#include \"kernels/path_kernel.h\"\n"
               "extern \"C\" __global__ void __launch_bounds__(256" +
               blocks +
               ") walk(volatile float* a) {\n"
               "    float x[" +
               count + "];\n    for (int i = 0; i < " + count +
               "; ++i) x[i] = a[i];\n    for (int i = 0; i < " + count + "; ++i) a[i] = x[" + count +
               " - 1 - i];\n}\n";
    };
    const auto registers = [](const std::string& log) {
        const std::size_t at = log.find("Used ");
        return at == std::string::npos ? 0 : std::stoi(log.substr(at + 5));
    };
    const std::string fits = " 0 bytes stack frame, 0 bytes spill stores";
    for (const int numbers : {40, 100}) {
        // With four resident blocks of 256 threads, each thread has 64 registers.
        const auto wished =
            nvrtc_compiler().compile({text(numbers, " TILEWALK_RESIDENT_BLOCKS(4)"), "sm_90"});
        EXPECT_NE(wished.log.find(fits), std::string::npos) << wished.log;
        EXPECT_EQ(registers(wished.log) <= 64, numbers == 40) << wished.log;
        const auto bound = nvrtc_compiler().compile({text(numbers, ", 4"), "sm_90"});
        EXPECT_LE(registers(bound.log), 64) << bound.log;
        EXPECT_EQ(bound.log.find(fits) != std::string::npos, numbers == 40) << bound.log;
    }
}

TEST_F(compiler, says_what_is_wrong_with_a_text) {
    const std::string message = refusal(error_kind::compile, [] {
        nvrtc_compiler().compile({kernel("#warning warned_of", "x[0] = missing;"), "sm_90"});
    });
    EXPECT_NE(message.find("NVRTC "), std::string::npos) << message;
    EXPECT_NE(message.find(" for sm_90: "), std::string::npos) << message;
    EXPECT_NE(message.find("\npath_kernel.cu(3): error: identifier \"missing\" is undefined"),
              std::string::npos)
        << message;
    EXPECT_EQ(message.find("warned_of"), std::string::npos) << message;

    std::string faults;
    for (int i = 0; i < 50; ++i) faults += "x[0] = missing_" + std::to_string(i) + ";\n";
    const std::string many = refusal(error_kind::compile, [&] {
        nvrtc_compiler().compile({kernel("", faults), "sm_90"});
    });
    EXPECT_NE(many.find("missing_0"), std::string::npos) << many;
    EXPECT_EQ(many.find("missing_9"), std::string::npos) << many;
    EXPECT_LT(many.size(), 1000u);
}

TEST_F(compiler, refuses_an_architecture_it_does_not_know) {
    const std::string message = refusal(error_kind::compile, [] {
        nvrtc_compiler().compile({kernel("", ""), "sm_1"});
    });
    EXPECT_NE(message.find("sm_1"), std::string::npos) << message;
    EXPECT_NE(message.find("--gpu-architecture"), std::string::npos) << message;
}

TEST_F(compiler, its_fingerprint_names_version_options_and_headers) {
    const std::string print = nvrtc_compiler().fingerprint();
    EXPECT_EQ(print.find("NVRTC 1"), 0u) << print;
    EXPECT_NE(print.find("--fmad=false"), std::string::npos) << print;
    EXPECT_EQ(print.find('\n'), std::string::npos) << print;
    EXPECT_EQ(print.size() - print.find(" headers "), 64u + 9u) << print;
}

TEST_F(compiler, compiles_in_parallel) {
    constexpr int threads = 4;
    std::vector<std::string> cubins(threads), messages(threads);
    const auto text = [](int t) {
        return kernel("#include \"kernels/math.h\"",
                      "x[0] = tilewalk::kernels::log(x[1]) * " + std::to_string(t % 2) + ';');
    };
    {
        std::vector<std::jthread> all;
        for (int t = 0; t < threads; ++t) {
            all.emplace_back([&, t] {
                for (int round = 0; round < 3; ++round) {
                    cubins[std::size_t(t)] = nvrtc_compiler().compile({text(t), "sm_90"}).cubin;
                    const std::string fault = "missing_" + std::to_string(t);
                    try {
                        nvrtc_compiler().compile({kernel("", "x[0] = " + fault + ';'), "sm_90"});
                    } catch (const error& e) {
                        messages[std::size_t(t)] = e.message();
                    }
                }
            });
        }
    }
    for (int t = 0; t < threads; ++t) {
        EXPECT_EQ(cubins[std::size_t(t)], nvrtc_compiler().compile({text(t), "sm_90"}).cubin) << t;
        EXPECT_NE(messages[std::size_t(t)].find("missing_" + std::to_string(t)), std::string::npos);
    }
}

TEST_F(compiler, reads_no_header_from_disk) {
    const fs::path before = fs::current_path();
    const tilewalk::tests::own_folder folder;
    fs::create_directories(folder / "kernels");
    for (const char* name : {"math.h", "exponential.h", "arithmetic.h"}) {
        folder.write(fs::path("kernels") / name, "#error from disk\n");
    }
    fs::current_path(folder.path());
    const compile_request what = {kernel("#include \"kernels/math.h\"", ""), "sm_90"};
    EXPECT_NO_THROW(nvrtc_compiler().compile(what));
    fs::current_path(before);
}

TEST_F(compiler, reads_headers_of_the_toolkit_where_it_is_told_to) {
    const tilewalk::tests::own_folder folder;
    folder.write("scale.h", "#define SCALE 2.5\n");
    compile_request what = {
        kernel("#include <scale.h>\n#include \"kernels/math.h\"", "x[0] = SCALE * x[1] + x[2];"), "sm_90"};
    EXPECT_NE(refusal(error_kind::compile, [&] { nvrtc_compiler().compile(what); }).find("scale.h"),
              std::string::npos);
    what.headers = {{"/nowhere", folder.path().string()}, "digest"};
    EXPECT_NE(nvrtc_compiler().compile(what, true).ptx.find("fma.rn.f64"), std::string::npos);
}

TEST_F(compiler, knows_the_folder_of_its_library) {
    const fs::path at = tilewalk::cuda::nvrtc_folder();
    ASSERT_TRUE(fs::is_directory(at)) << at;
    bool has_library = false;
    for (const auto& entry : fs::directory_iterator(at))
        has_library = has_library || entry.path().filename().string().starts_with("libnvrtc.so");
    EXPECT_TRUE(has_library) << at;
}

namespace {

std::string why_not(const std::vector<std::string>& libraries) {
    return refusal(error_kind::device, [&] { tilewalk::cuda::open_nvrtc(libraries); });
}

}  // namespace

TEST(compiler_open_nvrtc, says_what_it_looked_for) {
    EXPECT_EQ(why_not({"libmissing.so.13", "/nowhere/libmissing.so"}),
              "no run-time compiler: NVRTC 12.0 or newer was not found; looked for libmissing.so.13, "
              "/nowhere/libmissing.so");
    const std::string with_reason = why_not({"libmissing.so", "libm.so.6"});
    EXPECT_NE(with_reason.find("libmissing.so, libm.so.6 (is no NVRTC)"), std::string::npos) << with_reason;
}

TEST(compiler_open_nvrtc, takes_no_file_that_is_no_library) {
    const tilewalk::tests::own_folder folder;
    const fs::path file = folder.write("library", "not ELF\n");
    const std::string reason = why_not({file.string()});
    EXPECT_NE(reason.find(file.string() + " (" + file.string()), std::string::npos) << reason;
}

TEST(compiler_open_nvrtc, takes_no_version_that_is_too_old) {
    const tilewalk::tests::own_folder folder;
    const fs::path stem = folder / "old_nvrtc";
    const std::string source = stem.string() + ".cpp", library = stem.string() + ".so";
    const auto build = [&](const std::string& text) {
        std::ofstream(source) << text;
        return std::system(("c++ -shared -fPIC -o '" + library + "' '" + source + "' 2>/dev/null").c_str()) ==
               0;
    };
    if (!build("extern \"C\" int nvrtcVersion(int* a, int* b) { *a = 11; *b = 8; return 0; }\n")) {
        GTEST_SKIP() << "no compiler c++ to build a library with";
    }
    const std::string old = why_not({library});
    EXPECT_NE(old.find(library + " (is NVRTC 11.8)"), std::string::npos) << old;
    // The second library gets another file name, because the loader knows loaded libraries by name.
    const std::string lame = stem.string() + "_lame.so";
    fs::remove(library);
    build("extern \"C\" int nvrtcVersion(int* a, int* b) { *a = 12; *b = 0; return 0; }\n");
    fs::rename(library, lame);
    const std::string lacking = why_not({lame});
    EXPECT_NE(lacking.find(lame + " (lacks functions of NVRTC)"), std::string::npos) << lacking;
    fs::remove(lame);
    fs::remove(source);
}

}  // namespace compiler_test
