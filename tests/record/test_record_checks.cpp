// The checksums of records: damage in the numbers is told by the name of its array.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>

#include "base/hdf5_file.hpp"
#include "record/fake_run.hpp"
#include "record/record_layout.hpp"

namespace stickslip {
namespace {

using namespace testing;

// What the reader says against a record; nothing if it takes it.
std::string refusal_of(const std::string& file) {
    try {
        read_record(file);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// Where the first byte of an array lies in the file; 0 if it has none.
std::uint64_t first_byte(const std::string& file, const std::string& name) {
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(id, name.c_str(), H5P_DEFAULT);
    haddr_t place = H5Dget_offset(dataset);
    const hid_t properties = H5Dget_create_plist(dataset);
    if (H5Pget_layout(properties) == H5D_CHUNKED) {
        hsize_t chunks = 0, size = 0, offset[4] = {};
        unsigned filters = 0;
        const hid_t space = H5Dget_space(dataset);
        H5Dget_num_chunks(dataset, space, &chunks);
        place = HADDR_UNDEF;
        if (chunks > 0) H5Dget_chunk_info(dataset, space, 0, offset, &filters, &place, &size);
        H5Sclose(space);
    }
    H5Pclose(properties);
    H5Dclose(dataset);
    H5Fclose(id);
    return place == HADDR_UNDEF ? 0 : place;
}

// One bit of any array, and the reader says which. HDF5 itself protects names and sizes, not numbers.
TEST(ReadRecord, AFlippedBitIsToldByTheNameOfItsArray) {
    const Folder folder("record");
    const FakeRun run;
    const std::string file = folder.file("run.h5");
    const auto recorder = make_hdf5_recorder(file, 0, [&] { return run.snapshot(3); });
    const Model model = record(*recorder, run, 40);
    recorder->end({});
    std::vector<std::string> names{"source", "names/coordinates", "names/bodies", "settings/figures"};
    names.insert(names.end(), summary_arrays.begin(), summary_arrays.end());
    {
        const Hdf5File open(file, Hdf5File::Open::follow);
        const std::string list = open.text_attribute("checks", "names");
        for (std::size_t from = 0, end = 0; end != std::string::npos; from = end + 1) {
            end = list.find('\n', from);
            names.push_back(list.substr(from, end == std::string::npos ? end : end - from));
        }
    }
    int found = 0;
    for (const std::string& name : names) {
        const std::uint64_t place = first_byte(file, name);
        if (place == 0) continue;  // nothing of it was recorded
        const auto flip = [&] {
            std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
            bytes.seekg(static_cast<std::streamoff>(place));
            const char c = static_cast<char>(bytes.get() ^ 4);
            bytes.seekp(static_cast<std::streamoff>(place));
            bytes.put(c);
        };
        flip();
        EXPECT_NE(refusal_of(file).find("'" + name + "'"), std::string::npos) << name << ": " << refusal_of(file);
        flip();
        EXPECT_EQ(refusal_of(file), "");
        ++found;
    }
    EXPECT_GT(found, 30);
}

}  // namespace
}  // namespace stickslip
