#!/usr/bin/env python3
"""Runs stickslip and other engines over the same scenes and writes peers.csv: what a step costs and how good the result is.

    bench/peers/run.py BUILD FOLDER                    all; BUILD has bench/peers/*, FOLDER takes peers.csv
    bench/peers/run.py BUILD FOLDER --scenes stack,slide --engines stickslip,bullet      other rows of peers.csv stay

One run after the other, one thread each; times are processor times of the stepping thread. A run ends after --cap seconds of
stepping. At the end: per scene our time over that of the fastest engine that passes the bar of quality (bar.py).
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import bar
import mjcf
import scenes

TIMEOUT = 240  # [s] of the clock for a run, whatever it does
WARM = 5  # steps at the start, with first allocations, that are left out of the times
VARIANTS = {  # driver and options; the first of each engine has its defaults
    "stickslip": ["stickslip"],
    "stickslip-budget-20": ["stickslip", "--policy", "budget", "--factorisations", "20"],
    "stickslip-4-substeps-projected": ["stickslip", "--substeps", "4", "--scheme.projection", "both"],
    "bullet": ["bullet"],
    "bullet-50-iterations": ["bullet", "--iterations", "50"],
    "bullet-4-substeps": ["bullet", "--substeps", "4"],
    "bullet-dantzig": ["bullet", "--solver", "dantzig"],
    "ode": ["ode"],
    "ode-50-iterations": ["ode", "--iterations", "50"],
    "ode-dantzig": ["ode", "--solver", "dantzig"],
    "ode-dantzig-8-substeps": ["ode", "--solver", "dantzig", "--substeps", "8"],
    "mujoco": ["mujoco"],
    "mujoco-8-substeps": ["mujoco", "--substeps", "8"],
}
DIRECT = ("stack", "stack-heavy", "slide", "squeeze", "chain20", "chain")  # elsewhere one dense step takes seconds
COLUMNS = ["scene", "engine", "steps", "of", "contacts", "cpu_ms_mean", "cpu_ms_p99", "cpu_ms_max", "overlap_rest_mm",
           "overlap_max_mm", "overlap_end_mm", "rest_move_mm", "creep_mm", "slide_error_mm", "energy_over_percent",
           "energy_rise_percent", "joint_error_mm", "certified_share", "passes", "why_not", "slowest_part"]
HEAD = """# one thread; cpu_ms: processor time of a step of 1/60 s, without the first five; overlap: deepest of all pairs, by our own geometry
# energy: above the start, and above any earlier state, in percent of the energy scale of the scene; empty: does not apply
# slowest_part: of stickslip, share of the time of all phases; in brackets the shares of the solvers, by who gave the answers
"""


def runs(scene, variant):
    """Whether a variant is tried on a scene."""
    if "budget" in variant:
        return len(scene["bodies"]) > 40 and not scene["joints"]
    if "projected" in variant:
        return bool(scene["joints"])
    if "dantzig" in variant:
        return scene["name"] in DIRECT
    # MuJoCo 2 stores dense matrices of all rows by all coordinates: gigabytes for a pile.
    return not (variant.startswith("mujoco") and scene["name"].startswith("pile"))


def slowest_part(result):
    if "phases" not in result:
        return ""
    names = ["find", "fill", "solve", "advance", "book and correct"]  # the last: ledger, projection, pushing out of overlap
    seconds, name = max(zip(result["phases"], names))
    solvers = sorted(result["solver_seconds"].items(), key=lambda item: -item[1])
    solving = sum(s for _, s in solvers)
    by = ", ".join(f"{solver} {s / solving:.0%}" for solver, s in solvers[:3] if s > 0.05 * solving)
    return f"{name} {seconds / sum(result['phases']):.0%}" + (f" ({by})" if by else "")


def scaled(measured, key, factor):
    return f"{factor * measured[key]:.4g}" if measured.get(key) is not None else ""


def row_of(scene, variant, result, measured):
    steps = len(result["seconds"])
    times = result["seconds"][WARM:] or result["seconds"]
    contacts = result["contacts"]
    why_not = bar.failures(scene, steps, result, measured)
    mm, percent = 1e3, 1e2
    values = [scene["name"], variant, steps, scene["steps"], f"{sum(contacts) / len(contacts):.0f}"]
    ordered = sorted(times)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    values += [f"{1e3 * t:.4g}" for t in (sum(times) / len(times), p99, ordered[-1])]
    values += [scaled(measured, key, factor) for key, factor in (
        ("overlap_rest", mm), ("overlap_max", mm), ("overlap_end", mm), ("rest_move", mm), ("creep", mm), ("x_error", mm),
        ("energy_over", percent), ("energy_rise", percent), ("joint_error", mm))]
    share = result.get("certified_share")
    values += ["" if share is None else f"{share:.4g}", "no" if why_not else "yes", "; ".join(why_not), slowest_part(result)]
    return dict(zip(COLUMNS, map(str, values)))


def failed(scene, variant, steps, why):
    return {**dict.fromkeys(COLUMNS, ""), "scene": scene["name"], "engine": variant, "steps": str(steps), "of": str(scene["steps"]),
            "passes": "no", "why_not": why}


def steps_in(states, scene):
    """Whole steps in a file of states, of a run that did not live to tell."""
    frame = 13 * 8 * sum(body["mass"] > 0 for body in scene["bodies"])
    return max(0, states.stat().st_size // frame - 1) if states.exists() else 0


def take(programs, folder, scene, variant, cap):
    """One row: runs the driver, then measures what it left."""
    driver, *options = VARIANTS[variant]
    file, out = folder / (scene["name"] + ".json"), str(folder / f"{variant}-{scene['name']}")
    states = pathlib.Path(out + ".bin")
    file.write_text(json.dumps(scene))
    if driver == "mujoco":
        pathlib.Path(out + ".xml").write_text(mjcf.mjcf(scene, substeps=int(options[1]) if options else 1))
        options = options + ["--xml", out + ".xml"]
    command = [programs / driver, file, out, "--max-seconds", str(cap), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, cwd=folder)
    except subprocess.TimeoutExpired:
        return failed(scene, variant, steps_in(states, scene), f"a step took so long that {TIMEOUT} s were not enough")
    if done.returncode != 0:
        why = f"exit {done.returncode}: " + (done.stderr.strip().splitlines() or [""])[-1]
        return failed(scene, variant, steps_in(states, scene), why)
    measured = subprocess.run([programs / "measure", file, out], capture_output=True, text=True, check=True)
    result = json.loads(pathlib.Path(out + ".json").read_text())
    states.unlink()
    return row_of(scene, variant, result, json.loads(measured.stdout))


def read_table(file):
    if not file.exists():
        return {}
    with file.open() as lines:
        return {(r["scene"], r["engine"]): r for r in csv.DictReader(line for line in lines if not line.startswith("#"))}


def write_table(file, rows):
    """In the order of scenes and variants, whichever were measured last."""
    place = [s["name"] for s in scenes.all_scenes()], list(VARIANTS)
    with file.open("w") as out:
        out.write(HEAD)
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows, key=lambda key: (place[0].index(key[0]), place[1].index(key[1]))))


def compare(rows):
    """Lines: our time over that of the fastest other engine that passes."""
    for scene in dict.fromkeys(key[0] for key in rows):
        ours = rows.get((scene, "stickslip"))
        if not ours or not ours["cpu_ms_mean"]:
            continue
        good = [r for (s, engine), r in rows.items() if s == scene and not engine.startswith("stickslip") and r["passes"] == "yes"]
        mean, cut = float(ours["cpu_ms_mean"]), ours["steps"] != ours["of"]
        line = f"{scene:12} ours {mean:8.4g} ms, " + ("passes" if ours["passes"] == "yes" else "FAILS: " + ours["why_not"])
        line += f" after {ours['steps']} of {ours['of']} steps" if cut else ""
        if not good:
            yield line + "; no other engine passes"
            continue
        best = min(good, key=lambda r: float(r["cpu_ms_mean"]))
        other = float(best["cpu_ms_mean"])
        line += f"; fastest that passes: {best['engine']} {other:.4g} ms"
        if ours["passes"] == "yes" or "cap of time" in ours["why_not"]:  # else there is nothing to compare
            line += f"; ours / theirs {mean / other:.3g}"
        yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--scenes", help="names, with commas; all but pile5000 if absent")
    parser.add_argument("--engines", help="names, with commas: " + ", ".join(VARIANTS))
    parser.add_argument("--cap", type=float, default=110, help="[s] of processor time in steps, per run")
    args = parser.parse_args()
    programs = (args.build / "bench" / "peers").resolve()
    known = {s["name"]: s for s in scenes.all_scenes()}
    chosen = args.scenes.split(",") if args.scenes else [name for name in known if name != "pile5000"]
    variants = args.engines.split(",") if args.engines else list(VARIANTS)
    for missing in sorted({VARIANTS[v][0] for v in variants if not (programs / VARIANTS[v][0]).exists()}):
        print(f"{missing} is not installed or not built: left out", file=sys.stderr)
    table = args.folder / "peers.csv"
    rows = read_table(table)
    with tempfile.TemporaryDirectory() as scratch:
        for name in chosen:
            for variant in variants:
                if not (programs / VARIANTS[variant][0]).exists() or not runs(known[name], variant):
                    continue
                row = rows[name, variant] = take(programs, pathlib.Path(scratch), known[name], variant, args.cap)
                print(f"{name:12} {variant:24} {row['cpu_ms_mean'] or '-':>9} ms  {row['why_not'] or 'passes'}", flush=True)
            args.folder.mkdir(parents=True, exist_ok=True)
            write_table(table, rows)
    print("\n".join(compare({key: rows[key] for key in rows if key[0] in chosen})))


if __name__ == "__main__":
    main()
