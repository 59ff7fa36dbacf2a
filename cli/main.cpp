// `stickslip`: reads the command line, calls the command, turns errors into exit codes.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "commands.hpp"
#include "stickslip/error.hpp"
#include "stickslip/version.hpp"

int main(int argc, char** argv) {
    using namespace stickslip::cli;
    CLI::App app{"stickslip: mechanisms with joints, contact, impact and dry friction; contact you can trust",
                 "stickslip"};
    app.set_version_flag("--version", "stickslip " + stickslip::version_details());
    app.require_subcommand(1);
    app.footer(
        "MODEL is a scene file, scene:NAME for a shipped scene, or mechanism:NAME.\n"
        "Try:  stickslip list           what there is\n"
        "      stickslip run scene:falling-box\n"
        "      stickslip check scene:wedge\n"
        "      stickslip run --help\n"
        "Exit code: 0 done, 1 the run was refused or failed (the message says why), 2 wrong input.");
    int code = done;
    add_run(app, code);
    add_check(app, code);
    add_list(app, code);
    add_converge(app, code);
    add_compare(app, code);
    add_solve(app, code);
    add_report(app, code);
    add_schema(app, code);
    add_repair(app, code);
    std::string topic;
    CLI::App* help = app.add_subcommand("help", "this text, or the help of a command");
    help->add_option("command", topic, "run, check, list, converge, compare, solve, report, schema, repair")
        ->check(CLI::IsMember(
            {"run", "check", "list", "converge", "compare", "solve", "report", "schema", "repair", "help"}));
    help->callback([&] {
        const CLI::App* about = topic.empty() ? &app : app.get_subcommand(topic);
        const std::string name = topic.empty() ? "stickslip" : "stickslip " + topic;
        std::fputs(app.get_formatter()->make_help(about, name, CLI::AppFormatMode::Normal).c_str(), stdout);
    });
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& e) {
        return app.exit(e);
    } catch (const CLI::ParseError& e) {
        app.exit(e);
        return wrong_input;
    } catch (const stickslip::Error& e) {
        std::fprintf(stderr, "stickslip: %s\n", e.what());
        return wrong_input;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "stickslip: unexpected failure: %s\n", e.what());
        return refused;
    }
    return code;
}
