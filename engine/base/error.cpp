// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tilewalk {

namespace {

std::string with_place(const std::string& message, const location& where, const std::string& key_path) {
    std::string text = to_string(where);
    if (!text.empty()) text += ": ";
    if (!key_path.empty()) text += key_path + ": ";
    return text + message;
}

}  // namespace

std::string to_string(const location& where) {
    std::string text = where.file;
    if (where.line > 0) {
        if (text.empty())
            text = "line ";
        else
            text += ':';
        text += std::to_string(where.line);
        if (where.column > 0) text += ':' + std::to_string(where.column);
    }
    return text;
}

error::error(error_kind kind, const std::string& message, location where, std::string key_path)
    : std::runtime_error(with_place(message, where, key_path)),
      kind_(kind),
      where_(std::move(where)),
      key_path_(std::move(key_path)),
      message_(message) {}

void fail_to_write(const location& where, int number) {
    constexpr std::array of_place{EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, ENAMETOOLONG, EBADF};
    const std::string message = "can't write: " + std::generic_category().message(number);
    if (std::ranges::find(of_place, number) != of_place.end()) throw error(error_kind::io, message, where);
    throw machine_failure(error_kind::io, message, where);
}

}  // namespace tilewalk
