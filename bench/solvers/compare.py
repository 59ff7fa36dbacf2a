#!/usr/bin/env python3
"""Our solvers against those of Siconos on the same problems, in one run, all from r = 0.

    bench/solvers/compare.py --command build/stickslip --fclib FOLDER --out RESULTS [--docs docs] [--lcp] [--only TEXT]
                             [--limit S] [--most-contacts N] [--ours a,b] [--solvers a,b]

FOLDER holds FCLIB files (*.hdf5, any depth). Every solve runs in a process of its own with a limit of processor time; the
solvers take turns on each problem, ours among them. Time is that of the solver's call alone (one thread each), the
shortest of up to 20 repetitions of short solves (profiles.time_of), at least 100 microseconds (below, clock and call decide). All errors
are recomputed from the impulses by one function (problems.errors), whatever a solver says of itself.

Writes RESULTS/fclib.csv (and lcp.csv with --lcp), prints the summary, and with --docs draws the performance profiles.
"""
import argparse
import csv
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # one thread each; must be said before numpy loads its BLAS
    os.environ[name] = "1"

import h5py
import numpy as np

import piles
import problems
import profiles

try:
    import siconos.numerics as numerics
except ImportError:
    sys.exit("compare.py: no siconos; scripts/install-deps oracles installs it")

floor = 1e-4        # [s]
repetitions = 20
repeat_within = 0.15  # [s]

# name: (solver, tolerance, iterations)
siconos_fc3d = {
    "NSGS_1e-4": ("NSGS", 1e-4, 50000),
    "NSGS_1e-8": ("NSGS", 1e-8, 200000),
    "NSGS-cone_1e-4": ("NSGS", 1e-4, 50000),
    "NSN-AC_1e-4": ("NSN_AC", 1e-4, 1000),
    "NSN-AC_1e-8": ("NSN_AC", 1e-8, 1000),
    "NSN-FB_1e-8": ("NSN_FB", 1e-8, 1000),
    "ADMM_1e-4": ("ADMM", 1e-4, 20000),
    "ADMM_1e-8": ("ADMM", 1e-8, 50000),
    "PROX_1e-4": ("PROX", 1e-4, 1000),
    "PROX_1e-8": ("PROX", 1e-8, 1000),
    "TFP_1e-4": ("TFP", 1e-4, 1000),
    "ACLMFP_1e-4": ("ACLMFP", 1e-4, 1000),
    "VI-EG_1e-4": ("VI_EG", 1e-4, 50000),
    "VI-FPP_1e-4": ("VI_FPP", 1e-4, 50000),
}
ours = {}  # likewise, filled from --ours: (solver, tolerance)
siconos_lcp = ["LEMKE", "PIVOT", "NEWTON_FB_FBLSA", "NEWTON_MIN_FBLSA", "RPGS", "CPG"]


def limit_time(seconds):
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(np.ceil(used.ru_utime + used.ru_stime + seconds)) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))


