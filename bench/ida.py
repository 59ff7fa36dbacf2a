#!/usr/bin/env python3
"""Writes ida.csv: work and precision of SUNDIALS IDA and of our methods, and prints who is faster at equal error.

    bench/ida.py BUILD FOLDER      BUILD is the build tree with bench/ida, FOLDER takes ida.csv

For every point of ours the time that IDA needs for the same error is read off between its own points, log over log, on the lower
edge of all of them (both forms of the residual, all tolerances: at each error the cheapest that reaches it). Outside of the range
of IDA's points nothing is said.
"""
import csv
import io
import math
import pathlib
import subprocess
import sys


def edge(rows):
    """(log error, log time), times rising and errors falling: what no other point beats in both."""
    points = []
    for row in sorted(rows, key=lambda row: float(row["cpu_us"])):
        if not points or float(row["error"]) < math.exp(points[-1][0]):
            points.append((math.log(float(row["error"])), math.log(float(row["cpu_us"]))))
    return points


def time_at(points, error):
    """Between two points of an edge; None outside."""
    x = math.log(error)
    for (x1, y1), (x2, y2) in zip(points, points[1:]):
        if x2 <= x <= x1:
            return math.exp(y1 + (y2 - y1) * (x - x1) / (x2 - x1))
    return None


def main():
    build, folder = map(pathlib.Path, sys.argv[1:3])
    text = subprocess.run([build / "bench/ida"], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    for problem in dict.fromkeys(row["problem"] for row in rows):
        mine = [row for row in rows if row["problem"] == problem]
        ida = edge([row for row in mine if row["method"].startswith("ida")])
        print(f"{problem}: time of IDA over time of ours at the error of ours")
        for method in dict.fromkeys(row["method"] for row in mine if not row["method"].startswith("ida")):
            ratios = []
            for row in mine:
                if row["method"] == method and (time := time_at(ida, float(row["error"]))):
                    ratios.append((float(row["error"]), time / float(row["cpu_us"])))
            mean = math.exp(sum(math.log(r) for _, r in ratios) / len(ratios)) if ratios else math.nan
            print(f"  {method:<18} {mean:5.2f}   " + "  ".join(f"{error:.0e}: {r:.1f}" for error, r in ratios), flush=True)
    with open(folder / "ida.csv", "w", newline="") as file:
        file.write("# error: 2-norm of q at the end; cpu_us: processor time of one run, the shortest of many; steps: accepted\n")
        file.write(text)


if __name__ == "__main__":
    main()
