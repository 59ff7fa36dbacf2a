// `stickslip`: makes a parser from the table of commands, calls the one that is asked for, turns errors into exit codes.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "commands.hpp"
#include "stickslip/files.hpp"
#include "stickslip/version.hpp"

namespace stickslip::cli {

namespace {

// How the parsing library binds a value of each type.
struct Binding {
    CLI::App& app;
    const Option& option;

    CLI::Option* operator()(bool* flag) const { return app.add_flag(option.names, *flag, option.help); }
    CLI::Option* operator()(int* number) const {
        CLI::Option* bound = std::string_view(option.names).ends_with('}')
                                 ? app.add_flag(option.names, *number, option.help)
                                 : app.add_option(option.names, *number, option.help);
        return option.min == option.max ? bound : bound->check(CLI::Range(option.min, option.max));
    }
    CLI::Option* operator()(std::string* text) const {
        CLI::Option* bound = app.add_option(option.names, *text, option.help);
        return option.choices.empty() ? bound : bound->check(CLI::IsMember(option.choices));
    }
    CLI::Option* operator()(std::vector<std::string>* list) const {
        CLI::Option* bound = app.add_option(option.names, *list, option.help);
        if (option.separator) bound->delimiter(option.separator);
        if (option.greedy) return bound;
        if (!option.separator) bound->expected(1);
        return bound->take_all()->allow_extra_args(false);
    }
};

void add(CLI::App& app, const Command& command) {
    CLI::App* parser = app.add_subcommand(command.name, command.summary);
    for (const Option& option : command.options)
        std::visit(Binding{*parser, option}, option.value)->required(option.required);
}

std::vector<Command> table() {
    return {run_command(),   check_command(),  list_command(),   converge_command(), compare_command(),
            solve_command(), report_command(), schema_command(), repair_command()};
}

// The help of one command or of the whole; it knows all other commands.
class Help {
public:
    Help(const CLI::App& app, const std::vector<Command>& others) : app_(app) {
        for (const Command& other : others) {
            names_.push_back(other.name);
            listing_ += (listing_.empty() ? "" : ", ") + std::string(other.name);
        }
        names_.push_back("help");
    }
    Help(const Help&) = delete;  // the command points into it
    Help& operator=(const Help&) = delete;

    Command command() {
        return {"help",
                "this text, or the help of a command",
                {{.names = "command", .value = &topic_, .help = listing_.c_str(), .choices = names_}},
                [this] { return print(); }};
    }

private:
    int print() const {
        const CLI::App* about = topic_.empty() ? &app_ : app_.get_subcommand(topic_);
        const std::string name = topic_.empty() ? "stickslip" : "stickslip " + topic_;
        std::fputs(app_.get_formatter()->make_help(about, name, CLI::AppFormatMode::Normal).c_str(), stdout);
        return done;
    }

    const CLI::App& app_;
    std::vector<std::string> names_;
    std::string listing_, topic_;
};

int parse_and_run(int argc, char** argv) {
    CLI::App app{"stickslip: mechanisms with joints, contact, impact and dry friction; contact you can trust",
                 "stickslip"};
    app.set_version_flag("--version", "stickslip " + version_details());
    app.require_subcommand(1);
    app.footer(
        "MODEL is a scene file, scene:NAME for a shipped scene, or mechanism:NAME.\n"
        "Try:  stickslip list           what there is\n"
        "      stickslip run scene:falling-box\n"
        "      stickslip check scene:wedge\n"
        "      stickslip run --help\n"
        "Exit code: 0 done, 1 the run was refused or failed (the message says why), 2 wrong input.");
    std::vector<Command> commands = table();
    Help help(app, commands);
    commands.push_back(help.command());
    for (const Command& command : commands) add(app, command);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& e) {  // --help and --version
        return app.exit(e);
    } catch (const CLI::ParseError& e) {
        app.exit(e);
        return wrong_input;
    }
    for (const Command& command : commands)
        if (app.got_subcommand(command.name)) return command.run();
    return wrong_input;
}

}  // namespace

}  // namespace stickslip::cli

int main(int argc, char** argv) {
    using namespace stickslip::cli;
    std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit of its size is then an error with a message
    try {
        const int code = parse_and_run(argc, argv);
        if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
        std::fprintf(stderr, "stickslip: cannot write the output: %s\n", std::strerror(errno));
        return refused;
    } catch (const stickslip::WriteError& e) {
        std::fprintf(stderr, "stickslip: %s\n", e.what());
        return refused;
    } catch (const stickslip::Error& e) {
        std::fprintf(stderr, "stickslip: %s\n", e.what());
        return wrong_input;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "stickslip: unexpected failure: %s\n", stickslip::printable(e.what()).c_str());
        return refused;
    }
}
