// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/arrays/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "engine/base/open_file.h"
#include "tilewalk/error.h"

namespace tilewalk::arrays {

mapped_file map_file(const std::filesystem::path& file, const std::filesystem::path& inside) {
    const config::open_file opened(file, inside);
    const auto size = static_cast<std::size_t>(opened.stated_bytes());
    if (size == 0) return {};
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.descriptor(), 0);
    if (at == MAP_FAILED) {
        throw error(error_kind::io,
                    "the file can't be mapped into memory: " + std::generic_category().message(errno),
                    {file.string()});
    }
    const auto unmap = [size](const void* p) { ::munmap(const_cast<void*>(p), size); };
    return {{static_cast<const std::byte*>(at), size}, std::shared_ptr<const void>(at, unmap)};
}

std::string name_of(const std::filesystem::path& file) {
    if (file.parent_path() != "/proc/self/fd") return file.string();
    std::error_code none;
    std::string name = std::filesystem::read_symlink(file, none).string();
    constexpr std::string_view memory = "/memfd:", gone = " (deleted)";
    if (!name.starts_with(memory)) return file.string();
    if (name.ends_with(gone)) name.resize(name.size() - gone.size());
    return name.substr(memory.size()) + " in memory";
}

}  // namespace tilewalk::arrays
