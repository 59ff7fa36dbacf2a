// Says of many scenes whether the reader takes them, in one process. Each line of the input is a scene in JSON, which is
// YAML too; each line of the output is empty if the scene was read and built, else the first line of the message. The argument is the
// file that the scenes claim to come from, so that `include` finds its files.
#include <iostream>
#include <string>

#include "stickslip/error.hpp"
#include "stickslip/load.hpp"

int main(int argc, char** argv) {
    const std::string file = argc > 1 ? argv[1] : "scene.yaml";
    for (std::string line; std::getline(std::cin, line);) {
        std::string message;
        try {
            stickslip::Simulation simulation(stickslip::build_model(stickslip::read_scene_text(line, file)));
        } catch (const stickslip::Error& e) {
            message = e.what();
        }
        std::cout << message.substr(0, message.find('\n')) << std::endl;
    }
}
