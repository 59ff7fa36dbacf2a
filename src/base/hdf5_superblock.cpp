// The first 48 bytes of an HDF5 file with superblock version 2 or 3, little endian [HDF5 File Format Specification
// 3.0, II.A]:
//
//   0 signature (8)   8 version   9 size of offsets   10 size of lengths   11 consistency flags
//   12 base address (8)   20 extension (8)   28 end of file (8)   36 root group (8)   44 checksum (4)
//
// Flags: bit 0 open for writing, bit 2 open for SWMR writing. The checksum is Jenkins' lookup3 of bytes 0 to 43.
// HDF5 has no public call that clears the flags; its tool h5clear goes through private properties.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/hdf5_file.hpp"

namespace stickslip {

namespace {

constexpr std::size_t superblock_size = 48, checksum_at = 44, flags_at = 11, end_at = 28;
using Superblock = std::array<unsigned char, superblock_size>;

// Bob Jenkins' hashlittle, as HDF5 uses it, initial value 0; public domain.
std::uint32_t lookup3(const unsigned char* k, std::size_t length) {
    std::uint32_t a = 0xdeadbeefu + static_cast<std::uint32_t>(length), b = a, c = a;
    const auto word = [&](std::size_t i) {  // bytes past the end count as zero
        std::uint32_t w = 0;
        for (std::size_t j = 0; j < 4 && i + j < length; ++j) w |= static_cast<std::uint32_t>(k[i + j]) << (8 * j);
        return w;
    };
    std::size_t i = 0;
    for (; length - i > 12; i += 12) {
        a += word(i), b += word(i + 4), c += word(i + 8);
        a -= c, a ^= std::rotl(c, 4), c += b;
        b -= a, b ^= std::rotl(a, 6), a += c;
        c -= b, c ^= std::rotl(b, 8), b += a;
        a -= c, a ^= std::rotl(c, 16), c += b;
        b -= a, b ^= std::rotl(a, 19), a += c;
        c -= b, c ^= std::rotl(b, 4), b += a;
    }
    if (i == length) return c;
    a += word(i), b += word(i + 4), c += word(i + 8);
    c ^= b, c -= std::rotl(b, 14);
    a ^= c, a -= std::rotl(c, 11);
    b ^= a, b -= std::rotl(a, 25);
    c ^= b, c -= std::rotl(b, 16);
    a ^= c, a -= std::rotl(c, 4);
    b ^= a, b -= std::rotl(a, 14);
    c ^= b, c -= std::rotl(b, 24);
    return c;
}

std::uint64_t get(const Superblock& s, std::size_t at, std::size_t bytes) {
    std::uint64_t x = 0;
    for (std::size_t i = 0; i < bytes; ++i) x |= static_cast<std::uint64_t>(s[at + i]) << (8 * i);
    return x;
}

void put(Superblock& s, std::size_t at, std::size_t bytes, std::uint64_t x) {
    for (std::size_t i = 0; i < bytes; ++i) s[at + i] = static_cast<unsigned char>(x >> (8 * i));
}

struct Descriptor {
    int fd;
    ~Descriptor() { ::close(fd); }
};

}  // namespace

bool clear_open_mark(const std::string& path) {
    const Descriptor file{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
    if (file.fd < 0) throw Error(fmt::format("cannot open for repair: {}", std::strerror(errno)), {path});
    if (::flock(file.fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw Error("is in use: its run is still writing, or a reader has it open", {path});
    Superblock s;
    struct stat status {};
    if (::fstat(file.fd, &status) != 0 || ::pread(file.fd, s.data(), s.size(), 0) != static_cast<ssize_t>(s.size()))
        throw Error("is too short to be an HDF5 file", {path});
    if (std::memcmp(s.data(), "\211HDF\r\n\032\n", 8) != 0) throw Error("is not an HDF5 file", {path});
    if ((s[8] != 2 && s[8] != 3) || s[9] != 8 || s[10] != 8)
        throw Error("has an older HDF5 format, which has no open mark", {path});
    if (get(s, checksum_at, 4) != lookup3(s.data(), checksum_at)) throw Error("has a damaged HDF5 superblock", {path});

    const std::uint64_t size = static_cast<std::uint64_t>(status.st_size);
    const bool marked = s[flags_at] != 0, shorter = get(s, end_at, 8) < size;
    if (!marked && !shorter) return false;
    s[flags_at] = 0;
    put(s, end_at, 8, size);  // also when the file is shorter than it should be: the disk was full
    put(s, checksum_at, 4, lookup3(s.data(), checksum_at));
    if (::pwrite(file.fd, s.data(), s.size(), 0) != static_cast<ssize_t>(s.size()) || ::fsync(file.fd) != 0)
        throw Error(fmt::format("cannot repair: {}", std::strerror(errno)), {path});
    return true;
}

}  // namespace stickslip
