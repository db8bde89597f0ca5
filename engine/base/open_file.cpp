// SPDX-License-Identifier: Apache-2.0
#include "engine/base/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "tilewalk/error.h"

namespace tilewalk::config {
namespace {

// Flags to open files for reading. Without O_NONBLOCK, opening a FIFO would wait for a writer.
constexpr int reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

std::filesystem::path folder_of(const std::filesystem::path& inside) {
    std::error_code failed;
    std::filesystem::path folder = std::filesystem::canonical(inside, failed);
    if (failed)
        throw error(error_kind::io, "the folder can't be found: " + failed.message(), {inside.string()});
    return folder;
}

// Opens a resolved file folder by folder from `folder` on, and follows no link, not even one made meanwhile.
// Returns -1 and sets errno on failure, as open() does.
int open_below(const std::filesystem::path& folder, const std::filesystem::path& file) {
    int at = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    const std::filesystem::path steps = file.lexically_relative(folder);
    for (auto step = steps.begin(); at >= 0 && step != steps.end(); ++step) {
        const bool is_last = std::next(step) == steps.end();
        const int flags = is_last ? reading : O_PATH | O_DIRECTORY | O_CLOEXEC;
        const int next = ::openat(at, step->c_str(), flags | O_NOFOLLOW);
        const int code = errno;
        ::close(at);
        errno = code;
        at = next;
    }
    return at;
}

}  // namespace

std::filesystem::path resolved_inside(const std::filesystem::path& file,
                                      const std::filesystem::path& inside) {
    const std::filesystem::path folder = folder_of(inside);
    std::error_code failed;
    std::filesystem::path resolved =
        std::filesystem::weakly_canonical(std::filesystem::absolute(file), failed);
    const auto [left, rest] = std::mismatch(folder.begin(), folder.end(), resolved.begin(), resolved.end());
    // The message is the same if no such file exists, so that callers learn nothing about files outside.
    if (failed || left != folder.end() || rest == resolved.end()) {
        throw error(error_kind::io,
                    "found a file outside the folder of the file that names it, expected one inside it, as "
                    "files are confined to it",
                    {file.string()});
    }
    return resolved;
}

open_file::open_file(const std::filesystem::path& file, const std::filesystem::path& inside) {
    const std::string name = file.string();
    const auto refuse = [&](const std::string& message) {
        if (descriptor_ >= 0) ::close(descriptor_);
        throw error(error_kind::io, message, {name});
    };
    const auto system_words = [](int code) { return std::generic_category().message(code); };

    descriptor_ = inside.empty() ? ::open(name.c_str(), reading)
                                 : open_below(folder_of(inside), resolved_inside(file, inside));
    if (descriptor_ < 0) {
        const int code = errno;
        if (code == ENOENT) refuse("there is no such file");
        if (code == ENXIO) refuse("found a device or a socket, expected a regular file");
        refuse("the file can't be opened: " + system_words(code));
    }
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) refuse("the file can't be examined: " + system_words(errno));
    if (S_ISDIR(about.st_mode)) refuse("found a directory, expected a file");
    if (S_ISFIFO(about.st_mode)) refuse("found a pipe, expected a regular file");
    if (!S_ISREG(about.st_mode)) refuse("found a device, expected a regular file");
    stated_bytes_ = static_cast<std::uintmax_t>(about.st_size);
}

open_file::~open_file() {
    ::close(descriptor_);
}

}  // namespace tilewalk::config
