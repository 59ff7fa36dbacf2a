#!/usr/bin/python3
"""Runs every heap with default options and says what became of it.

    bench/heaps/run.py COMMAND [--out FILE.csv] [--only PART] [--seconds 600] [--loader FILE] [--args "--policy budget ..."]

A row per run: steps taken, not certified and certified in sub-steps; times of a step (wall clock, so on a busy machine too long); the
deepest overlap at any time and in the last step; the fastest body at the end; energy made by pushing bodies out of overlap, in percent of that at hand;
who answered for the islands. `cpu_ms_max` is processor time, which a busy machine does not stretch. Runs are recorded, which is not part
of the times of steps.
`--loader` is a scene of a machine before rocks, which is not part of this repository.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import h5py

here = pathlib.Path(__file__).parent / "scenes"


def heap(name, *args):
    return str(here / f"{name}.yaml"), [str(a) for a in args]


def every_run(loader):
    runs = {}
    for n, end in ((15, 1.2), (60, 2), (200, 5)):
        for h in ("1e-3", "1e-4"):
            runs[f"dominoes {n} {h}"] = ("scene:dominoes", ["--set", f"n={n}", "--step", h, "--end", str(end)])
    for h in ("1e-4", "1e-3", "1/240", "1/60"):
        runs[f"ten boxes {h}"] = heap("ten-boxes", "--step", h)
    for h in ("1e-4", "1e-3", "1/240", "1/60"):
        runs[f"sixty boxes {h}"] = heap("sixty-boxes", "--step", h)
    for rows, columns in ((7, 8), (15, 7), (10, 10)):
        for h in ("1/240", "1/60"):
            size = ["--set", f"rows={rows}", "--set", f"columns={columns}", "--step", h]
            runs[f"wall {rows}x{columns} {h}"] = heap("wall", *size)
            runs[f"brick-wall {rows}x{columns} {h}"] = ("scene:brick-wall", size + ["--end", "1"])
    for n, layers in ((4, 5), (5, 6)):
        runs[f"rocks {n * n * layers}"] = heap("rocks", "--set", f"n={n}", "--set", f"layers={layers}")
    for n, layers in ((5, 5), (10, 5), (10, 10)):
        runs[f"spheres {n * n * layers}"] = heap("spheres", "--set", f"n={n}", "--set", f"layers={layers}")
    runs["logs 1/60"] = heap("logs")
    runs["logs 1e-3"] = heap("logs", "--step", "1e-3")
    runs["stack-20-heavy"] = ("scene:stack-20-heavy", ["--end", "5"])
    runs["squeezed box"] = heap("squeezed-box")
    if loader:
        runs["loader"] = (loader, [])
    return runs


def last_overlap(record):
    """[m] The deepest of the contacts of the last step."""
    with h5py.File(record) as file:
        first, end = (int(x) for x in file["contacts/offset"][-2:])
        return max(0.0, -min(file["contacts/gap"][first:end], default=0.0))


def measure(command, model, args, seconds):
    with tempfile.TemporaryDirectory() as folder:
        return measure_in(folder, command, model, args, seconds)


def measure_in(folder, command, model, args, seconds):
    start = time.time()
    line = [command, "run", model, "--json", "--quiet", "--force", "-o", folder, *args]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"end": f"not within {seconds:g} s"}
    text = done.stdout
    if "{" not in text:
        return {"end": f"exit code {done.returncode}: {done.stderr.strip()[-80:]}"}
    r = json.loads(text[text.index("{"):])
    fastest = max((max(abs(x) for x in b["velocity"][:3]) for b in r.get("bodies", {}).values()), default=0)
    ladder = sorted(r["ladder"].items(), key=lambda item: -item[1])
    return {
        "end": r["end"], "t": f'{r["t"]:.4g}', "steps": r["steps"], "uncertified": r["uncertified"]["steps"],
        "substepped": r["substepped"], "ms_mean": f'{r["step_ms"]["mean"]:.4g}', "ms_p99": f'{r["step_ms"]["p99"]:.4g}',
        "ms_max": f'{r["step_ms"]["max"]:.4g}', "cpu_ms_max": f'{r["step_cpu_ms"]["max"]:.4g}',
        "overlap_max_mm": f'{1e3 * r["gap_violation_max"]:.3g}',
        "overlap_end_mm": f'{1e3 * last_overlap(pathlib.Path(folder) / "run.h5"):.3g}',
        "fastest_end": f"{fastest:.2g}", "contacts_max": r["contacts"]["max"], "seconds": f"{time.time() - start:.3g}",
        "made_percent": f'{-100 * min(r["energy"]["regularisation_loss"], 0) / max(r["energy"]["scale"], 1e-300):.2g}',
        "verdict": r["verdict"]["status"], "ladder": " ".join(f"{k}:{v}" for k, v in ladder),
    }


columns = ["run", "end", "t", "steps", "uncertified", "substepped", "ms_mean", "ms_p99", "ms_max", "cpu_ms_max", "overlap_max_mm",
           "overlap_end_mm", "fastest_end", "made_percent", "contacts_max", "seconds", "verdict", "ladder"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--out")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--loader")
    parser.add_argument("--args", default="")
    options = parser.parse_args()
    rows = []
    for name, (model, args) in every_run(options.loader).items():
        if options.only not in name:
            continue
        row = {"run": name, **measure(options.command, model, args + options.args.split(), options.seconds)}
        rows.append(row)
        print(", ".join(f"{c} {row[c]}" for c in columns if c in row), flush=True)
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
