#include "stickslip/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace stickslip {

namespace {

const char* kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

[[noreturn]] void throw_write(const std::string& path, int why) {
    throw WriteError(fmt::format("cannot write: {}", std::strerror(why)), {path});
}

}  // namespace

void require_regular(const std::string& path, const std::string& shown) {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return;
    throw Error(fmt::format("is {}, not a file", kind_of(info.st_mode)), {shown.empty() ? path : shown});
}

bool same_file(const std::string& a, const std::string& b) {
    struct stat x, y;
    return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void require_other(const std::string& output, const std::string& input, const char* option) {
    if (output.empty() || input.empty() || !same_file(output, input)) return;
    throw Error(fmt::format("'{}' would overwrite the input '{}'; give another file", output, input), {option, 0, 0});
}

void write_text_file(const std::string& path, std::string_view text) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file) {
        const int why = errno;
        if (why == ENOSPC || why == EDQUOT) throw_write(path, why);
        throw Error(fmt::format("cannot write: {}", std::strerror(why)), {path});
    }
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const int why = errno;
    if (std::fclose(file) != 0) throw_write(path, written ? errno : why);
    if (!written) throw_write(path, why);
}

FolderLock::FolderLock(const std::string& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(std::exchange(descriptor_, -1));
    throw Error("another run is writing here; give another folder with -o", {folder});
}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace stickslip
