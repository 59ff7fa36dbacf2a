#!/usr/bin/python3
"""What a second thread gains: the same heaps with one and with two threads, by turns.

    bench/heaps/threads.py COMMAND [--only PART] [--rounds 3]

A line per scene: the ratio of mean wall times of a step (median over the rounds, and the best and worst of them), which needs two cores
that are free; what Amdahl's law allows by processor time, which does not:

    limit = T1 / (serial + (T1 - serial) / 2)

with T1 the processor time of all steps with one thread and `serial` that of two threads outside of work that was shared out; and
whether both ended with the same bits.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

here = pathlib.Path(__file__).parent / "scenes"
scenes = {
    "spheres 1000": [here / "spheres.yaml", "--set", "n=10", "--set", "layers=10", "--end", "1"],
    "stacks 20 falling": [here / "stacks.yaml", "--end", "0.5"],
    "stacks 20 at rest": [here / "stacks.yaml", "--set", "drop=0", "--end", "2"],
}


def run(command, args, threads):
    line = [command, "run", *map(str, args), "--threads", str(threads), "--json", "--quiet", "--no-record"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600)
    if "{" not in done.stdout:
        sys.exit(f"{' '.join(line)}: {done.stderr}")
    return json.loads(done.stdout[done.stdout.index("{"):])


def seconds(r):
    return 1e-3 * r["step_cpu_ms"]["mean"] * r["steps"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for name, args in scenes.items():
        if options.only not in name:
            continue
        pairs = [(run(options.command, args, 1), run(options.command, args, 2)) for _ in range(options.rounds)]
        wall = sorted(one["step_ms"]["mean"] / two["step_ms"]["mean"] for one, two in pairs)
        whole = statistics.median(seconds(one) for one, _ in pairs)
        serial = statistics.median(seconds(two) - two["shared_cpu_s"] for _, two in pairs)
        limit = whole / (serial + (whole - serial) / 2)
        same = len({r["hash"] for pair in pairs for r in pair}) == 1
        print(f"{name}: wall {statistics.median(wall):.2f} ({wall[0]:.2f} .. {wall[-1]:.2f}), limit {limit:.2f} "
              f"(serial {100 * serial / whole:.0f} % of {whole:.3g} s), {'same bits' if same else 'OTHER BITS'}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
