#include "problems/fclib_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/check_numbers.hpp"

namespace stickslip {

namespace {

template <class T>
std::vector<T> read_list(const Hdf5File& file, const std::string& name) {
    return file.read<T>(name);
}

// By row, then column; entries of the same place are added in the order of the file.
void sort_and_add(std::vector<SparseEntry>& entries) {
    std::stable_sort(entries.begin(), entries.end(), [](const SparseEntry& a, const SparseEntry& b) {
        return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    std::size_t kept = 0;
    for (const SparseEntry& e : entries) {
        if (kept > 0 && entries[kept - 1].row == e.row && entries[kept - 1].column == e.column)
            entries[kept - 1].value += e.value;
        else
            entries[kept++] = e;
    }
    entries.resize(kept);
}

}  // namespace

SparseMatrix SparseMatrix::transposed() const {
    SparseMatrix result{columns, rows, entries};
    for (SparseEntry& e : result.entries) std::swap(e.row, e.column);
    sort_and_add(result.entries);
    return result;
}

std::vector<std::int32_t> read_fclib_integers(const Hdf5File& file, const std::string& name) {
    return read_list<std::int32_t>(file, name);
}

int read_fclib_integer(const Hdf5File& file, const std::string& name) {
    const std::vector<std::int32_t> list = read_list<std::int32_t>(file, name);
    if (list.size() != 1) throw Error(fmt::format("'{}' should be one integer", name), {file.path()});
    return list[0];
}

std::vector<double> read_fclib_vector(const Hdf5File& file, const std::string& name, int size) {
    std::vector<double> x = read_list<double>(file, name);
    if (x.size() != static_cast<std::size_t>(size))
        throw Error(fmt::format("'{}' has {} entries, expected {}", name, x.size(), size), {file.path()});
    check_finite(x, name, file.path());
    return x;
}

SparseMatrix read_fclib_matrix(const Hdf5File& file, const std::string& group) {
    const auto fail = [&](const std::string& words) {
        throw Error(fmt::format("matrix '{}' {}", group, words), {file.path()});
    };
    SparseMatrix result;
    result.rows = read_fclib_integer(file, group + "/m");
    result.columns = read_fclib_integer(file, group + "/n");
    const int nz = read_fclib_integer(file, group + "/nz");
    if (result.rows < 0 || result.columns < 0) fail(fmt::format("has the size {} x {}", result.rows, result.columns));
    if (nz < -2) fail(fmt::format("has nz = {}; expected the number of triplets, -1 (columns) or -2 (rows)", nz));
    const auto p = read_list<std::int32_t>(file, group + "/p");
    const auto i = read_list<std::int32_t>(file, group + "/i");
    auto x = read_list<double>(file, group + "/x");

    const std::size_t outer = static_cast<std::size_t>(nz == -1 ? result.columns : result.rows);
    if (nz < 0 && p.size() != outer + 1) fail(fmt::format("has {} pointers, expected {}", p.size(), outer + 1));
    const std::int64_t count = nz >= 0 ? nz : p.back();
    if (count < 0 || static_cast<std::uint64_t>(count) > std::min(i.size(), x.size()) ||
        (nz >= 0 && static_cast<std::size_t>(nz) > p.size()))
        fail(fmt::format("claims {} entries, but stores {} indices and {} values", count, i.size(), x.size()));
    x.resize(static_cast<std::size_t>(count));
    check_finite(x, group + "/x", file.path());

    result.entries.reserve(x.size());
    if (nz >= 0) {
        for (std::size_t k = 0; k < x.size(); ++k) result.entries.push_back({i[k], p[k], x[k]});
    } else {
        if (p[0] != 0) fail("does not begin its pointers with 0");
        for (std::size_t j = 0; j < outer; ++j) {
            if (p[j + 1] < p[j] || p[j + 1] > count) fail(fmt::format("has wrong pointers at {}", j));
            for (int k = p[j]; k < p[j + 1]; ++k) {
                const int inner = i[k], index = static_cast<int>(j);
                result.entries.push_back({nz == -1 ? inner : index, nz == -1 ? index : inner, x[k]});
            }
        }
    }
    for (const SparseEntry& e : result.entries)
        if (e.row < 0 || e.row >= result.rows || e.column < 0 || e.column >= result.columns)
            fail(fmt::format("is {} x {} but has an entry in row {}, column {}", result.rows, result.columns, e.row,
                             e.column));
    sort_and_add(result.entries);
    for (const SparseEntry& e : result.entries)
        if (std::abs(e.value) > largest_number)
            fail(fmt::format("adds up to {} in row {}, column {}", e.value, e.row, e.column));
    return result;
}

void write_fclib_integer(Hdf5File& file, const std::string& name, std::int32_t value) {
    file.write<std::int32_t>(name, {&value, 1});
}

void write_fclib_matrix(Hdf5File& file, const std::string& group, const SparseMatrix& matrix) {
    std::vector<std::int32_t> p(static_cast<std::size_t>(matrix.rows) + 1, 0), i;
    std::vector<double> x;
    for (const SparseEntry& e : matrix.entries) {
        ++p[e.row + 1];
        i.push_back(e.column);
        x.push_back(e.value);
    }
    for (std::size_t j = 1; j < p.size(); ++j) p[j] += p[j - 1];
    write_fclib_integer(file, group + "/m", matrix.rows);
    write_fclib_integer(file, group + "/n", matrix.columns);
    write_fclib_integer(file, group + "/nz", -2);
    write_fclib_integer(file, group + "/nzmax", static_cast<std::int32_t>(x.size()));
    file.write<std::int32_t>(group + "/p", p);
    file.write<std::int32_t>(group + "/i", i);
    file.write<double>(group + "/x", x);
}

}  // namespace stickslip
