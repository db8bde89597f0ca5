// SPDX-License-Identifier: Apache-2.0
// Errors of the library as Python exceptions: a class for each kind, with place and message.
#include "python/extension/errors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <string>
#include <vector>

#include "python/extension/module.h"
#include "tilewalk/shards.h"

namespace tilewalk::python {

namespace {

void raise(const error& e, const char* kind, const std::vector<std::size_t>& missing = {}) {
    const location& at = e.where();
    nb::object made =
        nb::module_::import_("tilewalk.errors")
            .attr("of")(kind, e.message(), at.file, at.line, at.column, e.key_path(), e.what(), missing);
    PyErr_SetObject(made.type().ptr(), made.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const shards_missing& e) {
        raise(e, "shards_missing", e.which());
    } catch (const machine_failure& e) {
        raise(e, "machine");
    } catch (const error& e) {
        raise(e, word_of(e.kind()));
    }
}

}  // namespace

const char* word_of(error_kind kind) {
    switch (kind) {
        case error_kind::usage:
            return "usage";
        case error_kind::input:
            return "input";
        case error_kind::numeric:
            return "numeric";
        case error_kind::io:
            return "io";
        case error_kind::cancelled:
            return "cancelled";
        case error_kind::device:
            return "device";
        case error_kind::compile:
            return "compile";
        case error_kind::internal:
            return "internal";
    }
    return "internal";
}

void add_errors(nb::module_&) {
    nb::register_exception_translator(translate);
}

}  // namespace tilewalk::python
