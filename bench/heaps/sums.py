#!/usr/bin/python3
"""Whether two heaps that never meet cost, in one scene, what they cost alone.

    bench/heaps/sums.py COMMAND [--only PART] [--rounds 3] [--keep FOLDER]

A line per pair: processor time of all steps with both in one scene over the sum of those with each alone (the least of the rounds of each, with one
thread), and the mean processor times of a step in ms. 1 is what independent parts should cost; what a scene costs whatever is in it
makes the ratio smaller, what is done for all because one needs it makes it larger.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

step, end = 1 / 240, 1.0


def box(pose, size, density=1800, **more):
    return dict(pose=pose, density=density, shapes=[dict(box=size)], **more)


def wall(at, rows, columns, hit):
    l, d, h, r, speed = 0.25, 0.12, 0.065, 0.09, 7
    bodies = {f"brick-{i}-{j}": box([at + (j - (columns - 1) / 2 + (i % 2) / 2 - 0.25) * (l + 0.01), 0, (i + 0.5) * h], [l, d, h])
              for i in range(rows) for j in range(columns)}
    if hit:
        bodies["ball"] = dict(pose=[at, -d / 2 - r - 0.1 * speed, rows * h / 2], mass=6, shapes=[dict(sphere=r)], velocity=[0, speed, 0.49])
    return bodies


def stacks(at, n, high):
    size = 0.2
    return {f"box-{i}-{k}": box([at + i, 0, (k + 0.5) * size + (k + 1) * 0.02], [size] * 3, 500) for i in range(n) for k in range(high)}


def spheres(at, n, layers):
    r, pitch = 0.1, 0.23
    half = (n * pitch + 0.1) / 2
    bodies = {f"side-{k}": dict(fixed=True, pose=[at + x, y, 2], shapes=[dict(box=[sx, sy, 4])])
              for k, (x, y, sx, sy) in enumerate([(-half - 0.05, 0, 0.1, 3), (half + 0.05, 0, 0.1, 3), (0, -half - 0.05, 3, 0.1), (0, half + 0.05, 3, 0.1)])}
    for i in range(n):
        for j in range(n):
            for k in range(layers):
                x, y = ((q - (n - 1) / 2) * pitch + 0.01 * math.sin(w + 12.9 * i + 78.2 * j + 37.7 * k) for q, w in ((i, 0), (j, 1)))
                bodies[f"ball-{i}-{j}-{k}"] = dict(pose=[at + x, y, 0.15 + k * pitch], density=1000, shapes=[dict(sphere=r)])
    return bodies


def dominoes(at, n):
    height, thickness, gap, push = 0.048, 0.0075, 0.0165, 5
    bodies = {f"domino-{i}": dict(pose=[at + i * (gap + thickness), 0, height / 2], mass=0.01, shapes=[dict(box=[thickness, 0.024, height])])
              for i in range(n)}
    bodies["domino-0"].update(velocity=[push * height / 2, 0, push * thickness / 2], angular_velocity=[0, push, 0])
    return bodies


def logs(at):
    r, l = 0.15, 2
    bodies = {f"stop-{k}": dict(fixed=True, pose=[at + x, 0, 0.2], shapes=[dict(box=[0.1, 0.2, 0.4])]) for k, x in enumerate((r - 0.05, 9 * r + 0.05))}
    for k in range(1, 5):
        for i in range(1, 6 - k):
            bodies[f"log-{k}-{i}"] = dict(pose=dict(at=[at + (2 * i + k - 1) * r, 0, r + (k - 1) * math.sqrt(3) * r], rpy_deg=[90, 0, 0]),
                                          density=600, shapes=[dict(capsule=dict(radius=r, length=l))])
    return bodies


def boxes(at, n):
    return {f"heap-{i}": dict(pose=dict(at=[at + 0.05 * i, 0, 0.3 + 0.5 * i], rpy_deg=[10 * i, 5, 0]), mass=1, shapes=[dict(box=[0.4, 0.3, 0.2])])
            for i in range(1, n + 1)}


def rocks(at, n, layers):
    parts = [(0.15, [0, 0, 0]), (0.12, [0.1, 0.02, 0]), (0.1, [-0.09, 0.05, 0.03]), (0.11, [0, -0.1, 0.02]), (0.1, [0.02, 0.03, 0.1])]
    return {f"rock-{i}-{j}-{k}": dict(pose=dict(at=[at + (i - n / 2) * 0.5 + 0.07 * k, (j - n / 2) * 0.5 - 0.05 * k, 0.4 + 0.6 * k], rpy_deg=[37 * i, 53 * j, 11 * k]),
                                      density=2500, shapes=[dict(sphere=r, pose=p) for r, p in parts])
            for i in range(n) for j in range(n) for k in range(layers)}


far = 60  # [m]
pairs = {
    "hit wall 3x4 + resting wall 15x15": (wall(0, 3, 4, True), {f"rest-{k}": b for k, b in wall(far, 15, 15, False).items()}),
    "4 stacks + 64 spheres": (stacks(0, 4, 10), spheres(far, 4, 4)),
    "dominoes + logs": (dominoes(0, 24), logs(far)),
    "ten boxes + wall 7x8 hit": (boxes(0, 10), wall(far, 7, 8, True)),
    "rocks + stack": (rocks(0, 3, 3), stacks(far, 1, 20)),
}


def run(command, bodies, folder):
    scene = dict(stickslip=1, materials=dict(default=dict(friction=0.5, restitution=0)),
                 bodies=dict(floor=dict(fixed=True, shapes=[{"half-space": dict(normal=[0, 0, 1])}]), **bodies),
                 run=dict(step=step, end=end))
    file = pathlib.Path(folder) / "scene.yaml"
    file.write_text(json.dumps(scene))  # JSON is YAML
    line = [command, "run", str(file), "--threads", "1", "--json", "--quiet", "--no-record"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600)
    if "{" not in done.stdout:
        sys.exit(f"{' '.join(line)}: {done.stderr}")
    r = json.loads(done.stdout[done.stdout.index("{"):])
    return r["step_cpu_ms"]["mean"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", help="folder for the last scene")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        for name, (a, b) in pairs.items():
            if options.only not in name:
                continue
            assert not a.keys() & b.keys()
            times = [[run(options.command, bodies, folder) for bodies in (a, b, {**a, **b})] for _ in range(options.rounds)]
            first, second, both = (min(column) for column in zip(*times))
            print(f"{name}: {both / (first + second):.2f} ({both:.3g} for {first:.3g} + {second:.3g} ms)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
