// SPDX-License-Identifier: Apache-2.0
// Conversion between Python objects (dicts, lists, numbers, texts, dates) and tilewalk::value.
#pragma once

#include <filesystem>

#include "python/extension/module.h"
#include "tilewalk/options.h"
#include "tilewalk/value.h"

namespace tilewalk::python {

// Throws tilewalk::error (usage) for an object that has no form as a value.
value value_of(nb::handle object);
nb::any object_of(const value& of);

std::filesystem::path path_of(nb::handle object);

load_options loading(bool strict, bool confine);

}  // namespace tilewalk::python
