// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "tilewalk/error.h"

namespace tilewalk::replay {

mapped_file map_file(const std::filesystem::path& file) {
    const std::string name = file.string();
    const auto refuse = [&](const std::string& message) { throw error(error_kind::io, message, {name}); };
    const auto system_words = [](int code) { return std::generic_category().message(code); };

    // Not blocking: opening a FIFO would otherwise wait for somebody to write to it.
    struct descriptor {
        int number;
        ~descriptor() {
            if (number >= 0) ::close(number);
        }
    };
    const descriptor opened{::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (opened.number < 0) {
        const int code = errno;
        refuse(code == ENOENT ? "there is no such file" : "the file can't be opened: " + system_words(code));
    }
    struct stat about {};
    if (::fstat(opened.number, &about) != 0) refuse("the file can't be examined: " + system_words(errno));
    if (S_ISDIR(about.st_mode)) refuse("this is a directory, expected a file");
    if (!S_ISREG(about.st_mode)) refuse("this is no regular file");

    const auto size = static_cast<std::size_t>(about.st_size);
    if (size == 0) return {};
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.number, 0);
    if (at == MAP_FAILED) refuse("the file can't be mapped into memory: " + system_words(errno));
    const auto unmap = [size](const void* p) { ::munmap(const_cast<void*>(p), size); };
    return {{static_cast<const std::byte*>(at), size}, std::shared_ptr<const void>(at, unmap)};
}

}  // namespace tilewalk::replay
