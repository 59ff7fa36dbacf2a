#!/usr/bin/python3
"""Two versions of the command on stored step problems, problem by problem in turns: how far each comes, and in what time.

    bench/solvers/bag.py FOLDER COMMAND BEFORE [--out FILE.csv] [--times 3] [--seconds 120] [--only PART] [--shares 1e-4,1e-6]

FOLDER holds step problems (*.h5, docs/record.md); what stands before the last `_` of a name is its class. The tolerance is a share of
the rms over contacts of |H A^-1 r + c|, what the contacts have to stop. Time is processor time of the solve, the shortest of so
many: the smaller of the wall clock around it and the processor time of the whole process, since neither can be below it.
Prints how many reach each share and the medians per class.
"""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import h5py
import numpy as np


def speed(path):
    """[m/s] The rms over contacts of |H A^-1 r + c|."""
    with h5py.File(path, "r") as file:
        start, r = file["nodes/start"][()], file["r"][()]
        values, diagonal = file["A/values"][()], file["A/diagonal"][()]
        A = np.zeros((len(r), len(r)))

        def put(row, column, offset):
            rows, columns = start[row + 1] - start[row], start[column + 1] - start[column]
            block = values[offset:offset + rows * columns].reshape(columns, rows).T
            A[start[row]:start[row + 1], start[column]:start[column + 1]] = block

        for n in range(len(start) - 1):
            put(n, n, diagonal[n])
        for row, column, offset in file["A/coupling"][()]:
            put(row, column, offset)
        v = np.linalg.solve(A, r)
        g = file["contacts"]
        row, first, block, blocks, u = g["row"][()], g["first"][()], g["values"][()], g["block"][()], g["c"][()].copy()
        for k in range(len(row) - 1):
            rows = row[k + 1] - row[k]
            for node, offset in blocks[first[k]:first[k + 1]]:
                part = v[start[node]:start[node + 1]]
                u[row[k]:row[k + 1]] += block[offset:offset + rows * len(part)].reshape(rows, len(part)) @ part
        return float(np.sqrt(u @ u / (len(row) - 1)))


def solve(command, path, tol, seconds):
    """(residual [m/s], processor time [s], what the command says)"""
    with tempfile.TemporaryFile("w+") as out:
        line = [command, "solve", str(path), "--json", "--tol", repr(tol)]
        process = subprocess.Popen(line, stdout=out, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: __import__("resource").setrlimit(0, (int(seconds), int(seconds))))
        _, _, used = os.wait4(process.pid, 0)
        out.seek(0)
        text = out.read()
    whole = used.ru_utime + used.ru_stime
    if "{" not in text:
        return float("inf"), whole, {"solver": "-"}
    r = json.loads(text[text.index("{"):])
    return r["residual"], min(whole, r["wall_s"]), r


def measure(path, commands, shares, times, seconds):
    rms = speed(path)
    rows = []
    for share in shares:
        best = {name: (float("inf"), float("inf"), {}) for name in commands}
        for turn in range(times):
            for name, command in commands.items():
                if turn > 0 and best[name][1] > 2:  # long ones time themselves well
                    continue
                residual, t, r = solve(command, path, share * rms, seconds)
                if t < best[name][1]:
                    best[name] = residual, t, r
        for name, (residual, t, r) in best.items():
            rows.append({"problem": path.stem, "class": path.stem.rpartition("_")[0], "contacts": r.get("contacts", ""),
                         "share": f"{share:g}", "version": name, "relative": f"{residual / rms:.3g}",
                         "reached": int(residual <= share * rms), "ms": f"{1e3 * t:.4g}", "by": r["solver"]})
    return rows


def summary(rows, shares):
    kinds = sorted({row["class"] for row in rows})
    for share in shares:
        print(f"\nrelative residual {share:g}: reached of all; median ms of both; ratio")
        of_share = [row for row in rows if row["share"] == f"{share:g}"]
        for kind in kinds + [""]:
            part = {name: [row for row in of_share if row["version"] == name and (not kind or row["class"] == kind)]
                    for name in ("now", "before")}
            ms = {name: statistics.median(float(row["ms"]) for row in part[name]) for name in part}
            reached = {name: sum(row["reached"] for row in part[name]) for name in part}
            print(f"{kind or 'all':10} {reached['now']:3} ({reached['before']}) of {len(part['now']):3}   {ms['now']:9.4g} {ms['before']:9.4g}"
                  f"   {ms['now'] / ms['before']:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("command")
    parser.add_argument("before")
    parser.add_argument("--out")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--only", default="")
    parser.add_argument("--shares", default="1e-4,1e-6")
    options = parser.parse_args()
    shares = [float(share) for share in options.shares.split(",")]
    commands = {"now": options.command, "before": options.before}
    rows = []
    for path in sorted(path for path in options.folder.glob("*.h5") if options.only in path.name):
        rows += measure(path, commands, shares, options.times, options.seconds)
        for row in rows[-2 * len(shares):]:
            print(" ".join(f"{value:>9}" for value in row.values()), flush=True)
    summary(rows, shares)
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
