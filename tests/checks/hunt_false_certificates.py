#!/usr/bin/env python3
"""Hunts for answers that are certified but wrong: random problems, every solver, judged in 80 digits.

    hunt_false_certificates.py --command build/stickslip --count 5000 --seed 1 [--solvers auto,lemke] [--jobs 1]
                               [--keep DIR] [--csv FILE]

Problems come from random_problems.py (a failure names seed:case), judgements from exact_residual.py. Every solver runs
on the problems whose cones it takes. What can come of a run:

    right        certified, and no law is violated by more than 1.01 tol
    false        certified, and one is. `why` says how the certificate went wrong; the first that holds:
                     rounding   the documented residual, evaluated exactly, is above the tolerance
                     coupling   it is with the whole of A in place of its diagonal blocks
                     law        it is not, but a single law is violated by more
    told         not certified, infeasible by construction, and `status` says infeasible
    untold       the same, but `status` says something else
    slander      called infeasible, but a solution is known
    unsolved     not certified, but a solution is known
    refused      not certified, and nothing is known
    crash        a signal, exit code 2, or no JSON
    timeout

A problem built from a solution counts as solvable only if that solution, rounded, passes a tenth of the tolerance; one
built from a contradiction counts as infeasible only if the violation no point can avoid is above the tolerance. `loose`
counts right answers whose impulses alone, with v = A^-1 (r + G' lambda + H' p), violate a law by more than the tolerance.
"""
import collections
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import exact_residual
import hunt
import random_problems

slack = 1.01  # of the tolerance
limit = 10.0  # [s] for one solve
outcomes = ("false", "crash", "timeout", "slander", "untold", "told", "unsolved", "refused", "right", "loose")
failures = ("false", "crash", "timeout", "slander")


@dataclasses.dataclass
class Result:
    seed: int
    case: int
    family: str
    verdict: str
    solver: str
    tol: float
    outcome: str = ""
    why: str = ""
    status: str = ""
    by: str = ""             # the solver that gave the answer
    reported: float = 0.0    # [m/s]
    documented: float = 0.0  # [m/s] the same, exactly
    residual: float = 0.0    # [m/s] with the whole of A
    worst: float = 0.0       # [m/s] of all laws
    law: str = ""
    eliminated: float = 0.0  # [m/s] of all laws, without v
    loose: bool = False
    bound: float = 0.0       # [m/s] that no point can avoid

    def line(self):
        return (f"  {self.seed}:{self.case:<6} {self.family:22} {self.solver:17} tol {self.tol:g} {self.verdict:10} "
                f"{self.why or self.status:13} reported {self.reported:.2e} exact {self.documented:.2e} "
                f"whole A {self.residual:.2e} worst law {self.worst:.2e} ({self.law}) by {self.by}")


