// SPDX-License-Identifier: Apache-2.0
#include "engine/base/machine.h"

#include <sys/utsname.h>
#include <ctime>

#include <fstream>
#include <thread>

namespace tilewalk {

namespace {

std::string read_processor_name() {
    std::ifstream processors("/proc/cpuinfo");
    for (std::string line; std::getline(processors, line);) {
        if (!line.starts_with("model name")) continue;
        const auto colon = line.find(':');
        return colon != std::string::npos && colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    }
    return "";
}

}  // namespace

std::string processor_name() {
    // Keep the name, because every run asks for it and reading takes long.
    static const std::string name = read_processor_name();
    return name;
}

std::string machine_name() {
    utsname system{};
    std::string name =
        uname(&system) == 0 ? std::string(system.machine) + " " + system.sysname : "unknown system";
    if (const std::string processor = processor_name(); !processor.empty()) name += ", " + processor;
    return name + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[11];
    std::strftime(text, sizeof(text), "%Y-%m-%d", &utc);
    return text;
}

}  // namespace tilewalk
