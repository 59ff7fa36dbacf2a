// The small models that every scheme must treat lawfully: all mechanisms and all shipped scenes.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "stickslip/load.hpp"
#include "stickslip/mechanism.hpp"

namespace stickslip::testing {

inline std::vector<std::string> every_model() {
    std::vector<std::string> models;
    for (const MechanismEntry& entry : mechanisms()) models.push_back(std::string("mechanism:") + entry.name);
    for (const auto& file : std::filesystem::directory_iterator(STICKSLIP_SCENES))
        if (file.path().extension() == ".yaml") models.push_back(file.path().string());
    std::sort(models.begin(), models.end());
    return models;
}

inline OptionValue set(const std::string& key, const std::string& text) {
    return {key, text, Place{"--set " + key, 0, 0}};
}

inline std::string test_name(const std::string& model, const std::string& scheme) {
    std::string name =
        std::filesystem::path(model.substr(model.find(':') == std::string::npos ? 0 : model.find(':') + 1))
            .stem()
            .string();
    if (model.starts_with("mechanism:")) name = "mechanism_" + name;
    name += "_" + scheme;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

}  // namespace stickslip::testing
