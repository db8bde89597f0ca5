// SPDX-License-Identifier: Apache-2.0
#include "engine/config/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "tilewalk/error.h"

namespace tilewalk::config {

open_file::open_file(const std::filesystem::path& file) {
    const std::string name = file.string();
    const auto refuse = [&](const std::string& message) {
        if (descriptor_ >= 0) ::close(descriptor_);
        throw error(error_kind::io, message, {name});
    };
    const auto system_words = [](int code) { return std::generic_category().message(code); };

    // Not blocking: opening a FIFO would otherwise wait for somebody to write to it.
    descriptor_ = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor_ < 0) {
        const int code = errno;
        if (code == ENOENT) refuse("there is no such file");
        if (code == ENXIO) refuse("this is not a regular file");
        refuse("the file can't be opened: " + system_words(code));
    }
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) refuse("the file can't be examined: " + system_words(errno));
    if (S_ISDIR(about.st_mode)) refuse("this is a directory, expected a file");
    if (S_ISFIFO(about.st_mode)) refuse("this is a pipe, expected a regular file");
    if (!S_ISREG(about.st_mode)) refuse("this is a device, expected a regular file");
    stated_bytes_ = static_cast<std::uintmax_t>(about.st_size);
}

open_file::~open_file() {
    ::close(descriptor_);
}

}  // namespace tilewalk::config
