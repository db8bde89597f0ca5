// SPDX-License-Identifier: Apache-2.0
// Devices, versions, and the whole command, run in this process.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "engine/cli/all_commands.h"
#include "engine/cli/program.h"
#include "python/extension/interpreter.h"
#include "python/extension/module.h"
#include "python/extension/runs.h"
#include "tilewalk/devices.h"
#include "tilewalk/version.h"

namespace tilewalk::python {

namespace {

nb::dict devices() {
    device_pages pages;
    std::string json, shown;
    {
        const without_interpreter others_run;
        pages = describe_devices();
        json = text_of(pages, output_format::json);
        shown = text_of(pages, output_format::table);
    }
    nb::dict out;
    out["json"] = json;
    out["text"] = shown;
    out["automatic"] = pages.automatic;
    out["why_no_gpu"] = pages.why_no_gpu;
    out["why_processor"] = pages.why_processor;
    return out;
}

int run_command(const std::vector<std::string>& arguments, const std::vector<std::string>& starts) {
    using namespace tilewalk::cli;
    const without_interpreter others_run;
    return run_program(arguments, all_commands(add_bench, add_verify), starts);
}

}  // namespace

void add_machine(nb::module_& to) {
    to.def("devices", devices);
    to.def("run_command", run_command, nb::arg("arguments"), nb::arg("starts"));
    to.attr("version") = std::string(version());
    to.attr("compiler") = compiler();
    to.attr("cuda_version") = std::string(cuda_version());
}

}  // namespace tilewalk::python
