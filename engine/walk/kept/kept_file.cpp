// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/kept/kept_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "tilewalk/error.h"

namespace tilewalk::kept {

namespace {

int open_at(const std::filesystem::path& path, int flags) {
    return ::open(path.c_str(), flags | O_CLOEXEC, 0644);
}

class open_file {
  public:
    explicit open_file(int descriptor) : descriptor_(descriptor) {}
    ~open_file() {
        if (is_open()) ::close(descriptor_);
    }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;

    bool is_open() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }
    // Returns false, with errno set, if not everything could be written.
    bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

  private:
    int descriptor_;
};

std::string why_foreign(const struct stat& status) {
    if (status.st_uid != ::geteuid() && status.st_uid != 0)
        return "belongs to user " + std::to_string(status.st_uid);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "may be written by others";
    return {};
}

reading read_file(const std::filesystem::path& path, std::uint64_t most_bytes, std::string& bytes,
                  bool must_be_own) {
    // Nonblocking, so that opening a named pipe returns at once.
    const open_file file(open_at(path, O_RDONLY | O_NONBLOCK));
    if (!file.is_open()) return reading::absent;
    struct stat status {};
    if (::fstat(file.descriptor(), &status) != 0) return reading::absent;
    if (must_be_own && !why_foreign(status).empty()) return reading::foreign;
    if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) > most_bytes)
        return reading::damaged;
    bytes.resize(static_cast<std::size_t>(status.st_size));
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ::ssize_t got = ::read(file.descriptor(), bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return reading::damaged;
        done += static_cast<std::size_t>(got);
    }
    return reading::done;
}

}  // namespace

reading read_file(const std::filesystem::path& path, std::uint64_t most_bytes, std::string& bytes) {
    return read_file(path, most_bytes, bytes, false);
}

reading read_own_file(const std::filesystem::path& path, std::uint64_t most_bytes, std::string& bytes) {
    return read_file(path, most_bytes, bytes, true);
}

std::string why_foreign(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    const std::string why = why_foreign(status);
    return why.empty() ? why : path.string() + ' ' + why;
}

void make_own_folder(const std::filesystem::path& path) {
    std::error_code failed;
    if (std::filesystem::is_directory(path, failed)) return;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
    if (::mkdir(path.c_str(), 0700) == 0) return;
    const int code = errno;
    // Another process may have made it by now.
    if (code == EEXIST && std::filesystem::is_directory(path, failed)) return;
    throw error(error_kind::io, "can't make the folder " + path.string() + ": " +
                                    std::generic_category().message(code == EEXIST ? ENOTDIR : code));
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
    // A name that no other process or thread uses, and no killed process has left behind.
    std::filesystem::path apart;
    const auto open_apart = [&] {
        for (unsigned number = 0;; ++number) {
            apart = path;
            apart += '.' + std::to_string(::getpid()) + '.' + std::to_string(number) + ".tmp";
            const int descriptor = open_at(apart, O_WRONLY | O_CREAT | O_EXCL);
            if (descriptor >= 0 || errno != EEXIST) return descriptor;
        }
    };
    open_file file(open_apart());
    if (!file.is_open()) fail_to_write({apart.string()}, errno);

    const auto give_up = [&](const std::filesystem::path& at) {
        const int number = errno;
        ::unlink(apart.c_str());
        fail_to_write({at.string()}, number);
    };
    while (!bytes.empty()) {
        const ::ssize_t put = ::write(file.descriptor(), bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) give_up(apart);
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    if (::fsync(file.descriptor()) != 0 || !file.close()) give_up(apart);
    if (::rename(apart.c_str(), path.c_str()) != 0) give_up(path);
    // Flushes the folder's entry of the new name. The file is whole in any case, so a failure is ignored.
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    if (const int descriptor = open_at(folder, O_RDONLY | O_DIRECTORY); descriptor >= 0) {
        ::fsync(descriptor);
        ::close(descriptor);
    }
}

}  // namespace tilewalk::kept
