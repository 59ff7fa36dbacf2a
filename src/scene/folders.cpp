#include "scene/folders.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace stickslip {

namespace {

namespace fs = std::filesystem;

void add_folder(const fs::path& folder, std::vector<std::string>& folders) {
    std::error_code ignored;  // a folder that cannot be looked at is as good as none
    const fs::path found = fs::canonical(folder, ignored);
    if (found.empty() || !fs::is_directory(found, ignored)) return;
    if (std::find(folders.begin(), folders.end(), found.string()) == folders.end()) folders.push_back(found.string());
}

}  // namespace

std::vector<std::string> scene_folders() {
    std::vector<std::string> folders;
    if (const char* given = std::getenv("STICKSLIP_SCENES")) {
        std::istringstream list(given);
        for (std::string folder; std::getline(list, folder, ':');)
            if (!folder.empty()) add_folder(folder, folders);
    }
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    if (!program.empty())
        for (const char* beside : {"../share/stickslip/scenes", "../scenes", "../../scenes"})
            add_folder(program.parent_path() / beside, folders);
    return folders;
}

}  // namespace stickslip