def solver_table(command):
    """{name: cones it takes} from `list solvers`."""
    text = subprocess.run([command, "list", "solvers"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.findall(r"^  (\S+) .*\n      .*cones: (disc(?:, polygon)?|polygon)", text, re.MULTILINE)
    if not found:
        raise ValueError(f"{command} list solvers names no solvers")
    return {name: cones.split(", ") for name, cones in found}


def takes(cones, problem):
    return ("disc" in cones or not problem.needs_disc()) and ("polygon" in cones or not problem.needs_polygon())


def tolerance(case):
    """Some problems at a looser one than the default."""
    return 1e-6 if case // len(random_problems.families) % 5 == 4 else 1e-9


def known(problem, judged, tol):
    """The verdict, if it still holds in doubles and at this tolerance."""
    if problem.verdict == "infeasible":
        return "infeasible" if problem.bound > slack * tol else "unknown"
    if problem.verdict == "feasible":
        return "feasible" if exact_residual.judge(judged, *problem.solution)["max"] <= 0.1 * tol else "unknown"
    return "unknown"


def not_certified(verdict, status):
    if verdict == "infeasible":
        return "told" if status == "infeasible" else "untold"
    if verdict == "feasible":
        return "slander" if status == "infeasible" else "unsolved"
    return "refused"


def judge_certificate(result, judged, solution_path):
    found = exact_residual.judge(judged, *exact_residual.read_solution(solution_path))
    result.documented, result.residual, result.worst = found["documented"]["max"], found["residual"], found["max"]
    result.law, result.eliminated = found["worst"], found["eliminated"]["max"]
    above = lambda x: not x <= slack * result.tol
    result.why = "rounding" if above(result.documented) else "coupling" if above(result.residual) else \
        "law" if above(result.worst) else ""
    result.outcome = "false" if result.why else "right"
    result.loose = not result.why and above(result.eliminated)
    assert result.why or result.verdict != "infeasible", "a solution of a problem that has none: is the proof wrong?"


def solve(command, result, judged, problem_path, solution_path):
    words = [command, "solve", problem_path, "--solver", result.solver, "--tol", repr(result.tol), "-o", solution_path,
             "--json"]
    try:
        done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=limit)
    except subprocess.TimeoutExpired:
        result.outcome = "timeout"
        return
    try:
        told = json.loads(done.stdout)
    except ValueError:
        told = None
    beyond = ("too large to compute with", "too small to compute with", "expected a finite number")
    if done.returncode == 2 and any(words in done.stderr for words in beyond):  # refused as input
        result.outcome = "refused"
        return
    if done.returncode not in (0, 1) or told is None:
        result.outcome = "crash"
        result.why = f"exit {done.returncode}: {(done.stderr.strip() or done.stdout.strip())[-200:]}"
        return
    number = lambda x: float("nan") if x is None else x
    result.status, result.by, result.reported = told["status"], told["solver"], number(told["residual"])
    if told["certified"]:
        judge_certificate(result, judged, solution_path)
    else:
        result.outcome = not_certified(result.verdict, result.status)


def run_case(command, solvers, seed, case, keep=None):
    """One Result per solver that takes the problem."""
    results = []
    with tempfile.TemporaryDirectory(prefix="stickslip-hunt-") as folder:
        problem_path, solution_path = pathlib.Path(folder, "problem.h5"), pathlib.Path(folder, "solution.h5")
        problem = random_problems.make(seed, case)
        random_problems.write(problem, problem_path)
        judged = exact_residual.Problem(problem_path)
        tol = tolerance(case)
        verdict = known(problem, judged, tol)
        for name, cones in solvers.items():
            if not takes(cones, problem):
                continue
            result = Result(seed, case, problem.family, verdict, name, tol, bound=problem.bound)
            solve(command, result, judged, problem_path, solution_path)
            results.append(result)
            if keep and result.outcome in failures:
                stem = f"{result.outcome}-{seed}-{case}"
                shutil.copy(problem_path, pathlib.Path(keep, stem + ".h5"))
                if result.outcome == "false":
                    shutil.copy(solution_path, pathlib.Path(keep, f"{stem}-{name}-solution.h5"))
    return results


def unpack(arguments):
    return run_case(*arguments)


def run(command, solvers, seed, cases, jobs=1, keep=None, progress=None):
    tasks = [(command, solvers, seed, case, keep) for case in cases]
    results = []
    for count, found in enumerate(hunt.results_of(unpack, tasks, jobs), 1):
        results += found
        if progress:
            progress(count, results)
    return results


def never_told(results):
    """Cases infeasible by construction on which no solver says so."""
    told = {(r.seed, r.case): False for r in results if r.verdict == "infeasible"}
    for r in results:
        if r.outcome == "told":
            told[r.seed, r.case] = True
    return [case for case, said in told.items() if not said]


def table(results, solvers, chosen):
    """`chosen` out of how many, per family and solver; families and solvers without any are left out."""
    count, total = collections.Counter(), collections.Counter()
    for r in results:
        total[r.family, r.solver] += 1
        if chosen(r):
            count[r.family, r.solver] += 1
    rows = [name for name in random_problems.families if any(count[name, s] for s in solvers)]
    if not rows:
        return ""
    cell = lambda name, s: f"{count[name, s]}/{total[name, s]}" if total[name, s] else ""
    lines = [" " * 24 + "".join(f"{s:>17}" for s in solvers)]
    lines += [f"  {name:22}" + "".join(f"{cell(name, s):>17}" for s in solvers) for name in rows]
    sums = [f"{sum(count[n, s] for n in random_problems.families)}/{sum(total[n, s] for n in random_problems.families)}"
            for s in solvers]
    return "\n".join(lines + ["  " + f"{'all':22}" + "".join(f"{x:>17}" for x in sums)])


def report(results, solvers):
    sections = [(name, lambda r, name=name: r.outcome == name) for name in outcomes if name != "loose"]
    sections[1:1] = [(f"false by {why}", lambda r, why=why: r.outcome == "false" and r.why == why)
                     for why in ("rounding", "coupling", "law")]
    sections.append(("loose", lambda r: r.loose))
    for title, chosen in sections:
        text = table(results, solvers, chosen)
        if text:
            print(f"\n{title}\n{text}")
    lost = never_told(results)
    infeasible = len({(r.seed, r.case) for r in results if r.verdict == "infeasible"})
    print(f"\ninfeasible problems: {infeasible}, of which no solver says so: {len(lost)}")
    for name in failures:
        found = [r for r in results if r.outcome == name]
        if found:
            print(f"\n{name}: {len(found)} answers to {len({(r.seed, r.case) for r in found})} problems")
            for r in sorted(found, key=lambda r: (list(random_problems.families).index(r.family), r.case)):
                print(r.line())


def main():
    parser = hunt.parser(__doc__.splitlines()[0], 5000, "problems", "solvers",
                         "folder for the problems that fail, and the false solutions")
    arguments = parser.parse_args()
    solvers = solver_table(arguments.command)
    if arguments.solvers != "all":
        solvers = {name: solvers[name] for name in arguments.solvers.split(",")}
    wanted = hunt.chosen(arguments.families, random_problems.families)
    numbers = [list(random_problems.families).index(name) for name in wanted]
    cases = [case for case in range(arguments.first, arguments.first + arguments.count)
             if case % len(random_problems.families) in numbers]
    hunt.make_folder(arguments.keep)

    def progress(count, results):
        if count % 100 == 0:
            bad = collections.Counter(r.outcome for r in results if r.outcome in failures)
            print(f"{count} of {len(cases)} problems: {dict(bad)}", file=sys.stderr, flush=True)
    results = run(arguments.command, solvers, arguments.seed, cases, arguments.jobs, arguments.keep, progress)
    hunt.write_csv(arguments.csv, results, Result)
    report(results, solvers)
    return 1 if any(r.outcome in failures for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
