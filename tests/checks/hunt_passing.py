#!/usr/bin/env python3
"""Hunts for bodies that pass through each other unseen, hit what is not there, or hit at the wrong time.

    hunt_passing.py --command build/stickslip --count 2000 --seed 1 [--schemes hem5,euler] [--families drop,throw] [--jobs 1]
                    [--keep DIR] [--csv FILE]

Random bodies are thrown at thin obstacles, one scene and one scheme per run; a failure names seed:case. What can come of a run:

    right        trusted, and as it must be
    passed       trusted, but no impact or one without effect, or the body ends on the other side or beyond the middle of the obstacle
    sunk         trusted, but it ends deeper inside than the verdict allows
    phantom      trusted, but an impact, or a change of velocity, where nothing touches
    time         trusted, but the first impact is elsewhere in time
    rebound      trusted, but the velocity after a single frictionless impact is not that of its restitution, or energy came up
    crash        a signal, exit code 2, or no JSON
    timeout
    told         one of these, but the run is doubtful
    doubtful     as it must be, but doubtful
    refused      exit code 1

Times of impact are known exactly for what does not turn, for spheres, and for bars that turn in a plane (the distance of the
outlines, followed until it is zero). Schemes that locate impacts must find them to 1e-9 s where their path is exact; the others, and
paths that are not, have two steps and what the order of the scheme allows.
"""
import collections
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import hunt
from passing_cases import families
from passing_shapes import (add, minus, times, dot, norm, turn, back, turned, Random, half_thickness, radius, extent,
                            Case, box_depth, deepest)

limit = 30.0           # [s] for one run
slow = 2.0             # [s] runs that take longer are listed
sharp = 1e-9           # [s], and as a share of the time
overlap_share = 0.1    # of half the thickness; the verdict doubts from 0.08
failures = ("passed", "sunk", "phantom", "time", "rebound", "crash", "timeout")
outcomes = failures + ("told", "doubtful", "refused", "right")
stepping = ("moreau-jean", "stewart-trinkle", "schatzman-paoli")                            # no impact is located
crude = ("euler", "linear-implicit-euler", "stewart-trinkle", "schatzman-paoli")           # free fall is not exact
linear = ("trapezoidal", "alpha-gamma", "linear-implicit-euler")                           # closed_gap grows with the step
orders = {"trapezoidal": 2, "alpha-gamma": 2, "generalized-alpha": 2, "rattle": 2, "hem3": 3, "hem4": 4, "rkf45": 4, "rk4": 4,
          "hem5": 5, "phem56": 5, "dopri5": 5, "hybrid": 5}


