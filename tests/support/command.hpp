// The command as a user calls it, in a folder of its own that goes with the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

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
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        return name;
    }
    // Starts the command in the background, its words in child-out.txt and child-err.txt; the caller ends it.
    pid_t start(const std::vector<std::string>& arguments) const {
        const pid_t child = fork();
        if (child == 0) {
            if (chdir(folder_.c_str()) != 0) _exit(99);
            std::vector<char*> argv{const_cast<char*>(STICKSLIP_COMMAND)};
            for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
            argv.push_back(nullptr);
            if (!freopen("child-out.txt", "w", stdout) || !freopen("child-err.txt", "w", stderr)) _exit(98);
            execv(STICKSLIP_COMMAND, argv.data());
            _exit(97);
        }
        return child;
    }
    std::filesystem::path folder_;
};

}  // namespace stickslip::testing
