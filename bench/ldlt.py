#!/usr/bin/env python3
"""bench/ldlt.py BUILD FOLDER: refactorisation times of chains, closed loops and piles, ours beside others, into ldlt.csv.

Medians of processor time: the machine may be shared. `exponent` is the slope of log(time) over log(bodies), fitted to all
sizes of a case: 1 is linear.
"""
import csv
import io
import math
import os
import pathlib
import subprocess
import sys

build, folder = map(pathlib.Path, sys.argv[1:3])
text = subprocess.run(
    [build / "bench/ldlt", "--benchmark_min_time=0.1", "--benchmark_repetitions=5", "--benchmark_format=csv",
     "--benchmark_report_aggregates_only=true"], env=dict(os.environ, OPENBLAS_NUM_THREADS="1"), check=True,
    stdout=subprocess.PIPE, text=True).stdout
cases = {}
for row in csv.DictReader(io.StringIO(text[text.index("name,"):])):
    name, _, kind = row["name"].rpartition("_")
    if kind != "median" or row["error_occurred"] == "true":
        continue
    who, case, bodies = name.removesuffix("/iterations:1").split("/")[:3]
    cases.setdefault((who, case.removesuffix("_once")), []).append((int(bodies), float(row["cpu_time"]), row))


def exponent(points):
    x = [math.log(n) for n, _, _ in points]
    y = [math.log(t) for _, t, _ in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


with open(folder / "ldlt.csv", "w", newline="") as out:
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["what", "case", "bodies", "time_ms", "flops", "fill_blocks", "dissected", "exponent"])
    for (who, case), points in cases.items():
        slope = f"{exponent(points):.2f}" if len(points) > 1 else ""
        for bodies, time, row in points:
            table.writerow([who, case, bodies, f"{time:.4g}", row["flops"], row["fill_blocks"], row["dissected"], slope])
