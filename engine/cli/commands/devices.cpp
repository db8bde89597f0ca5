// SPDX-License-Identifier: Apache-2.0
// tilewalk devices: what this machine can price with, and why a device is not used.
#include "tilewalk/devices.h"

#include <memory>
#include <sstream>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/output.h"
#include "engine/cli/settings.h"
#include "engine/cli/terminal/terminal.h"

namespace tilewalk::cli {

namespace {

int show(const std::string& format) {
    const output_format as = parse_format(format, "--format");
    std::ostringstream text;
    write(text, describe_devices(), as, form_of_stdout());
    output("-").write(text.view());
    return all_well;
}

}  // namespace

command add_devices(CLI::App& to) {
    CLI::App* app = to.add_subcommand("devices", "List the processor and the GPUs, and what they need")
                        ->group("Commands");
    const auto format = std::make_shared<std::string>("table");
    offers(app->add_option("--format", *format, "table, csv or json (default table)"), format_words())
        ->type_name("NAME");
    app->footer(
        "The first column has the names for --device. No device is opened, so other work is not "
        "disturbed.\n\n"
        "Examples:\n"
        "  tilewalk devices\n"
        "  tilewalk devices --format json");
    return {app, [format] { return show(*format); }};
}

}  // namespace tilewalk::cli
