// SPDX-License-Identifier: Apache-2.0
// Whole files or none: write beside, flush to the disk, rename.
#include "engine/cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "engine/cli/interrupt.h"
#include "tilewalk/error.h"
#include "tilewalk/results.h"

namespace tilewalk::cli {

namespace {

[[noreturn]] void refuse(const std::string& destination, const std::string& reason) {
    throw error(error_kind::io, "can't write: " + reason,
                {destination == "-" ? "standard output" : destination});
}

[[noreturn]] void refuse(const std::string& destination, int code) {
    refuse(destination, std::generic_category().message(code));
}

// 0, or why it did not go.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR) return errno;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

// Some file systems have nothing to flush and say so.
int flush_to_disk(int descriptor) {
    return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

// A file under a name that nobody uses, gone again unless it is kept.
class draft {
  public:
    explicit draft(const std::filesystem::path& folder) {
        for (int attempt = 0; attempt < 100; ++attempt) {
            name_ = folder / (".tilewalk." + std::to_string(::getpid()) + "." + std::to_string(attempt));
            descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (descriptor_ >= 0 || errno != EEXIST) break;
        }
        failure_ = descriptor_ >= 0 ? 0 : errno;
    }
    ~draft() {
        if (descriptor_ >= 0) ::close(descriptor_);
        if (failure_ == 0 && !kept_) ::unlink(name_.c_str());
    }
    draft(const draft&) = delete;
    draft& operator=(const draft&) = delete;

    // Each is 0 or an errno.
    int failure() const { return failure_; }
    int fill(std::string_view text, const std::filesystem::path& as_target) {
        // An old file's permissions outlive its replacement.
        struct stat old {};
        if (::stat(as_target.c_str(), &old) == 0 && ::fchmod(descriptor_, old.st_mode & 07777) != 0)
            return errno;
        if (const int code = write_all(descriptor_, text)) return code;
        if (const int code = flush_to_disk(descriptor_)) return code;
        const int closed = ::close(descriptor_);
        descriptor_ = -1;
        return closed == 0 ? 0 : errno;
    }
    int keep_as(const std::filesystem::path& target) {
        if (::rename(name_.c_str(), target.c_str()) != 0) return errno;
        kept_ = true;
        return 0;
    }

  private:
    std::filesystem::path name_;
    int descriptor_ = -1, failure_ = 0;
    bool kept_ = false;
};

std::filesystem::path folder_of(const std::filesystem::path& file) {
    return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace

output::output(std::string destination) : destination_(std::move(destination)), target_(destination_) {
    if (is_stdout()) return;
    if (destination_.empty()) refuse("--output", "the name is empty");
    std::error_code unknown;
    if (const auto real = std::filesystem::canonical(target_, unknown); !unknown) target_ = real;
    struct stat found {};
    if (::stat(target_.c_str(), &found) == 0) {
        if (S_ISDIR(found.st_mode)) refuse(destination_, "it is a folder");
        direct_ = !S_ISREG(found.st_mode);
        if (::access(target_.c_str(), W_OK) != 0) refuse(destination_, errno);
        if (direct_) return;
    } else if (errno != ENOENT || !target_.has_filename()) {
        refuse(destination_, errno);
    }
    const std::filesystem::path folder = folder_of(target_);
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        refuse(destination_,
               "the folder '" + folder.string() + "': " + std::generic_category().message(errno));
}

void output::write(std::string_view text) const {
    if (is_stdout()) {
        if (const int code = write_all(STDOUT_FILENO, text)) refuse(destination_, code);
        return;
    }
    if (!direct_) return replace_file(text);
    const int descriptor = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) refuse(destination_, errno);
    const int failed = write_all(descriptor, text);
    const int closed = ::close(descriptor) == 0 ? 0 : errno;
    if (failed != 0 || closed != 0) refuse(destination_, failed != 0 ? failed : closed);
}

void output::replace_file(std::string_view text) const {
    const std::filesystem::path folder = folder_of(target_);
    const interrupt postponed;  // so that no draft is left lying about
    draft beside(folder);
    if (beside.failure() != 0) refuse(destination_, beside.failure());
    if (const int code = beside.fill(text, target_)) refuse(destination_, code);
    postponed.check();
    if (const int code = beside.keep_as(target_)) refuse(destination_, code);
    // The new name is on the disk only when the folder is. The file itself is complete, so this is no reason
    // to fail.
    if (const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); descriptor >= 0) {
        flush_to_disk(descriptor);
        ::close(descriptor);
    }
}

void complain(std::string_view message) {
    std::string lines;
    while (!message.empty()) {
        const auto end = std::min(message.find('\n'), message.size());
        lines += printable(message.substr(0, end)) + '\n';
        message.remove_prefix(std::min(end + 1, message.size()));
    }
    write_all(STDERR_FILENO, lines);
}

bool is_terminal(int descriptor) {
    return ::isatty(descriptor) == 1;
}

void guard_standard_streams() {
    // A closed stream becomes one that refuses: reading where it should write, writing where it should read.
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace tilewalk::cli
