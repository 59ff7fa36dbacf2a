#!/usr/bin/env python3
"""Writes steps.csv: time and instructions per step of the runs in bench/cases.txt.

    bench/steps.py BUILD FOLDER      BUILD is the build tree with bench/steps and bin/stickslip, FOLDER takes steps.csv

Time is the median over repetitions of the processor time per step, as bench/scenes/steps.cpp measures it. Instructions are
counted by callgrind in two runs of the command that differ only in their end: their difference is what the steps in between
execute, without start-up, reading and the first cold solves. Counts repeat to a few instructions on one machine, times
do not: compare counts between changes, times between machines.
"""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

repetitions = 9
here = pathlib.Path(__file__).resolve().parent


def cases():
    """(name in the table of google-benchmark, words of the line) for every line of the list."""
    for line in (here / "cases.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            words = line.split()
            yield " ".join(words[:3] + words[6:]), words


def number(text):
    """'1e-3' or '1/60'"""
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1)


def medians(build):
    """Name -> median processor time per step [us]."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "times.json"
        subprocess.run([build / "bench/steps", f"--benchmark_repetitions={repetitions}", f"--benchmark_out={file}",
                        "--benchmark_out_format=json", "--benchmark_report_aggregates_only=true"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows = json.loads(file.read_text())["benchmarks"]
    for row in rows:
        if row.get("error_occurred"):
            raise SystemExit(f"steps.py: {row['name']}: {row['error_message']}")
    return {row["run_name"].rpartition("/iterations")[0]: row["cpu_time"] for row in rows
            if row.get("aggregate_name") == "median"}


def instructions(build, words, steps):
    """Instructions of a whole run of the command over so many steps."""
    model, scheme, solver, step = words[:4]
    command = [build / "bin/stickslip", "run", model, "--no-record", "--quiet", "--set", f"run.scheme={scheme}",
               "--set", f"run.solver={solver}", "--step", step, "--end", repr(steps * number(step))]
    for setting in words[6:]:
        command += ["--set", setting]
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", *command],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not counted:
        raise SystemExit(f"steps.py: {' '.join(map(str, command))} failed under callgrind:\n{done.stderr[-2000:]}")
    return int(counted.group(1))


def build_facts(build):
    """Compiler and flags, from the commands of the build itself."""
    commands = json.loads((build / "compile_commands.json").read_text())
    words = next(c["command"] for c in commands if c["file"].endswith("src/schemes/moreau_jean.cpp")).split()
    flags = [w for w in words if re.match(r"-(O|march|f|D(NDEBUG|EIGEN)|std)", w)]
    compiler = next(w for w in words if re.search(r"(\+\+|clang|cc)[\d.-]*$", w) and "ccache" not in w)
    version = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    return version, " ".join(flags)


def main():
    build, folder = map(pathlib.Path, sys.argv[1:3])
    compiler, flags = build_facts(build)
    times = medians(build)
    rows = []
    for name, words in cases():
        start, end = int(words[4]), int(words[5])
        count = (instructions(build, words, end) - instructions(build, words, start)) / (end - start)
        rows.append([*words[:4], " ".join(words[6:]), end - start, f"{times[name]:.3g}", f"{count:.0f}"])
        print(f"{words[0]:<24} {words[1]:<12} {words[2]:<6} {times[name]:9.3g} us {count:10.0f} instructions  {' '.join(words[6:])}",
              flush=True)
    with open(folder / "steps.csv", "w", newline="") as file:
        file.write(f"# compiler: {compiler}\n# flags: {flags}\n")
        file.write(f"# us_per_step: processor time, median of {repetitions} repetitions; "
                   "instructions_per_step: callgrind, difference of two runs of `stickslip run`\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["scene", "scheme", "solver", "step_s", "set", "steps", "us_per_step", "instructions_per_step"])
        table.writerows(rows)


if __name__ == "__main__":
    main()