def make(seed, number, schemes):
    """(family, Case, scheme, step, tol or 0) of a seed."""
    rng = Random(f"{seed}:{number}")
    names = list(families)
    family, scheme = names[number % len(names)], list(schemes)[number // len(names) % len(schemes)]
    h = rng.power(1e-4, 1 / 60)
    tol = rng.power(1e-10, 1e-3) if schemes[scheme] and rng.chance(0.5) else 0.0
    case = families[family](rng, h)
    if case.plane:
        q, offset = turned([0.0, 0.0, 1.0], rng.uniform(0, 6)), [rng.uniform(-3, 3), rng.uniform(-3, 3), 0.0]
    else:
        q, offset = rng.choice(([1.0, 0.0, 0.0, 0.0], rng.attitude())), [rng.uniform(-3, 3) for _ in range(3)]
    case.moved(q, offset if rng.chance(0.7) else [0.0, 0.0, 0.0])
    return family, case, scheme, h, tol


# What came of it.

@dataclasses.dataclass
class Result:
    seed: int
    case: int
    family: str
    kind: str
    scheme: str
    step: float
    tol: float
    outcome: str = ""
    why: str = ""
    status: str = ""
    reasons: str = ""       # of a doubt or refusal
    grounds: str = ""       # the kinds of it
    error: float = None     # [s] of the first impact
    allowed: float = None   # [s]
    seconds: float = 0.0
    steps: int = 0

    def line(self):
        tol = f" tol {self.tol:.1e}" if self.tol else ""
        return (f"  {self.seed}:{self.case:<6} {self.family:10} {self.kind:16} {self.scheme:21} h {self.step:.2e}{tol} "
                f"{self.status} {self.why}")


def allowed(case, result, told):
    """[s] By which the first impact may be off."""
    scheme, h, tol = result.scheme, result.step, result.tol
    share = sharp * (1 + case.time)
    if case.path == "hinge":
        angle = case.rate * case.time
        if tol:
            share += 30 * told["steps"] * tol / case.speed * (1 + angle)
        else:
            share += 2 * case.time * min(1.0, (case.rate * h) ** orders.get(scheme, 1))
    if scheme in stepping or (case.path == "fall" and scheme in crude) or case.path == "switched":
        share += 2 * h
    if scheme in crude and case.path in ("fall", "switched"):
        share += h
    if case.path == "switched" and tol:  # step control does not see everything
        share += 0.1 * case.time
    if scheme in linear:  # closed from the start
        share += 1e-5 * case.size / case.speed
    return share


def shallow(case):
    if not case.boxes or case.time is None or case.path == "hinge":
        return ""
    share, t = deepest(*(case.bodies[name] for name in case.boxes[0]), case.time, 3000)
    return f" (else {100 * share:.0f} % of half the thickness deep, for {t:.2g} s)"


def body_of(case, told, name):
    pose = told["bodies"][name]["pose"]
    return dataclasses.replace(case.bodies[name], at=pose[:3], attitude=pose[3:])


def wrong_sides(case, result, told):
    for name, n, offset, thick in case.sides:
        body = body_of(case, told, name)
        away = dot(n, body.at) - offset
        depth = extent(body.shape, body.attitude, n) - away
        thin = min(thick, half_thickness(body.shape))
        if away < -thick or depth > thin:
            yield "passed", f"ends {depth:.3g} m inside, its centre {away:.3g} m above the plate of {2 * thick:.3g} m"
        elif depth > overlap_share * thin:
            yield "sunk", f"ends {depth:.3g} m inside, {100 * depth / thin:.0f} % of half the thickness"
    for first, second in case.boxes:
        a, b = body_of(case, told, first), body_of(case, told, second)
        depth, thin = box_depth(a, b), min(half_thickness(a.shape), half_thickness(b.shape))
        if depth > overlap_share * thin:
            yield "passed" if depth > thin else "sunk", f"end {depth:.3g} m in each other, {100 * depth / thin:.0f} %"
    if case.time is not None and case.end > case.time + allowed(case, result, told):
        yield from not_struck(case, told)
    for first, second, n, speed in case.parted:
        v = [told["bodies"][name]["velocity"][:3] for name in (first, second)]
        if dot(n, minus(*v)) < -0.5 * speed:
            yield "passed", f"they approach at {-dot(n, minus(*v)):.4g} m/s after, {speed:.4g} m/s before"


def not_struck(case, told):
    for name in case.struck:
        body, v = case.bodies[name], told["bodies"][name]["velocity"]
        expected = add(body.velocity, times(told["t"], case.gravity)) if case.path != "hinge" else v[:3]
        change = norm(minus(v[:3], expected)) + radius(body.shape) * norm(minus(v[3:], body.spin))
        if change < 0.01 * case.speed:
            yield "passed", f"its velocity changes by {change:.3g} m/s only, after an approach at {case.speed:.3g} m/s"


def wrong_flight(case, result, told):
    for event in told["events"]:
        if event["kind"] == "impact":
            yield "phantom", f"impact at t = {event['t']!r} ({event['who']}, impulse {event['impulse']:.3g})"
            break
    for name in case.kept:
        body, v = case.bodies[name], told["bodies"][name]["velocity"]
        speed = norm(body.velocity)
        fast = norm(body.spin) + speed / radius(body.shape)
        changes = [(v[:3], body.velocity, 1e-12 * speed), (v[3:], body.spin, (1e-12 + 10 * result.tol) * fast)]
        for now, before, near in changes:
            if norm(minus(now, before)) > near:
                yield "phantom", f"its velocity changes from {before} to {now}"
        off = norm(minus(told["bodies"][name]["pose"][:3], add(body.at, times(told["t"], body.velocity))))
        if off > 1e-9 * (1 + told["t"] * norm(body.velocity)):
            yield "phantom", f"ends {off:.3g} m from where it flies"


def wrong_rebound(case, result, told):
    e = 0.0 if result.scheme == "stewart-trinkle" else case.restitution
    if case.rebound:
        name, n, speed = case.rebound
        found = dot(n, told["bodies"][name]["velocity"][:3])
        if not abs(found - e * speed) < 1e-6 * speed:
            yield "rebound", f"leaves with {found:.9g} m/s of {speed:.9g} m/s, restitution {e}"
    if case.final and result.scheme not in stepping:
        name, n, x, tolerance = case.final
        off = dot(n, told["bodies"][name]["pose"][:3]) - x
        if not abs(off) < tolerance:
            yield "rebound", f"ends {off:.3g} m from where it must be"
    if not case.driven and not any(case.gravity):
        start, end = told["energy"]["scale"], told["energy"]["kinetic"]
        before = sum(energy(body) for body in case.bodies.values() if body.mass)
        if end > 1.02 * before:
            yield "rebound", f"kinetic energy rises from {before:.6g} to {end:.6g} J (scale {start:.4g})"


def energy(body):
    """[J] Kinetic."""
    m, w = body.mass, turn(back(body.attitude), body.spin)
    if body.shape[0] == "sphere":
        inertia = [0.4 * m * body.shape[1] ** 2] * 3
    elif body.shape[0] == "box":
        x, y, z = (a * a for a in body.shape[1])
        inertia = [m / 12 * (y + z), m / 12 * (x + z), m / 12 * (x + y)]
    else:
        inertia = capsule_inertia(m, *body.shape[1:])
        inertia = [inertia[2], inertia[1], inertia[0]] if body.lying else inertia
    return 0.5 * m * dot(body.velocity, body.velocity) + 0.5 * sum(i * x * x for i, x in zip(inertia, w))


def capsule_inertia(m, r, length):
    tube, ball = length, 4 * r / 3  # volumes as shares of pi r^2
    m_tube, m_ball = m * tube / (tube + ball), m * ball / (tube + ball)
    along = m_tube * r * r / 2 + m_ball * 0.4 * r * r
    cap = m_ball * (0.4 * r * r + length * length / 4 + 3 * length * r / 8)
    across = m_tube * (r * r / 4 + length * length / 12) + cap
    return [across, across, along]


def wrongs(case, result, told):
    """(outcome, why) of everything that is not as it must be."""
    if not case.hit:
        yield from wrong_flight(case, result, told)
        return
    hits = [event["t"] for event in told["events"] if event["kind"] == "impact"]
    if not hits and (case.time is None or case.end > case.time + allowed(case, result, told)):
        yield "passed", f"no impact; one is due at t = {case.time!r}" if case.time else "no impact"
    yield from wrong_sides(case, result, told)
    if hits and case.time is not None:
        result.error, result.allowed = min(hits) - case.time, allowed(case, result, told)
        if not abs(result.error) <= result.allowed:
            yield "time", (f"impact at t = {min(hits)!r}, due at {case.time!r}: off by {result.error:.3g}, "
                           f"may be {result.allowed:.3g} s")
    yield from wrong_rebound(case, result, told)


def judge(case, result, done):
    case.size = min(2 * radius(body.shape) for body in case.bodies.values() if body.mass)
    try:
        told = json.loads(done.stdout)
        result.status, result.steps = told["verdict"]["status"], told["steps"]
    except (ValueError, KeyError):
        told = None
    if done.returncode not in (0, 1) or told is None:
        result.outcome = "crash"
        result.why = f"exit {done.returncode}: {(done.stderr.strip() or done.stdout.strip())[-300:]}"
        return
    result.reasons = " | ".join(told["verdict"]["reasons"])
    result.grounds = " ".join(sorted({ground["kind"] for ground in told["verdict"]["grounds"]}))
    if done.returncode == 1:
        result.outcome, result.why = "refused", result.reasons
        return
    silent = result.status == "trusted" and told["certified"]
    found = list(wrongs(case, result, told))
    result.why = "; ".join(f"{name}: {why}" for name, why in found) + shallow(case) if found else result.reasons
    if silent:
        result.outcome = min((name for name, _ in found), key=failures.index) if found else "right"
    else:
        result.outcome = "told" if found else "doubtful"


def run_case(command, schemes, seed, number, keep=None):
    family, case, scheme, h, tol = make(seed, number, schemes)
    result = Result(seed, number, family, case.kind, scheme, h, tol)
    with tempfile.TemporaryDirectory(prefix="stickslip-hunt-") as folder:
        path = pathlib.Path(folder, "scene.yaml")
        options = ["--scheme", scheme, "--step", repr(h), "--json", "--quiet", "--no-record"] + (["--tol", repr(tol)] if tol else [])
        path.write_text(case.text(f"{family} {case.kind}, {seed}:{number}"))
        start = time.perf_counter()
        try:
            done = subprocess.run([command, "run", str(path)] + options, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=limit)
            judge(case, result, done)
        except subprocess.TimeoutExpired:
            result.outcome = "timeout"
        result.seconds = time.perf_counter() - start
        if keep and result.outcome in failures + ("told",):
            name = f"{result.outcome}-{family}-{scheme}-{seed}-{number}.yaml"
            text = case.text(f"{family} {case.kind}, {seed}:{number}\n# stickslip run {name} {' '.join(options)}\n# {result.why}")
            pathlib.Path(keep, name).write_text(text)
    return result


def unpack(arguments):
    return run_case(*arguments)


def run(command, schemes, seed, cases, jobs=1, keep=None, progress=None):
    tasks = [(command, schemes, seed, case, keep) for case in cases]
    results = []
    for result in hunt.results_of(unpack, tasks, jobs):
        results.append(result)
        if progress:
            progress(results)
    return results


def scheme_table(command):
    """{name: whether it has step control} from `list schemes`."""
    text = subprocess.run([command, "list", "schemes"], stdout=subprocess.PIPE, text=True, check=True).stdout
    parts = re.split(r"^  (?=\S)", text, flags=re.MULTILINE)[1:]
    if not parts:
        raise ValueError(f"{command} list schemes names no schemes")
    return {part.split()[0]: "scheme.tol " in part for part in parts}


def table(results, row, columns, column):
    """How many, per value of `row` and `column`."""
    count = collections.Counter((row(r), column(r)) for r in results)
    rows = list(dict.fromkeys(row(r) for r in results))
    columns = [c for c in columns if any(count[r, c] for r in rows)]
    lines = [" " * 24 + "".join(f"{c:>11}" for c in columns) + f"{'all':>11}"]
    for name in rows + ["all"]:
        cells = [sum(count[r, c] for r in ([name] if name != "all" else rows)) for c in columns]
        lines.append(f"  {name:22}" + "".join(f"{x or '.':>11}" for x in cells) + f"{sum(cells):>11}")
    return "\n".join(lines)


def report(results):
    for name in failures + ("told",):
        found = [r for r in results if r.outcome == name]
        if found:
            print(f"\n{name}: {len(found)}")
            for r in sorted(found, key=lambda r: (list(families).index(r.family), r.scheme, r.case)):
                print(r.line())
    reasons = collections.Counter((r.outcome, r.scheme, r.grounds) for r in results if r.outcome in ("doubtful", "refused", "told"))
    if reasons:
        print("\nnot trusted")
        for (outcome, scheme, grounds), count in sorted(reasons.items()):
            print(f"  {outcome:10} {scheme:22} {grounds:40} {count}")
    late = sorted((r for r in results if r.seconds > slow), key=lambda r: -r.seconds)
    if late:
        print(f"\nslower than {slow:g} s: {len(late)}")
        for r in late[:20]:
            print(f"  {r.seconds:6.1f} s {r.steps:8} steps {r.line().strip()}")
    print(f"\n{table(results, lambda r: r.family, outcomes, lambda r: r.outcome)}")
    print(f"\n{table(results, lambda r: r.scheme, outcomes, lambda r: r.outcome)}")


def main():
    parser = hunt.parser(__doc__.splitlines()[0], 2000, "runs", "schemes",
                         "folder for the scenes that fail, with the command to repeat them")
    arguments = parser.parse_args()
    schemes = scheme_table(arguments.command)
    wanted = hunt.chosen(arguments.families, families)
    chosen = hunt.chosen(arguments.schemes, schemes)
    belongs = lambda case: (list(families)[case % len(families)] in wanted and
                            list(schemes)[case // len(families) % len(schemes)] in chosen)
    cases = [case for case in range(arguments.first, arguments.first + arguments.count) if belongs(case)]
    hunt.make_folder(arguments.keep)

    def progress(results):
        if len(results) % 200 == 0:
            bad = collections.Counter(r.outcome for r in results if r.outcome in failures)
            print(f"{len(results)} of {len(cases)} runs: {dict(bad)}", file=sys.stderr, flush=True)
    results = run(arguments.command, schemes, arguments.seed, cases, arguments.jobs, arguments.keep, progress)
    hunt.write_csv(arguments.csv, results, Result)
    report(results)
    return 1 if any(r.outcome in failures for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
