// SPDX-License-Identifier: Apache-2.0
// Reports of a machine's devices, for people and for programs.
#include <algorithm>
#include <ostream>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "engine/base/written_json.h"
#include "engine/tell/formats.h"
#include "tilewalk/devices.h"
#include "tilewalk/printable.h"

namespace tilewalk {

namespace {

std::string gibibytes(std::uint64_t bytes) {
    return report::fixed(static_cast<double>(bytes) / (1 << 30), 1) + " GiB";
}

std::string why_not(const processor_page& p) {
    return p.instruction_sets.empty() ? "it has no fused multiply-add; x86-64-v3 (AVX2 and FMA) is needed"
                                      : "";
}

std::string figures(const processor_page& p) {
    if (!why_not(p).empty()) return why_not(p);
    return report::counted(static_cast<std::uint64_t>(p.threads), "thread") + ", " +
           config::joined(p.instruction_sets);
}

std::string figures(const gpu_page& g) {
    if (!g.why_not.empty()) return g.why_not;
    return "compute capability " + g.compute_capability + ", " + gibibytes(g.memory_bytes) + ", " +
           std::to_string(g.multiprocessors) + " multiprocessors";
}

std::string cuda_state(const device_pages& p) {
    if (p.cuda_runtime.empty()) return "built without";
    return "built with " + p.cuda_runtime +
           (p.cuda_driver.empty() ? "; no driver" : "; the driver knows up to " + p.cuda_driver);
}

std::string automatic(const device_pages& p) {
    if (p.automatic.empty()) return "the processor: " + p.why_processor;
    std::vector<std::string> indices;
    for (const int index : p.automatic) indices.push_back(std::to_string(index));
    return "the processor, and " + std::string(indices.size() == 1 ? "GPU " : "GPUs ") +
           config::joined(indices) + " in long runs";
}

std::string table(const device_pages& p, const text_form& form) {
    const std::size_t page_width = report::page_width(form);
    report::columns devices({{"device"}, {"name"}, {"usable"}, {"what it is, or why it can't be used"}});
    const auto add = [&](const std::string& device, const std::string& name, bool usable,
                         const std::string& what) {
        devices.add({device, printable(name), usable ? "yes" : "no", printable(what)});
    };
    add("cpu", p.processor.name, why_not(p.processor).empty(), figures(p.processor));
    for (const gpu_page& g : p.gpus) add(std::to_string(g.index), g.name, g.why_not.empty(), figures(g));

    report::columns rest({{"for GPUs"}, {"state"}});
    if (!p.why_no_gpu.empty()) rest.add({"GPUs", "none: " + printable(p.why_no_gpu)});
    rest.add({"CUDA", cuda_state(p)});
    rest.add({"compiler of kernels", p.compiler.empty()
                                         ? "none: " + printable(p.why_no_compiler)
                                         : printable(p.compiler) + " in " + printable(p.compiler_folder)});
    rest.add({"compiled kernels", p.why_not_kept.empty() ? "kept in " + printable(p.kernel_folder)
                                                         : "not kept: " + printable(p.why_not_kept)});
    rest.add({"device: auto", "takes " + automatic(p)});
    return devices.text(page_width) + "\n" + rest.text(page_width);
}

std::string csv(const device_pages& p, const text_form& form) {
    std::string out =
        "device,name,usable,why_not,compute_capability,memory_bytes,multiprocessors,clock_hertz,uuid\n";
    out += "cpu," + report::csv_field(p.processor.name, form) +
           (why_not(p.processor).empty() ? ",yes," : ",no,") + report::csv_field(why_not(p.processor), form) +
           ",,,,,\n";
    for (const gpu_page& g : p.gpus) {
        out += std::to_string(g.index) + ',' + report::csv_field(g.name, form) +
               (g.why_not.empty() ? ",yes," : ",no,") + report::csv_field(g.why_not, form) + ',' +
               report::csv_field(g.compute_capability, form) + ',' + std::to_string(g.memory_bytes) + ',' +
               std::to_string(g.multiprocessors) + ',' + std::to_string(g.clock_hertz) + ',' +
               report::csv_field(g.uuid, form) + '\n';
    }
    return out;
}

class members {
  public:
    members& text(const char* name, const std::string& value) {
        return raw(name, report::json_string(value));
    }
    members& number(const char* name, std::uint64_t value) { return raw(name, std::to_string(value)); }
    members& truth(const char* name, bool value) { return raw(name, value ? "true" : "false"); }
    members& raw(const char* name, const std::string& value) {
        all_ += (all_.empty() ? "\"" : ", \"") + std::string(name) + "\": " + value;
        return *this;
    }
    std::string object() const { return "{" + all_ + "}"; }

  private:
    std::string all_;
};

template <class Value, class Write>
std::string json_list(const std::vector<Value>& values, const char* gap, Write write) {
    std::string out;
    for (const Value& value : values) out += (out.empty() ? "" : std::string(",") + gap) + write(value);
    return out;
}

std::string json(const device_pages& p) {
    const auto gpu = [](const gpu_page& g) {
        return members()
            .number("device", static_cast<std::uint64_t>(g.index))
            .text("name", g.name)
            .text("uuid", g.uuid)
            .truth("usable", g.why_not.empty())
            .text("why_not", g.why_not)
            .text("compute_capability", g.compute_capability)
            .number("memory_bytes", g.memory_bytes)
            .number("multiprocessors", static_cast<std::uint64_t>(g.multiprocessors))
            .number("clock_hertz", g.clock_hertz)
            .number("shared_bytes", g.shared_bytes)
            .number("l2_bytes", g.l2_bytes)
            .object();
    };
    const std::string processor =
        members()
            .text("name", p.processor.name)
            .truth("usable", why_not(p.processor).empty())
            .text("why_not", why_not(p.processor))
            .number("threads", static_cast<std::uint64_t>(p.processor.threads))
            .raw("instruction_sets",
                 "[" + json_list(p.processor.instruction_sets, " ", report::json_string) + "]")
            .object();
    const std::string cuda = members()
                                 .text("why_no_gpu", p.why_no_gpu)
                                 .text("driver", p.cuda_driver)
                                 .text("runtime", p.cuda_runtime)
                                 .text("compiler", p.compiler)
                                 .text("compiler_folder", p.compiler_folder)
                                 .text("why_no_compiler", p.why_no_compiler)
                                 .text("kernel_folder", p.kernel_folder)
                                 .text("why_not_kept", p.why_not_kept)
                                 .object();
    const std::string taken =
        members()
            .raw("gpus", "[" + json_list(p.automatic, " ", [](int i) { return std::to_string(i); }) + "]")
            .text("why_processor", p.why_processor)
            .object();
    const std::string gpus = json_list(p.gpus, "\n    ", gpu);
    return "{\n  \"processor\": " + processor + ",\n  \"gpus\": [" +
           (gpus.empty() ? "" : "\n    " + gpus + "\n  ") + "],\n  \"cuda\": " + cuda +
           ",\n  \"auto\": " + taken + "\n}\n";
}

}  // namespace

void write(std::ostream& out, const device_pages& pages, output_format format, const text_form& form) {
    switch (format) {
        case output_format::table:
            out << table(pages, form);
            return;
        case output_format::csv:
            out << csv(pages, form);
            return;
        case output_format::json:
            out << json(pages);
            return;
    }
}

}  // namespace tilewalk
