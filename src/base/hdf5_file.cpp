#include "base/hdf5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>

#include "stickslip/files.hpp"

namespace stickslip {

static_assert(std::is_same_v<hid_t, std::int64_t>, "HDF5 1.10 or later is needed");

namespace {

// HDF5 prints its error stack unless told otherwise. We tell it only while we are inside it, so that a program
// that uses HDF5 itself keeps its own setting.
class Quiet {
public:
    Quiet() {
        H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

herr_t keep_innermost(unsigned, const H5E_error2_t* error, void* text) {
    if (error && error->desc) *static_cast<std::string*>(text) = error->desc;
    return 0;
}

// Keeps HDF5 from tidying up when the program ends, if nobody has used it yet. Our files are closed by their owners;
// what could be left is a file that cannot be closed (disk full, damaged), and HDF5 1.10 then crashes or complains of
// an infinite loop after main.
void end_quietly() {
    static const bool once = H5dont_atexit() >= 0;
    static_cast<void>(once);
}

// The deepest sentence of HDF5's error stack; where it quotes the system's words, just these.
std::string reason() {
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &text);
    static constexpr std::string_view mark = "error message = '";
    if (const std::size_t at = text.find(mark); at != std::string::npos) {
        const std::size_t from = at + mark.size();
        return text.substr(from, text.find('\'', from) - from);
    }
    if (!text.empty()) return text;
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? std::strerror(errno) : "HDF5 gives no reason";
}

hid_t file_type(Hdf5Type type) {
    switch (type) {
        case Hdf5Type::f64: return H5T_IEEE_F64LE;
        case Hdf5Type::u8: return H5T_STD_U8LE;
        case Hdf5Type::i32: return H5T_STD_I32LE;
        case Hdf5Type::u32: return H5T_STD_U32LE;
        case Hdf5Type::i64: return H5T_STD_I64LE;
        case Hdf5Type::u64: return H5T_STD_U64LE;
    }
    return -1;
}

hid_t memory_type(Hdf5Type type) {
    switch (type) {
        case Hdf5Type::f64: return H5T_NATIVE_DOUBLE;
        case Hdf5Type::u8: return H5T_NATIVE_UINT8;
        case Hdf5Type::i32: return H5T_NATIVE_INT32;
        case Hdf5Type::u32: return H5T_NATIVE_UINT32;
        case Hdf5Type::i64: return H5T_NATIVE_INT64;
        case Hdf5Type::u64: return H5T_NATIVE_UINT64;
    }
    return -1;
}

Hdf5Handle space(const std::vector<std::uint64_t>& shape) {
    const std::vector<hsize_t> dims(shape.begin(), shape.end());
    return {H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose};
}

// Makes the groups that `name` runs through. HDF5 could do it by itself, but would stamp them with the time.
void make_groups(hid_t file, const std::string& name) {
    const Hdf5Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_obj_track_times(properties.id(), false);
    for (std::size_t end = name.find('/', 1); end != std::string::npos; end = name.find('/', end + 1)) {
        const std::string group = name.substr(0, end);
        if (H5Lexists(file, group.c_str(), H5P_DEFAULT) == 0)
            Hdf5Handle(H5Gcreate2(file, group.c_str(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Gclose).reset();
    }
}

Hdf5Handle dataset_properties() {
    Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(properties.id(), false);
    H5Pset_fill_time(properties.id(), H5D_FILL_TIME_IFSET);
    return properties;
}

// Text of a fixed length: no global heap, whose contents HDF5 does not protect by a checksum.
Hdf5Handle text_type(std::size_t length) {
    Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.id(), length == 0 ? 1 : length);
    H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
    H5Tset_cset(type.id(), H5T_CSET_UTF8);
    return type;
}

std::string trimmed(std::string text) {
    text.resize(std::strlen(text.c_str()));
    return text;
}

// How names are looked up. A file is read as it lies: a link in it that names another file is not followed. Refusing here,
// where HDF5 asks before it opens the other file, also covers links that lead there by way of others.
class Inside {
public:
    explicit Inside(hid_t kind) : properties_(H5Pcreate(kind), H5Pclose) {
        H5Pset_elink_cb(properties_.id(), refuse, &left_);
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    hid_t id() const { return properties_.id(); }
    void check(const std::string& name, const std::string& file) const {
        if (left_) throw Error(fmt::format("'{}' is a link to another file, which is not followed", name), {file});
    }

private:
    static herr_t refuse(const char*, const char*, const char*, const char*, unsigned*, hid_t, void* left) {
        *static_cast<bool*>(left) = true;
        return -1;
    }
    Hdf5Handle properties_;
    bool left_ = false;
};

// Numbers that lie in other files: external storage and virtual datasets.
void check_stored_here(hid_t dataset, const std::string& name, const std::string& file) {
    const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose);
    if (H5Pget_layout(properties.id()) == H5D_VIRTUAL || H5Pget_external_count(properties.id()) > 0)
        throw Error(fmt::format("'{}' keeps its numbers in another file, which is not opened", name), {file});
}

// What an array may claim: with compression, which gains at most a factor of about 1030, and without. Growing arrays may be
// longer than what has been written. More has no data behind it, and asking memory for it could end the program.
constexpr std::uint64_t max_compression = 1100, max_growth = 2, growth_bytes = 1u << 20;

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 40;  // more in one array is a damaged header, not a record

}  // namespace

std::size_t size_of(Hdf5Type type) {
    switch (type) {
        case Hdf5Type::f64:
        case Hdf5Type::i64:
        case Hdf5Type::u64: return 8;
        case Hdf5Type::i32:
        case Hdf5Type::u32: return 4;
        case Hdf5Type::u8: return 1;
    }
    return 0;
}

Hdf5Handle& Hdf5Handle::operator=(Hdf5Handle&& other) noexcept {
    if (this != &other) {
        reset();
        id_ = other.release();
        close_ = other.close_;
    }
    return *this;
}

void Hdf5Handle::reset() {
    if (id_ < 0) return;
    const Quiet quiet;
    close_(id_);
    id_ = -1;
}

std::int64_t Hdf5Handle::release() {
    const std::int64_t id = id_;
    id_ = -1;
    return id;
}

// --- datasets ---

void Hdf5Dataset::fail(const char* doing) const {
    throw Error(fmt::format("cannot {} '{}': {}", doing, name_, reason()), {*shown_});
}

void Hdf5Dataset::fail_to_write(const char* doing) const {
    throw WriteError(fmt::format("cannot {} '{}': {}", doing, name_, reason()), {*shown_});
}

void Hdf5Dataset::grow(std::uint64_t rows) {
    const Quiet quiet;
    shape_[0] = rows;
    const std::vector<hsize_t> dims(shape_.begin(), shape_.end());
    if (H5Dset_extent(handle_.id(), dims.data()) < 0) fail_to_write("extend");
    rows_ = rows;
}

void Hdf5Dataset::select(std::uint64_t first, std::uint64_t count, Hdf5Handle& memory, Hdf5Handle& file) const {
    if (first > rows_ || count > rows_ - first)
        throw Error(fmt::format("'{}' has {} rows, {} are needed", name_, rows_, first + count), {*shown_});
    file = {H5Dget_space(handle_.id()), H5Sclose};
    if (shape_.empty()) {
        memory = {H5Screate(H5S_SCALAR), H5Sclose};
        return;
    }
    std::vector<hsize_t> start(shape_.size(), 0), length(shape_.begin(), shape_.end());
    start[0] = first;
    length[0] = count;
    memory = {H5Screate_simple(static_cast<int>(length.size()), length.data(), nullptr), H5Sclose};
    if (!file.valid() || !memory.valid() ||
        H5Sselect_hyperslab(file.id(), H5S_SELECT_SET, start.data(), nullptr, length.data(), nullptr) < 0)
        fail("select rows of");
}

void Hdf5Dataset::write_rows(std::uint64_t first, std::uint64_t count, const void* data) {
    if (count == 0 || row_size_ == 0) return;
    const Quiet quiet;
    Hdf5Handle memory, file;
    select(first, count, memory, file);
    if (H5Dwrite(handle_.id(), memory_type(type_), memory.id(), file.id(), H5P_DEFAULT, data) < 0)
        fail_to_write("write");
}

void Hdf5Dataset::read_rows(std::uint64_t first, std::uint64_t count, void* data) const {
    const Quiet quiet;
    Hdf5Handle memory, file;
    select(first, count, memory, file);
    if (count == 0 || row_size_ == 0) return;
    if (H5Dread(handle_.id(), memory_type(type_), memory.id(), file.id(), H5P_DEFAULT, data) < 0) fail("read");
}

void Hdf5Dataset::flush() {
    const Quiet quiet;
    if (H5Dflush(handle_.id()) < 0) fail_to_write("flush");
}

// --- files ---

Hdf5File::Hdf5File(const std::string& path, Open how, const std::string& shown)
    : shown_(std::make_shared<const std::string>(shown.empty() ? path : shown)),
      disk_path_(path),
      following_(how == Open::follow) {
    const bool creating = how == Open::create || how == Open::create_paged;
    end_quietly();
    const Quiet quiet;
    // The system says it better than HDF5: "No such file or directory", "Permission denied", "Is a directory".
    std::error_code ignored;
    require_regular(path, *shown_);
    const bool existed = std::filesystem::exists(path, ignored);
    std::FILE* probe = std::fopen(path.c_str(), creating ? "ab" : "rb");
    if (!probe) {
        const int why = errno;
        const std::string words = fmt::format("cannot {}: {}", creating ? "write" : "open", std::strerror(why));
        if (creating && (why == ENOSPC || why == EDQUOT)) throw WriteError(words, {*shown_});
        throw Error(words, {*shown_});
    }
    std::fclose(probe);

    Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_LATEST);
    H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
    // No locks: a reader must not keep a run from writing nor the other way round, and some file systems have none.
    // Two runs into one file are kept apart by whoever names the files. HDF5_USE_FILE_LOCKING still overrides this.
    H5Pset_file_locking(access.id(), false, true);
    // HDF5 sleeps 1, 2, 4, .. ns between two looks at metadata with a wrong checksum. Its default of 100 looks would
    // wait for ever at a damaged file; 22 wait 4 ms, a thousand times longer than a write takes.
    if (how == Open::follow) H5Pset_metadata_read_attempts(access.id(), 22);
    hid_t id = -1;
    if (creating) {
        Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
        H5Pset_obj_track_times(creation.id(), false);
        if (how == Open::create_paged) {
            // Pages of the size of the system's pages. If they were larger, a kill could leave half a piece of metadata.
            H5Pset_file_space_strategy(creation.id(), H5F_FSPACE_STRATEGY_PAGE, false, 1);
            H5Pset_file_space_page_size(creation.id(), 4096);
        }
        id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id());
    } else {
        id = H5Fopen(path.c_str(), how == Open::follow ? H5F_ACC_RDONLY | H5F_ACC_SWMR_READ : H5F_ACC_RDONLY,
                     access.id());
    }
    if (id < 0) {
        const std::string why = reason();
        if (creating && !existed) std::filesystem::remove(path, ignored);
        if (creating) throw WriteError(fmt::format("cannot write: {}", why), {*shown_});
        throw Error(fmt::format("cannot open as HDF5: {}", why), {*shown_});
    }
    file_ = {id, H5Fclose};
}

void Hdf5File::fail(const std::string& doing) const {
    throw Error(fmt::format("cannot {}: {}", doing, reason()), {*shown_});
}

void Hdf5File::fail_to_write(const std::string& doing) const {
    throw WriteError(fmt::format("cannot {}: {}", doing, reason()), {*shown_});
}

bool Hdf5File::has(const std::string& name) const {
    const Quiet quiet;
    const Inside access(H5P_LINK_ACCESS);
    for (std::size_t end = name.find('/', 1); end != std::string::npos; end = name.find('/', end + 1))
        if (H5Lexists(file_.id(), name.substr(0, end).c_str(), access.id()) <= 0) {
            access.check(name, *shown_);
            return false;
        }
    const bool there = H5Lexists(file_.id(), name.c_str(), access.id()) > 0;
    access.check(name, *shown_);
    return there;
}

Hdf5Dataset Hdf5File::write_array(const std::string& name, Hdf5Type type, const void* data, std::size_t count,
                                  const std::vector<std::uint64_t>& shape) {
    const Quiet quiet;
    Hdf5Dataset dataset;
    dataset.shown_ = shown_;
    dataset.name_ = name;
    dataset.type_ = type;
    dataset.shape_ = shape;
    dataset.rows_ = shape[0];
    for (std::size_t i = 1; i < shape.size(); ++i) dataset.row_size_ *= shape[i];
    SS_ASSERT(dataset.rows_ * dataset.row_size_ == count, "shape and number of values differ");
    const Hdf5Handle extent = space(shape);
    const Hdf5Handle properties = dataset_properties();
    if (count > 0) H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY);
    make_groups(file_.id(), name);
    dataset.handle_ = {
        H5Dcreate2(file_.id(), name.c_str(), file_type(type), extent.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
        H5Dclose};
    if (!dataset.handle_.valid()) dataset.fail_to_write("create");
    dataset.write_rows(0, dataset.rows_, data);
    return dataset;
}

void Hdf5File::write_text(const std::string& name, std::string_view text) {
    const Quiet quiet;
    const Hdf5Handle type = text_type(text.size()), extent(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Handle properties = dataset_properties();
    make_groups(file_.id(), name);
    const Hdf5Handle dataset(
        H5Dcreate2(file_.id(), name.c_str(), type.id(), extent.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
        H5Dclose);
    if (!dataset.valid()) fail_to_write("create '" + name + "'");
    const char* data = text.empty() ? "" : text.data();
    if (H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        fail_to_write("write '" + name + "'");
}

std::string Hdf5File::read_text(const std::string& name) const {
    const Quiet quiet;
    const Inside access(H5P_DATASET_ACCESS);
    const Hdf5Handle dataset(H5Dopen2(file_.id(), name.c_str(), access.id()), H5Dclose);
    access.check(name, *shown_);
    if (!dataset.valid()) fail("open '" + name + "'");
    check_stored_here(dataset.id(), name, *shown_);
    const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose), extent(H5Dget_space(dataset.id()), H5Sclose);
    const std::size_t length = H5Tget_size(type.id());
    if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) != 0 ||
        H5Sget_simple_extent_npoints(extent.id()) != 1 || length > H5Dget_storage_size(dataset.id()))
        throw Error(fmt::format("'{}' is not a text of fixed length", name), {*shown_});
    std::string text(length, '\0');
    if (H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0) fail("read '" + name + "'");
    return trimmed(text);
}

Hdf5Dataset Hdf5File::create_growing(const std::string& name, Hdf5Type type,
                                     const std::vector<std::uint64_t>& row_shape, std::uint64_t chunk_rows) {
    const Quiet quiet;
    Hdf5Dataset dataset;
    dataset.shown_ = shown_;
    dataset.name_ = name;
    dataset.type_ = type;
    dataset.shape_ = {0};
    for (const std::uint64_t n : row_shape) {
        dataset.shape_.push_back(n);
        dataset.row_size_ *= n;
    }
    std::vector<hsize_t> dims(dataset.shape_.begin(), dataset.shape_.end()), most = dims, chunk = dims;
    most[0] = H5S_UNLIMITED;
    chunk[0] = chunk_rows;
    for (hsize_t& n : chunk) n = n == 0 ? 1 : n;  // an empty row still needs a chunk
    const Hdf5Handle extent(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), most.data()), H5Sclose);
    const Hdf5Handle properties = dataset_properties();
    if (H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data()) < 0) dataset.fail_to_write("chunk");
    make_groups(file_.id(), name);
    dataset.handle_ = {
        H5Dcreate2(file_.id(), name.c_str(), file_type(type), extent.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
        H5Dclose};
    if (!dataset.handle_.valid()) dataset.fail_to_write("create");
    return dataset;
}

