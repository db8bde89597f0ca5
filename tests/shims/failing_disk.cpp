// SPDX-License-Identifier: Apache-2.0
// A library to preload, by which a file system fails once: call number FAILING_DISK_AT of the function
// FAILING_DISK_CALL on files below FAILING_DISK_FOLDER, counted from 1, fails with the errno
// FAILING_DISK_ERRNO. A write that fails has written half of its bytes. The file FAILING_DISK_MARK records
// that the failure came.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<int> calls = 0;

bool is_below_folder(const char* path) {
    const char* const folder = std::getenv("FAILING_DISK_FOLDER");
    return folder != nullptr && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool is_below_folder(int descriptor) {
    char link[64], path[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t size = ::readlink(link, path, sizeof path - 1);
    if (size < 0) return false;
    path[size] = '\0';
    return is_below_folder(path);
}

bool fails(const char* name) {
    const char* const call = std::getenv("FAILING_DISK_CALL");
    if (call == nullptr || std::strcmp(call, name) != 0) return false;
    if (++calls != std::atoi(std::getenv("FAILING_DISK_AT"))) return false;
    ::close(::open(std::getenv("FAILING_DISK_MARK"), O_CREAT | O_WRONLY, 0666));
    errno = std::atoi(std::getenv("FAILING_DISK_ERRNO"));
    return true;
}

template <class function>
function next(const char* name) {
    return reinterpret_cast<function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
    static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
    if (is_below_folder(descriptor) && fails("write")) {
        const int number = errno;
        [[maybe_unused]] const ssize_t half = real(descriptor, bytes, count / 2);
        errno = number;
        return -1;
    }
    return real(descriptor, bytes, count);
}

int fsync(int descriptor) {
    static const auto real = next<int (*)(int)>("fsync");
    return is_below_folder(descriptor) && fails("fsync") ? -1 : real(descriptor);
}

int rename(const char* from, const char* to) {
    static const auto real = next<int (*)(const char*, const char*)>("rename");
    return is_below_folder(to) && fails("rename") ? -1 : real(from, to);
}

}  // extern "C"
