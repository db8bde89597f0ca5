// SPDX-License-Identifier: Apache-2.0
// Writes a file whole or not at all: write a draft beside it, flush it to the disk, rename it.
#include "engine/cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "engine/cli/exit_code.h"
#include "engine/cli/terminal/interrupt.h"
#include "tilewalk/error.h"
#include "tilewalk/printable.h"

namespace tilewalk::cli {

namespace {

[[noreturn]] void refuse(const std::string& destination, const std::string& reason) {
    throw error(error_kind::io, "can't write: " + reason,
                {destination == "-" ? "standard output" : destination});
}

[[noreturn]] void refuse(const std::string& destination, int code) {
    refuse(destination, std::generic_category().message(code));
}

[[noreturn]] void fail(const std::string& destination, int code) {
    fail_to_write({destination == "-" ? "standard output" : destination}, code);
}

// Returns 0 or an errno.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR) return errno;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

// Returns 0 or an errno. Some file systems have nothing to flush and report an error for it.
int flush_to_disk(int descriptor) {
    return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

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

    // fill() and keep_as(), too, return 0 or an errno.
    int failure() const { return failure_; }
    int fill(std::string_view text, const std::filesystem::path& as_target) {
        // The new file keeps the permissions of the file it replaces.
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

output::output(std::string destination, std::string option)
    : destination_(std::move(destination)), option_(std::move(option)), target_(destination_) {
    if (is_stdout()) return;
    if (destination_.empty()) refuse(option_, "the name is empty");
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
        if (const int code = write_all(STDOUT_FILENO, text)) fail(destination_, code);
        return note_written();
    }
    if (!direct_) return replace_file(text);
    const int descriptor = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) fail(destination_, errno);
    const int failed = write_all(descriptor, text);
    const int closed = ::close(descriptor) == 0 ? 0 : errno;
    if (failed != 0 || closed != 0) fail(destination_, failed != 0 ? failed : closed);
    note_written();
}

void output::replace_file(std::string_view text) const {
    const std::filesystem::path folder = folder_of(target_);
    const interrupt postponed;  // holds signals back, so that no draft stays behind
    draft beside(folder);
    if (beside.failure() != 0) fail(destination_, beside.failure());
    if (const int code = beside.fill(text, target_)) fail(destination_, code);
    postponed.check();
    if (const int code = beside.keep_as(target_)) fail(destination_, code);
    note_written();
    // A flush of the folder makes the new name durable. The file is complete without, so failures are
    // ignored.
    if (const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); descriptor >= 0) {
        flush_to_disk(descriptor);
        ::close(descriptor);
    }
}

namespace {

struct identity {
    dev_t device = 0;
    ino_t number = 0;

    friend bool operator==(const identity&, const identity&) = default;
};

// Returns the file's identity; empty for a device or a pipe, which may be read and written at once.
std::optional<identity> identity_of(int failed, const struct stat& about) {
    if (failed != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
    return identity{about.st_dev, about.st_ino};
}

std::optional<identity> identity_of(const std::filesystem::path& file) {
    struct stat about {};
    return identity_of(::stat(file.c_str(), &about), about);
}

std::optional<identity> identity_of(int descriptor) {
    struct stat about {};
    return identity_of(::fstat(descriptor, &about), about);
}

// Returns what identifies a file that need not exist: its folder's identity and its name there.
std::pair<std::optional<identity>, std::string> place_of(const std::filesystem::path& file) {
    struct stat about {};
    if (::stat(folder_of(file).c_str(), &about) != 0) return {std::nullopt, file.string()};
    return {identity{about.st_dev, about.st_ino}, file.filename().string()};
}

bool is_same(const output& a, const output& b) {
    if (a.is_stdout() || b.is_stdout()) {
        if (a.is_stdout() && b.is_stdout()) return false;  // two outputs may share stdout, in turn
        const auto file = identity_of(a.is_stdout() ? b.target() : a.target());
        return file && file == identity_of(STDOUT_FILENO);
    }
    const auto first = identity_of(a.target()), second = identity_of(b.target());
    if (first || second) return first && first == second;
    struct stat about {};
    const bool is_to_come =
        ::stat(a.target().c_str(), &about) != 0 && ::stat(b.target().c_str(), &about) != 0;
    return is_to_come && place_of(a.target()) == place_of(b.target());
}

[[noreturn]] void refuse_same(const output& of, const std::string& what) {
    throw error(error_kind::usage,
                (of.is_stdout() ? "" : of.option() + ": ") + "can't write: this is the same file as " + what +
                    "; expected another",
                {of.name(), 0, 0});
}

}  // namespace

void keep_apart(const std::vector<const output*>& outputs, const std::vector<std::filesystem::path>& inputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const output& to = *outputs[i];
        const auto own = to.is_stdout() ? identity_of(STDOUT_FILENO) : identity_of(to.target());
        for (const std::filesystem::path& input : inputs) {
            if (own && own == identity_of(input)) refuse_same(to, "'" + input.string() + "', which is read");
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (is_same(*outputs[j], to))
                refuse_same(to, "that of " + outputs[j]->option() + ", which is written, too");
        }
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

namespace {

bool quiet = false;

}  // namespace

void remark(std::string_view message) {
    if (!quiet) complain(message);
}

void be_quiet() {
    quiet = true;
}

bool is_quiet() {
    return quiet;
}

bool is_terminal(int descriptor) {
    return ::isatty(descriptor) == 1;
}

void guard_standard_streams() {
    // Opens a closed stream on something that refuses use: stdin can't be read, stdout and stderr can't be
    // written.
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace tilewalk::cli
