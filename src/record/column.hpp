// An array of a record that grows row by row.
#pragma once

#include <algorithm>
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
    void create(Hdf5File& file, const std::string& name, Hdf5Type type, std::vector<std::uint64_t> row_shape,
                std::uint64_t chunk_bytes, const char* unit, const char* words) {
        std::uint64_t row = size_of(type);
        for (const std::uint64_t n : row_shape) row *= n;
        row_bytes_ = row;
        const std::uint64_t chunk_rows = row == 0 ? 1 : std::max<std::uint64_t>(1, chunk_bytes / row);
        dataset_ = file.create_growing(name, type, row_shape, chunk_rows);
        if (*unit) file.set_attribute(name, "unit", unit);
        if (*words) file.set_attribute(name, "about", words);
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
    // `rows` is given for rows of no numbers, whose bytes cannot be counted.
    void append(std::uint64_t rows) {
        if (row_bytes_ > 0) rows = buffer_.size() / row_bytes_;
        if (rows == 0) return;
        const std::uint64_t first = dataset_.rows();
        dataset_.grow(first + rows);
        dataset_.write_rows(first, rows, buffer_.data());
        buffer_.clear();
    }
    std::size_t buffered() const { return buffer_.size(); }
    void abandon() { dataset_.abandon(); }

private:
    Hdf5Dataset dataset_;
    std::uint64_t row_bytes_ = 0;
    std::vector<unsigned char> buffer_;
};

}  // namespace stickslip
