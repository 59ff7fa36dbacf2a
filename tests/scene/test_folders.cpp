#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "scene/folders.hpp"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

// A folder of this test alone, gone afterwards; the environment variable too.
class SceneFolders : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "stickslip-folders-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        top = fs::canonical(pattern);
    }
    void TearDown() override {
        unsetenv("STICKSLIP_SCENES");
        fs::remove_all(top);
    }
    fs::path make(const char* name) const {
        fs::create_directories(top / name);
        return top / name;
    }
    fs::path top;
};

TEST_F(SceneFolders, FoldersOfTheEnvironmentComeFirstAndInTheirOrder) {
    const fs::path b = make("b"), a = make("a");
    setenv("STICKSLIP_SCENES", (b.string() + ":" + a.string()).c_str(), 1);
    const std::vector<std::string> folders = scene_folders();
    ASSERT_GE(folders.size(), 2u);
    EXPECT_EQ(folders[0], b.string());
    EXPECT_EQ(folders[1], a.string());
}

TEST_F(SceneFolders, MissingFoldersFilesAndRepetitionsAreLeftOut) {
    const std::string a = make("a").string(), none = (top / "none").string(), file = (top / "file").string();
    std::ofstream(file) << "x";
    setenv("STICKSLIP_SCENES", ("::" + none + ":" + file + ":" + a + ":" + a + "/.").c_str(), 1);
    const std::vector<std::string> folders = scene_folders();
    ASSERT_FALSE(folders.empty());
    EXPECT_EQ(folders[0], a);
    const auto inside = [&](const std::string& folder) { return folder.rfind(top.string(), 0) == 0; };
    EXPECT_EQ(std::count_if(folders.begin(), folders.end(), inside), 1);
}

TEST_F(SceneFolders, FoldersBesideTheProgramAreSearchedAfterTheEnvironment) {
    const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / "../scenes";
    const bool made = fs::create_directory(beside);
    const std::vector<std::string> folders = scene_folders();
    const std::string found = fs::canonical(beside).string();
    if (made) fs::remove(beside);
    EXPECT_NE(std::find(folders.begin(), folders.end(), found), folders.end());
}

}  // namespace
}  // namespace stickslip
