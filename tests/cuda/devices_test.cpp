// SPDX-License-Identifier: Apache-2.0
// `tilewalk devices` (the list of GPUs), on made-up machines and on this one.
#include "tilewalk/devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/walk/cuda/device/device.h"
#include "tilewalk/engine.h"
#include "tilewalk/printable.h"
#include "tilewalk/write.h"

namespace tilewalk::devices_test {

namespace {

std::string written(const device_pages& pages, output_format as) {
    std::ostringstream out;
    write(out, pages, as);
    return out.str();
}

device_pages two_gpus() {
    device_pages p;
    p.processor = {"A Processor", 64, {"x86-64-v4", "x86-64-v3"}};
    gpu_page good;
    good.name = "NVIDIA H100 80GB HBM3";
    good.uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
    good.compute_capability = "9.0";
    good.memory_bytes = 85017624576;
    good.multiprocessors = 132;
    good.clock_hertz = 1980000000;
    good.shared_bytes = 232448;
    good.l2_bytes = 52428800;
    gpu_page old;
    old.index = 1;
    old.name = "Tesla, \"T4\"";
    old.compute_capability = "7.5";
    old.why_not = "compute capability 7.5, 8.0 is needed";
    p.gpus = {good, old};
    p.cuda_driver = "13.1";
    p.cuda_runtime = "13.0";
    p.compiler = "NVRTC 13.0";
    p.compiler_folder = "/usr/local/cuda/lib64";
    p.kernel_folder = "/home/someone/.cache/tilewalk";
    p.automatic = {0};
    return p;
}

device_pages no_gpu() {
    device_pages p;
    p.processor = {"A Processor", 2, {}};
    p.why_no_gpu = "no NVIDIA driver";
    p.cuda_runtime = "13.0";
    p.why_no_compiler = "libnvrtc is not found";
    p.why_not_kept = "/home/no one: Permission denied";
    p.why_processor = "no NVIDIA driver";
    return p;
}

TEST(devices, as_a_table) {
    EXPECT_EQ("\n" + written(two_gpus(), output_format::table), R"(
device  name                   usable  what it is, or why it can't be used
------  ---------------------  ------  -----------------------------------------------------
cpu     A Processor            yes     64 threads, x86-64-v4, x86-64-v3
0       NVIDIA H100 80GB HBM3  yes     compute capability 9.0, 79.2 GiB, 132 multiprocessors
1       Tesla, "T4"            no      compute capability 7.5, 8.0 is needed

for GPUs             state
-------------------  --------------------------------------------
CUDA                 built with 13.0; the driver knows up to 13.1
compiler of kernels  NVRTC 13.0 in /usr/local/cuda/lib64
compiled kernels     kept in /home/someone/.cache/tilewalk
device: auto         takes the processor, and GPU 0 in long runs
)");
    EXPECT_EQ("\n" + written(no_gpu(), output_format::table), R"(
device  name         usable  what it is, or why it can't be used
------  -----------  ------  ----------------------------------------------------------------
cpu     A Processor  no      it has no fused multiply-add; x86-64-v3 (AVX2 and FMA) is needed

for GPUs             state
-------------------  -----------------------------------------
GPUs                 none: no NVIDIA driver
CUDA                 built with 13.0; no driver
compiler of kernels  none: libnvrtc is not found
compiled kernels     not kept: /home/no one: Permission denied
device: auto         takes the processor: no NVIDIA driver
)");
}

TEST(devices, as_csv) {
    EXPECT_EQ(written(two_gpus(), output_format::csv),
              "device,name,usable,why_not,compute_capability,memory_bytes,multiprocessors,clock_hertz,uuid\n"
              "cpu,A Processor,yes,,,,,,\n"
              "0,NVIDIA H100 80GB HBM3,yes,,9.0,85017624576,132,1980000000,"
              "GPU-01234567-89ab-cdef-0123-456789abcdef\n"
              "1,\"Tesla, \"\"T4\"\"\",no,\"compute capability 7.5, 8.0 is needed\",7.5,0,0,0,\n");
}

TEST(devices, as_json) {
    const auto got = nlohmann::json::parse(written(two_gpus(), output_format::json));
    EXPECT_EQ(got["processor"]["instruction_sets"], (nlohmann::json{"x86-64-v4", "x86-64-v3"}));
    EXPECT_EQ(got["processor"]["threads"], 64);
    ASSERT_EQ(got["gpus"].size(), 2u);
    EXPECT_EQ(got["gpus"][0]["memory_bytes"], 85017624576);
    EXPECT_EQ(got["gpus"][0]["usable"], true);
    EXPECT_EQ(got["gpus"][1]["name"], "Tesla, \"T4\"");
    EXPECT_EQ(got["gpus"][1]["usable"], false);
    EXPECT_EQ(got["auto"]["gpus"], nlohmann::json{0});
    EXPECT_EQ(got["cuda"]["compiler_folder"], "/usr/local/cuda/lib64");
    const auto none = nlohmann::json::parse(written(no_gpu(), output_format::json));
    EXPECT_EQ(none["gpus"], nlohmann::json::array());
    EXPECT_EQ(none["processor"]["usable"], false);
    EXPECT_EQ(none["cuda"]["why_no_gpu"], "no NVIDIA driver");
    EXPECT_EQ(none["cuda"]["why_not_kept"], "/home/no one: Permission denied");
    EXPECT_EQ(none["auto"]["gpus"], nlohmann::json::array());
}

TEST(devices, of_this_machine) {
    const device_pages p = describe_devices();
    EXPECT_EQ(p.processor.instruction_sets, engine::instruction_sets());
    EXPECT_GT(p.processor.threads, 0);
    EXPECT_EQ(p.gpus.empty(), !p.why_no_gpu.empty()) << p.why_no_gpu;
    EXPECT_EQ(p.gpus.size(), cuda::survey_devices().devices.size());
    EXPECT_EQ(p.compiler.empty(), !p.why_no_compiler.empty()) << p.compiler << p.why_no_compiler;
    EXPECT_EQ(p.compiler.empty(), p.compiler_folder.empty()) << p.compiler_folder;
    EXPECT_EQ(p.automatic.empty(), !p.why_processor.empty()) << p.why_processor;
    for (const int index : p.automatic) EXPECT_EQ(p.gpus.at(static_cast<std::size_t>(index)).why_not, "");
    for (const auto as : {output_format::table, output_format::csv, output_format::json}) {
        const std::string text = written(p, as);
        EXPECT_NE(text.find(printable(p.processor.name)), std::string::npos) << text;
        EXPECT_EQ(text.back(), '\n');
    }
}

}  // namespace

}  // namespace tilewalk::devices_test
