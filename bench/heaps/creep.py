#!/usr/bin/python3
"""What moves in heaps that have come to rest: ten minutes of each, in steps of 1/60 s, with default options.

    bench/heaps/creep.py COMMAND [--only PART] [--end 600] [--step 1/60] [--args "..."]

A line per heap: how many centres moved by more than 1e-9 m between 10 s and the end, and how far (balls that roll on the floor do: nothing
resists rolling); the farthest of all the others; the mean step.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import h5py
import numpy as np

here = pathlib.Path(__file__).parent / "scenes"
heaps = {
    "wall 7x8 after a hit": ("wall", "rows=7", "columns=8"),
    "wall 10x10 after a hit": ("wall", "rows=10", "columns=10"),
    "ten boxes": ("ten-boxes",),
    "80 rocks of spheres": ("rocks", "n=4", "layers=5"),
    "125 spheres": ("spheres", "n=5", "layers=5"),
    "500 spheres": ("spheres", "n=10", "layers=5"),
}



def farthest(record, since):
    with h5py.File(record) as file:
        t = file["t"][:]
        pose = file["bodies/pose"]
        moved = np.linalg.norm(pose[-1, :, :3] - pose[int(np.searchsorted(t, since)), :, :3], axis=1)
    return moved


def measure(command, name, scene, sets, end, step, more):
    with tempfile.TemporaryDirectory() as folder:
        line = [command, "run", str(here / f"{scene}.yaml"), "--json", "--quiet", "--force", "-o", folder, "--step", step,
                "--end", str(end), *[x for s in sets for x in ("--set", s)], *more]
        text = subprocess.run(line, capture_output=True, text=True).stdout
        r = json.loads(text[text.index("{"):])
        moved = np.sort(farthest(next(pathlib.Path(folder).glob("*.h5")), min(10, end / 2)))[::-1]
    crept = moved[moved > 1e-9]
    print(f"{name}: {r['end']}, uncertified {r['uncertified']['steps']}, moved beyond 1e-9 m: {len(crept)} bodies "
          f"({', '.join(f'{x:.2g}' for x in crept[:4])}), the farthest of the others {moved[len(crept)]:.2g} m, "
          f"mean step {r['step_ms']['mean']:.3g} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("--only", default="")
    parser.add_argument("--end", type=float, default=600)
    parser.add_argument("--step", default="1/60")
    parser.add_argument("--args", default="")
    args = parser.parse_args()
    for name, (scene, *sets) in heaps.items():
        if args.only in name:
            measure(args.command, name, scene, sets, args.end, args.step, args.args.split())


if __name__ == "__main__":
    main()