Hdf5Dataset Hdf5File::open(const std::string& name, Hdf5Type type) const {
    const Quiet quiet;
    Hdf5Dataset dataset;
    dataset.shown_ = shown_;
    dataset.name_ = name;
    dataset.type_ = type;
    if (!has(name)) throw Error(fmt::format("has no array '{}'", name), {*shown_});
    const Inside access(H5P_DATASET_ACCESS);
    dataset.handle_ = {H5Dopen2(file_.id(), name.c_str(), access.id()), H5Dclose};
    access.check(name, *shown_);
    if (!dataset.handle_.valid()) dataset.fail("open");
    check_stored_here(dataset.handle_.id(), name, *shown_);
    if (following_ && H5Drefresh(dataset.handle_.id()) < 0) dataset.fail("refresh");  // forget what was cached
    const Hdf5Handle stored(H5Dget_type(dataset.handle_.id()), H5Tclose);
    const H5T_class_t expected = type == Hdf5Type::f64 ? H5T_FLOAT : H5T_INTEGER;
    if (H5Tget_class(stored.id()) != expected)
        throw Error(fmt::format("'{}' should hold {}", name, expected == H5T_FLOAT ? "numbers" : "integers"),
                    {*shown_});
    const Hdf5Handle extent(H5Dget_space(dataset.handle_.id()), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(extent.id());
    if (rank < 0 || rank > H5S_MAX_RANK) dataset.fail("measure");
    std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
    if (rank > 0 && H5Sget_simple_extent_dims(extent.id(), dims.data(), nullptr) < 0) dataset.fail("measure");
    dataset.shape_.assign(dims.begin(), dims.end());
    dataset.rows_ = rank > 0 ? dims[0] : 1;
    // Sizes from a damaged or hostile header must not reach an allocation: unfiltered data must really be there.
    std::uint64_t bytes = size_of(type);
    for (const std::uint64_t n : dims) {
        if (n != 0 && bytes > max_bytes / n) throw Error(fmt::format("'{}' has an impossible size", name), {*shown_});
        bytes *= n;
    }
    for (std::size_t i = 1; i < dims.size(); ++i) dataset.row_size_ *= dims[i];
    const Hdf5Handle properties(H5Dget_create_plist(dataset.handle_.id()), H5Pclose);
    const std::uint64_t stored_bytes = bytes / size_of(type) * H5Tget_size(stored.id());
    const bool filtered = H5Pget_nfilters(properties.id()) != 0;
    if (!filtered && H5Pget_layout(properties.id()) != H5D_CHUNKED &&
        H5Dget_storage_size(dataset.handle_.id()) < stored_bytes)
        throw Error(fmt::format("'{}' is larger than what is stored", name), {*shown_});
    std::error_code ignored;
    const std::uint64_t there = std::filesystem::file_size(disk_path_, ignored);
    if (ignored || bytes > (filtered ? max_compression * there : max_growth * there + growth_bytes))
        throw Error(
            fmt::format("is damaged: '{}' claims {} numbers, more than the file can hold", name, bytes / size_of(type)),
            {*shown_});
    return dataset;
}

// --- attributes ---

namespace {

Hdf5Handle open_object(hid_t file, const std::string& name) {
    return {H5Oopen(file, name.c_str(), Inside(H5P_LINK_ACCESS).id()), H5Oclose};
}

}  // namespace

void Hdf5File::set_attribute(const std::string& object, const std::string& name, std::string_view text) {
    const Quiet quiet;
    const Hdf5Handle owner = open_object(file_.id(), object), type = text_type(text.size());
    const Hdf5Handle extent(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Handle attribute(H5Acreate2(owner.id(), name.c_str(), type.id(), extent.id(), H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose);
    if (!attribute.valid() || H5Awrite(attribute.id(), type.id(), text.empty() ? "" : text.data()) < 0)
        fail_to_write(fmt::format("set attribute '{}' of '{}'", name, object));
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name, std::uint64_t number) {
    const Quiet quiet;
    const Hdf5Handle owner = open_object(file_.id(), object), extent(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Handle attribute(
        H5Acreate2(owner.id(), name.c_str(), H5T_STD_U64LE, extent.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!attribute.valid() || H5Awrite(attribute.id(), H5T_NATIVE_UINT64, &number) < 0)
        fail_to_write(fmt::format("set attribute '{}' of '{}'", name, object));
}

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
    const Quiet quiet;
    return H5Aexists_by_name(file_.id(), object.c_str(), name.c_str(), Inside(H5P_LINK_ACCESS).id()) > 0;
}

std::string Hdf5File::text_attribute(const std::string& object, const std::string& name) const {
    const Quiet quiet;
    const Hdf5Handle attribute(
        H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, Inside(H5P_LINK_ACCESS).id()), H5Aclose);
    if (!attribute.valid()) fail(fmt::format("read attribute '{}' of '{}'", name, object));
    const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose), extent(H5Aget_space(attribute.id()), H5Sclose);
    const std::size_t length = H5Tget_size(type.id());
    if (H5Tget_class(type.id()) != H5T_STRING || H5Sget_simple_extent_npoints(extent.id()) != 1)
        throw Error(fmt::format("attribute '{}' of '{}' should be text", name, object), {*shown_});
    if (H5Tis_variable_str(type.id()) > 0) {  // as h5py writes them
        char* text = nullptr;
        const Hdf5Handle memory(H5Tcopy(type.id()), H5Tclose);
        if (H5Aread(attribute.id(), memory.id(), &text) < 0 || !text)
            fail(fmt::format("read attribute '{}' of '{}'", name, object));
        const std::string copy = text;
        H5Dvlen_reclaim(memory.id(), extent.id(), H5P_DEFAULT, &text);
        return copy;
    }
    if (length > H5Aget_storage_size(attribute.id()))
        throw Error(fmt::format("attribute '{}' of '{}' is damaged", name, object), {*shown_});
    std::string text(length, '\0');
    if (H5Aread(attribute.id(), type.id(), text.data()) < 0)
        fail(fmt::format("read attribute '{}' of '{}'", name, object));
    return trimmed(text);
}

std::uint64_t Hdf5File::number_attribute(const std::string& object, const std::string& name) const {
    const Quiet quiet;
    const Hdf5Handle attribute(
        H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, Inside(H5P_LINK_ACCESS).id()), H5Aclose);
    if (!attribute.valid()) fail(fmt::format("read attribute '{}' of '{}'", name, object));
    const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose), extent(H5Aget_space(attribute.id()), H5Sclose);
    std::uint64_t number = 0;
    if (H5Tget_class(type.id()) != H5T_INTEGER || H5Sget_simple_extent_npoints(extent.id()) != 1)
        throw Error(fmt::format("attribute '{}' of '{}' should be one integer", name, object), {*shown_});
    if (H5Aread(attribute.id(), H5T_NATIVE_UINT64, &number) < 0)
        fail(fmt::format("read attribute '{}' of '{}'", name, object));
    return number;
}