def in_child(work, seconds):
    """What work() returns, computed in a fork with limited processor time; a dict with `fail` otherwise."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            limit_time(seconds)
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            answer = work()
        except Exception as error:  # told to the parent, whatever it is
            answer = {"fail": repr(error)[:100]}
        with os.fdopen(writing, "w") as pipe:
            pipe.write(json.dumps(answer))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if text:
        return json.loads(text)
    by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return {"fail": "time" if by in (9, 24) else f"signal {by}"}


def repeated(once):
    """Shortest wall and processor time of once(), and its last value."""
    wall, cpu, begin = np.inf, np.inf, time.perf_counter()
    for _ in range(repetitions):
        start, start_cpu = time.perf_counter(), time.process_time()
        value = once()
        cpu, wall = min(cpu, time.process_time() - start_cpu), min(wall, time.perf_counter() - start)
        if time.perf_counter() - begin > repeat_within:
            break
    return {"wall_s": wall, "cpu_s": cpu}, value


def run_siconos(text_file, problem, name, seconds):
    kind, tol, iterations = siconos_fc3d[name]

    def work():
        stored = numerics.frictionContact_new_from_filename(text_file)
        options = numerics.SolverOptions(getattr(numerics, "SICONOS_FRICTION_3D_" + kind))
        options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = iterations
        options.dparam[numerics.SICONOS_DPARAM_TOL] = tol
        if name.startswith("NSGS-cone"):
            numerics.solver_options_update_internal(
                options, 0, numerics.SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration)
        r, u = np.zeros(len(problem.q)), np.zeros(len(problem.q))

        def once():
            r[:], u[:] = 0, 0
            return numerics.fc3d_driver(stored, r, u, options)
        taken, info = repeated(once)
        err_vel, err_siconos = problems.errors(problem, r)
        return {**taken, "says_ok": info == 0, "iterations": int(options.iparam[numerics.SICONOS_IPARAM_ITER_DONE]),
                "err_vel": float(err_vel), "err_siconos": float(err_siconos)}
    return in_child(work, seconds)


def run_command(arguments, seconds):
    """`stickslip solve` as (json, None) or (None, reason)."""
    done = subprocess.run(arguments, capture_output=True, text=True, preexec_fn=lambda: limit_time(seconds))
    if done.returncode < 0:
        return None, "time" if -done.returncode in (9, 24) else f"signal {-done.returncode}"
    try:
        return json.loads(done.stdout), None
    except json.JSONDecodeError:
        return None, (done.stderr.strip() or "no answer")[:100].replace("\n", " ")


def told_of(told):
    return {"wall_s": told["wall_s"], "cpu_s": told["cpu_s"], "says_ok": told["certified"], "iterations": told["iterations"],
            "by": told["solver"]}


def run_ours(command, path, problem, name, seconds, folder):
    solver, tol = ours[name]
    answer = os.path.join(folder, "answer.h5")
    told, fail = run_command([command, "solve", path, "--solver", solver, "--tol", repr(tol), "--json", "--cold", "--repeat",
                              str(repetitions), "-o", answer], seconds)
    if fail:
        return {"fail": fail}
    with h5py.File(answer, "r") as file:
        r = file["solution/r"][()]
    err_vel, err_siconos = problems.errors(problem, r)
    return {**told_of(told), "err_vel": float(err_vel), "err_siconos": float(err_siconos)}


def compare_fclib(arguments, folder):
    root = pathlib.Path(arguments.fclib)
    files = sorted(root.rglob("*.hdf5"), key=lambda path: path.stat().st_size)
    wanted = arguments.solvers.split(",") if arguments.solvers else list(ours) + list(siconos_fc3d)
    rows, order = [], random.Random(1)
    for path in files:
        name = str(path.relative_to(root)).removesuffix(".hdf5")
        if arguments.only and arguments.only not in name:
            continue
        problem = problems.read(path)
        if problem is None or problem.contacts > arguments.most_contacts:
            continue
        text_file = os.path.join(folder, "problem.dat")
        if problem.dim == 3:
            problems.write_siconos(text_file, problem)
        turns = [solver for solver in wanted if problem.dim == 3 or solver in ours]
        order.shuffle(turns)
        for solver in turns:
            if solver in ours:
                result = run_ours(arguments.command, str(path), problem, solver, arguments.limit, folder)
            else:
                result = run_siconos(text_file, problem, solver, arguments.limit)
            rows.append({"problem": name, "dim": problem.dim, "contacts": problem.contacts, "solver": solver, **result})
            print(name, problem.contacts, solver, {k: v for k, v in result.items()}, file=sys.stderr, flush=True)
    return rows


def run_lcp(M, q, name, seconds):
    def work():
        stored = numerics.LCP(M, q)
        options = numerics.SolverOptions(getattr(numerics, "SICONOS_LCP_" + name))
        options.dparam[numerics.SICONOS_DPARAM_TOL] = 1e-8
        options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = 100000
        z, w = np.zeros(len(q)), np.zeros(len(q))

        def once():
            z[:], w[:] = 0, 0
            return numerics.linearComplementarity_driver(stored, z, w, options)
        taken, info = repeated(once)
        return {**taken, "says_ok": info == 0, "iterations": int(options.iparam[numerics.SICONOS_IPARAM_ITER_DONE]),
                "error": lcp_error(M, q, z)}
    return in_child(work, seconds)


def lcp_error(M, q, z):
    return float(np.linalg.norm(np.minimum(z, M @ z + q)) / np.linalg.norm(q))


def compare_lcp(arguments, folder):
    rows = []
    for n in (5, 10, 20, 50, 100, 200):
        for dim, facets in ((2, 2), (3, 4), (3, 8)):
            for seed in (0, 1, 2) if n <= 50 else (0,):
                name = f"dim{dim}_facets{facets}_n{n}_s{seed}"
                if n > arguments.most_contacts or (arguments.only and arguments.only not in name):
                    continue
                pile = piles.pile(dim, facets, n, seed)
                M, q = pile.lcp()
                path, answer = os.path.join(folder, "pile.h5"), os.path.join(folder, "answer.h5")
                pile.write(path)
                for solver in ["stickslip:lemke", "stickslip:auto"] + siconos_lcp:
                    if solver.startswith("stickslip:"):
                        told, fail = run_command([arguments.command, "solve", path, "--solver", solver.split(":")[1], "--json",
                                                  "--cold", "--repeat", str(repetitions), "-o", answer], arguments.limit)
                        result = {"fail": fail}
                        if told:
                            with h5py.File(answer, "r") as file:
                                p = file["solution/r"][()]
                            result = {**told_of(told), "error": lcp_error(M, q, pile.variables(p))}
                    else:
                        result = run_lcp(M, q, solver, arguments.limit)
                    rows.append({"problem": name, "contacts": n, "size": len(q), "solver": solver, **result})
                    print(name, solver, result, file=sys.stderr, flush=True)
    return rows


def write(path, rows, fields):
    def text(value):
        return f"{value:.3g}" if isinstance(value, float) else value
    with open(path, "w", newline="") as out:
        table = csv.DictWriter(out, fields, lineterminator="\n")
        table.writeheader()
        for row in rows:
            table.writerow({field: text(row.get(field, "")) for field in fields})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--command", required=True, help="the stickslip command")
    parser.add_argument("--fclib", help="folder of FCLIB files")
    parser.add_argument("--lcp", action="store_true", help="the piles as linear complementarity problems too")
    parser.add_argument("--out", required=True, help="folder for the tables")
    parser.add_argument("--docs", help="folder for the pictures")
    parser.add_argument("--only", help="problems whose name contains this")
    parser.add_argument("--limit", type=float, default=15, help="processor time of one solve [s]")
    parser.add_argument("--most-contacts", type=int, default=10**9)
    parser.add_argument("--ours", default="auto", help="our solvers, separated by commas")
    parser.add_argument("--solvers", help="all names to run, separated by commas, such as stickslip:auto_1e-8,NSGS_1e-8")
    arguments = parser.parse_args()
    for solver in arguments.ours.split(","):
        for tol in ("1e-4", "1e-8"):
            ours[f"stickslip:{solver}_{tol}"] = (solver, float(tol))
    pathlib.Path(arguments.out).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.fclib:
            rows = compare_fclib(arguments, folder)
            write(os.path.join(arguments.out, "fclib.csv"), rows,
                  ["problem", "dim", "contacts", "solver", "wall_s", "cpu_s", "err_vel", "err_siconos", "iterations", "says_ok",
                   "by", "fail"])
            for level in (1e-3, 1e-6):
                times = profiles.times(rows, level, floor)
                print(profiles.summary(times, level))
                if arguments.docs:
                    picture = os.path.join(arguments.docs, f"fclib-profile-{level:.0e}.svg".replace("e-0", "e-"))
                    pathlib.Path(picture).write_text(profiles.svg(times, f"FCLIB problems solved to err_vel <= {level:.0e}"))
            plane = {row["problem"] for row in rows if row["dim"] == 2}
            done = {row["problem"] for row in rows if row["dim"] == 2 and row.get("err_vel", 1) <= 1e-6}
            print(f"plane problems (ours alone): {len(done)} of {len(plane)} to err_vel <= 1e-6")
        if arguments.lcp:
            rows = compare_lcp(arguments, folder)
            write(os.path.join(arguments.out, "lcp.csv"), rows,
                  ["problem", "contacts", "size", "solver", "wall_s", "cpu_s", "error", "iterations", "says_ok", "by", "fail"])
            print(profiles.lcp_table(rows))


if __name__ == "__main__":
    main()
