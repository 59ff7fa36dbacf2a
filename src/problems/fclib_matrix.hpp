// Sparse matrices as FCLIB stores them: a group with m, n, nz, nzmax (one integer each) and the lists p, i, x.
//
//   nz >= 0   nz triplets: row i[k], column p[k], value x[k]
//   nz = -1   compressed columns: column j owns the entries p[j] .. p[j + 1] - 1, their rows in i
//   nz = -2   compressed rows: row j owns the entries p[j] .. p[j + 1] - 1, their columns in i
//
// The files of the collections agree on this reading of triplets; FCLIB's own header names p and i the other way round.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hdf5_file.hpp"

namespace stickslip {

struct SparseEntry {
    int row, column;
    double value;
};

struct SparseMatrix {
    int rows = 0, columns = 0;
    std::vector<SparseEntry> entries;  // by row, then column, none twice
    SparseMatrix transposed() const;
};

// Arrays whose claimed size the file cannot hold, indices out of range and values that are not finite are refused.
SparseMatrix read_fclib_matrix(const Hdf5File& file, const std::string& group);
std::vector<double> read_fclib_vector(const Hdf5File& file, const std::string& name, int size);
std::vector<std::int32_t> read_fclib_integers(const Hdf5File& file, const std::string& name);
int read_fclib_integer(const Hdf5File& file, const std::string& name);

// Compressed rows. Entries in the order above.
void write_fclib_matrix(Hdf5File& file, const std::string& group, const SparseMatrix& matrix);
void write_fclib_integer(Hdf5File& file, const std::string& name, std::int32_t value);

}  // namespace stickslip
