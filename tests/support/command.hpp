// The command as a user calls it, in a folder of its own that goes with the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace stickslip::testing {

struct Outcome {
    int code = -1;  // -1: it did not end by itself
    std::string out, err;
};

class CommandTest : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "stickslip-cli-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Outcome call(const std::string& arguments) const {
        const std::string line =
            "cd " + folder_.string() + " && " STICKSLIP_COMMAND " " + arguments + " >out.txt 2>err.txt";
        const int status = std::system(line.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out.txt"), read("err.txt")};
    }
    std::string read(const std::string& name) const {
        std::ifstream in(folder_ / name);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::filesystem::path folder_;
};

}  // namespace stickslip::testing
