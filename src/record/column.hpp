// An array of a record that grows row by row.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/hdf5_file.hpp"

namespace stickslip {

// One growing dataset and the rows that wait for it.
class Column {
public:
    // Sizes of a row in one direction: a number, or one that the model gives.
    using Extent = std::int64_t;
    static constexpr Extent coordinates = -1, velocities = -2, bodies = -3;

    // Enters itself into `list`.
    Column(std::vector<Column*>& list, const char* name, Hdf5Type type, std::vector<Extent> row_shape, const char* unit,
           const char* words)
        : name_(name), type_(type), row_shape_(std::move(row_shape)), unit_(unit), words_(words) {
        list.push_back(this);
    }
    Column(const Column&) = delete;
    Column& operator=(const Column&) = delete;

    // `expected` rows will come, as far as anybody knows.
    void create(Hdf5File& file, std::uint64_t nq, std::uint64_t nv, std::uint64_t body_count, std::uint64_t chunk_bytes,
                std::uint64_t expected) {
        row_bytes_ = size_of(type_);
        std::vector<std::uint64_t> shape;
        for (const Extent extent : row_shape_) {
            const std::uint64_t given[] = {nq, nv, body_count};
            shape.push_back(extent < 0 ? given[-1 - extent] : static_cast<std::uint64_t>(extent));
            row_bytes_ *= shape.back();
        }
        chunk_bytes =
            std::clamp(expected / most_chunks * row_bytes_, chunk_bytes, std::max(chunk_bytes, largest_chunk));
        const std::uint64_t chunk_rows = row_bytes_ == 0 ? 1 : std::max<std::uint64_t>(1, chunk_bytes / row_bytes_);
        dataset_ = file.create_growing(name_, type_, shape, chunk_rows);
        if (*unit_) file.set_attribute(name_, "unit", unit_);
        if (*words_) file.set_attribute(name_, "about", words_);
    }
    template <class T>
    void add(const T* values, std::size_t n) {
        const std::size_t at = buffer_.size();
        buffer_.resize(at + n * sizeof(T));
        if (n > 0) std::memcpy(buffer_.data() + at, values, n * sizeof(T));
    }
    template <class T>
    void add(T value) {
        add(&value, 1);
    }
    // `new_rows` is for rows of no numbers, in models without bodies or coordinates: their bytes cannot be counted.
    void append(std::uint64_t new_rows) {
        const std::uint64_t rows = row_bytes_ > 0 ? buffer_.size() / row_bytes_ : new_rows;
        check_ = {dataset_.rows() + rows, fnv1a_words(buffer_.data(), buffer_.size())};
        if (rows == 0) return;
        const std::uint64_t first = dataset_.rows();
        dataset_.grow(first + rows);
        dataset_.write_rows(first, rows, buffer_.data());
        buffer_.clear();
    }
    // Of the last append: rows from then on, and the check of what it added.
    const std::array<std::uint64_t, 2>& check() const { return check_; }
    const char* name() const { return name_; }
    std::size_t buffered() const { return buffer_.size(); }
    void abandon() { dataset_.abandon(); }

private:
    // HDF5 keeps an entry in memory for every few chunks of a file that grows: many small ones let a long run swell. Chunks
    // larger than this make every flush write megabytes.
    static constexpr std::uint64_t most_chunks = 256, largest_chunk = 256 * 1024;

    const char* name_;
    Hdf5Type type_;
    std::vector<Extent> row_shape_;
    const char *unit_, *words_;
    Hdf5Dataset dataset_;
    std::uint64_t row_bytes_ = 0;
    std::vector<unsigned char> buffer_;
    std::array<std::uint64_t, 2> check_{};
};

}  // namespace stickslip
