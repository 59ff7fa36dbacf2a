// A thin owner of HDF5 files and datasets (C API 1.10): names, shapes and whole arrays in and out, growing datasets
// for records, every failure an Error that names the file, a WriteError where bytes did not reach the disk. Files are
// taken as they lie: nothing outside that they name is opened. hdf5.h stays out of this header.
//
// Format used for what we write: superblock 3 and version 2 object headers (every piece of metadata carries a
// checksum), little endian, no time stamps; in growing files metadata packed into pages of 4096 bytes. The pages
// matter for killed runs: a write that stays inside one page of the file is either there or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stickslip/error.hpp"

namespace stickslip {

enum class Hdf5Type { f64, u8, i32, u32, i64, u64 };

template <class T>
constexpr Hdf5Type hdf5_type() {
    if constexpr (std::is_same_v<T, double>)
        return Hdf5Type::f64;
    else if constexpr (std::is_same_v<T, std::uint8_t>)
        return Hdf5Type::u8;
    else if constexpr (std::is_same_v<T, std::int32_t>)
        return Hdf5Type::i32;
    else if constexpr (std::is_same_v<T, std::uint32_t>)
        return Hdf5Type::u32;
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return Hdf5Type::i64;
    else {
        static_assert(std::is_same_v<T, std::uint64_t>, "no HDF5 type for this");
        return Hdf5Type::u64;
    }
}
std::size_t size_of(Hdf5Type type);

// One HDF5 identifier; closes it when it goes.
class Hdf5Handle {
public:
    using Close = int (*)(std::int64_t);
    Hdf5Handle() = default;
    Hdf5Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
    Hdf5Handle(Hdf5Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept;
    ~Hdf5Handle() { reset(); }
    void reset();  // errors are swallowed; files that must be known to be complete use Hdf5File::close

    std::int64_t id() const { return id_; }
    bool valid() const { return id_ >= 0; }
    std::int64_t release();

private:
    std::int64_t id_ = -1;
    Close close_ = nullptr;
};

// An open dataset: `rows` rows of `row_size` numbers each.
class Hdf5Dataset {
public:
    Hdf5Dataset() = default;
    std::uint64_t rows() const { return rows_; }
    std::uint64_t row_size() const { return row_size_; }
    const std::vector<std::uint64_t>& shape() const { return shape_; }

    void grow(std::uint64_t rows);  // only of datasets made by create_growing
    // `data` holds count * row_size() numbers of the type the dataset was created or opened with.
    void write_rows(std::uint64_t first, std::uint64_t count, const void* data);
    void read_rows(std::uint64_t first, std::uint64_t count, void* data) const;
    void flush();
    void abandon() { handle_.release(); }  // see Hdf5File::abandon

private:
    friend class Hdf5File;
    void select(std::uint64_t first, std::uint64_t count, Hdf5Handle& memory, Hdf5Handle& file) const;
    [[noreturn]] void fail(const char* doing) const;
    [[noreturn]] void fail_to_write(const char* doing) const;

    Hdf5Handle handle_;
    Hdf5Type type_ = Hdf5Type::f64;
    std::vector<std::uint64_t> shape_;  // the first entry as it was when opened or last grown
    std::uint64_t rows_ = 0, row_size_ = 1;
    std::shared_ptr<const std::string> shown_;
    std::string name_;
};

class Hdf5File {
public:
    enum class Open {
        create,        // replaces what was there; the same contents give the same bytes
        create_paged,  // likewise, for start_growing; the time stands in its first page
        read,          // a finished file
        follow,        // also a file that is being written, or whose writer was killed (SWMR)
    };
    // Errors name `shown` instead of `path` when it is given: a file built under another name.
    Hdf5File(const std::string& path, Open how, const std::string& shown = {});

    const std::string& path() const { return *shown_; }
    bool has(const std::string& name) const;

    // Whole arrays. `shape` may be left out for a list. Groups in `name` are made as needed.
    template <class T>
    Hdf5Dataset write(const std::string& name, std::span<const T> values, std::vector<std::uint64_t> shape = {}) {
        if (shape.empty()) shape = {values.size()};
        return write_array(name, hdf5_type<T>(), values.data(), values.size(), shape);
    }
    template <class T>
    std::vector<T> read(const std::string& name, std::vector<std::uint64_t>* shape = nullptr) const {
        const Hdf5Dataset dataset = open(name, hdf5_type<T>());
        std::vector<T> values(static_cast<std::size_t>(dataset.rows() * dataset.row_size()));
        dataset.read_rows(0, dataset.rows(), values.data());
        if (shape) *shape = dataset.shape();
        return values;
    }
    void write_text(const std::string& name, std::string_view text);
    std::string read_text(const std::string& name) const;

    // A dataset whose first dimension grows; stored in chunks of `chunk_rows`.
    Hdf5Dataset create_growing(const std::string& name, Hdf5Type type, const std::vector<std::uint64_t>& row_shape,
                               std::uint64_t chunk_rows);
    Hdf5Dataset open(const std::string& name, Hdf5Type type) const;

    // Attributes of a dataset or group; "/" is the file.
    void set_attribute(const std::string& object, const std::string& name, std::string_view text);
    void set_attribute(const std::string& object, const std::string& name, std::uint64_t number);
    bool has_attribute(const std::string& object, const std::string& name) const;
    std::string text_attribute(const std::string& object, const std::string& name) const;
    std::uint64_t number_attribute(const std::string& object, const std::string& name) const;

    // From here on the file can be read while it grows; no dataset, group or attribute can be added any more.
    void start_growing();
    void flush();
    // False when the file that path() names is no longer the one that is open: its folder was removed or replaced.
    bool still_there() const;
    void close();  // throws when the last bytes do not reach the disk
    // Gives up without closing, after a write has failed: closing would mark a growing file as finished although its
    // end is missing, and then nobody could read its good part. Leaks what HDF5 holds for it.
    void abandon() { file_.release(); }

private:
    Hdf5Dataset write_array(const std::string& name, Hdf5Type type, const void* data, std::size_t count,
                            const std::vector<std::uint64_t>& shape);
    [[noreturn]] void fail(const std::string& doing) const;
    [[noreturn]] void fail_to_write(const std::string& doing) const;

    std::shared_ptr<const std::string> shown_;
    std::string disk_path_;
    Hdf5Handle file_;
    bool following_ = false;
};

// FNV-1a, 64 bits, over bytes; `seed` chains calls.
inline constexpr std::uint64_t fnv_offset = 0xcbf29ce484222325u;
std::uint64_t fnv1a(const void* data, std::size_t bytes, std::uint64_t seed = fnv_offset);

// The same over words of eight bytes, the last filled up with zeros: eight times as fast. Any change within one word shows.
std::uint64_t fnv1a_words(const void* data, std::size_t bytes);

// The superblock's account of the file: marked as being written, or shorter than the file is. Clears both so that
// programs which open files in the plain way can read a file whose writer was killed; what h5clear -s --increment=0
// does, in one write of 48 bytes. True if something was changed. Throws Error for files that are not ours and while the
// writer is alive.
bool clear_open_mark(const std::string& path);

}  // namespace stickslip
