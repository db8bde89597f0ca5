// SPDX-License-Identifier: Apache-2.0
#include "engine/machine.h"

#include <sys/utsname.h>

#include <fstream>
#include <thread>

namespace tilewalk {

std::string machine_name() {
    utsname system{};
    std::string name =
        uname(&system) == 0 ? std::string(system.machine) + " " + system.sysname : "unknown system";
    std::ifstream processors("/proc/cpuinfo");
    for (std::string line; std::getline(processors, line);) {
        if (!line.starts_with("model name")) continue;
        const auto colon = line.find(':');
        if (colon != std::string::npos && colon + 2 <= line.size()) name += ", " + line.substr(colon + 2);
        break;
    }
    return name + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
}

std::string compiler_name() {
#if defined(__clang__)
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

}  // namespace tilewalk
