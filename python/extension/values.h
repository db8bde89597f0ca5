// SPDX-License-Identifier: Apache-2.0
// Values of Python (dicts, lists, numbers, texts, dates) as those that YAML writes, and back.
#pragma once

#include <filesystem>

#include "python/extension/module.h"
#include "tilewalk/load_options.h"
#include "tilewalk/value.h"

namespace tilewalk::python {

// Throws tilewalk::error (usage) for an object that has no such value.
value value_of(nb::handle object);
nb::any object_of(const value& of);

// A text, or whatever os.fspath takes.
std::filesystem::path path_of(nb::handle object);

load_options loading(bool strict, bool confine);

}  // namespace tilewalk::python