// --- the life of a file ---

void Hdf5File::start_growing() {
    const Quiet quiet;
    if (H5Fstart_swmr_write(file_.id()) < 0) fail_to_write("open for readers");
    // A shared lock, which readers do not mind and which ends with the process: tells clear_open_mark that the writer
    // is alive. Where there are no locks that question stays open.
    void* descriptor = nullptr;
    if (H5Fget_vfd_handle(file_.id(), H5P_DEFAULT, &descriptor) >= 0 && descriptor)
        ::flock(*static_cast<const int*>(descriptor), LOCK_SH | LOCK_NB);
}

void Hdf5File::flush() {
    const Quiet quiet;
    if (H5Fflush(file_.id(), H5F_SCOPE_GLOBAL) < 0) fail_to_write("write");
}

void Hdf5File::close() {
    if (!file_.valid()) return;
    flush();
    const Quiet quiet;
    if (H5Fclose(file_.release()) < 0) fail_to_write("close");
}

bool Hdf5File::still_there() const {
    void* descriptor = nullptr;
    struct stat open, named;
    if (H5Fget_vfd_handle(file_.id(), H5P_DEFAULT, &descriptor) < 0 || !descriptor) return true;
    if (::fstat(*static_cast<const int*>(descriptor), &open) != 0) return true;
    return ::stat(shown_->c_str(), &named) == 0 && open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

std::uint64_t fnv1a_words(const void* data, std::size_t bytes) {
    const unsigned char* p = static_cast<const unsigned char*>(data);
    std::uint64_t sum = fnv_offset;
    for (; bytes > 0; p += 8) {
        const std::size_t n = bytes < 8 ? bytes : 8;
        std::uint64_t word = 0;
        std::memcpy(&word, p, n);
        sum = (sum ^ word) * 0x100000001b3u;
        bytes -= n;
    }
    return sum;
}

std::uint64_t fnv1a(const void* data, std::size_t bytes, std::uint64_t seed) {
    const unsigned char* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) seed = (seed ^ p[i]) * 0x100000001b3u;
    return seed;
}

}  // namespace stickslip
