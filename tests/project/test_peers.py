"""What bench/peers judges other engines by is right: the reference of `slide`, the bar, and what is measured of recorded states."""
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import project

sys.path.insert(0, str(project.source / "bench" / "peers"))
import bar
import scenes

measure = project.build / "bench" / "peers" / "measure"
LYING = [math.cos(math.pi / 4), 0, math.sin(math.pi / 4), 0]  # z along x


def measured(scene, frames):
    """A frame has (position, attitude) of each moving body; all at rest."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = pathlib.Path(folder, "scene.json"), pathlib.Path(folder, "out")
        file.write_text(json.dumps(scene))
        rows = [struct.pack("13d", *position, *attitude, *[0.0] * 6) for frame in frames for position, attitude in frame]
        out.with_suffix(".bin").write_bytes(b"".join(rows))
        return json.loads(subprocess.run([measure, file, out], capture_output=True, text=True, check=True).stdout)


def falling(*bodies):
    """Bodies above the ground, which is there so that overlap is looked for."""
    return scenes.scene("test", 1, [scenes.ground(), *bodies], checks={"energy_scale": 1.0})


class Reference(unittest.TestCase):
    def test_stick_slip_agrees_with_small_steps_of_the_implicit_law(self):
        x, slips = scenes.stick_slip(1.0, 0.8, 8.0, 10.0)
        h, v, p = 2e-5, 0.0, 0.0
        for i in range(round(10 / h)):
            free = v + h * 8.0 * math.cos((i + 0.5) * h)
            v = math.copysign(max(abs(free) - h * 0.8 * scenes.G, 0.0), free)
            p += h * v
        self.assertAlmostEqual(p, x, delta=1e-6)  # first order in h: 2e-5 s times speeds of a few cm/s
        self.assertEqual(len(slips), 4)


class Bar(unittest.TestCase):
    def test_a_run_without_faults_passes_and_each_fault_is_named(self):
        stack = scenes.stack("stack", 1e3)
        clean = {"blow_up": -1, "energy_over": 0.0, "drift": 0.001}
        self.assertEqual(bar.failures(stack, stack["steps"], {}, clean), [])
        for fault in ({"blow_up": 3}, {"energy_over": 0.02}, {"drift": 0.6}):
            self.assertEqual(len(bar.failures(stack, stack["steps"], {}, {**clean, **fault})), 1, fault)
        self.assertEqual(bar.failures(stack, 7, {}, clean), ["stopped at the cap of time"])
        self.assertEqual(bar.failures(stack, 7, {"refusal": "no"}, clean), ["refused a step"])


@unittest.skipUnless(measure.exists(), "bench/peers is not built (make bench-peers)")
class Measures(unittest.TestCase):
    def overlap(self, a, b, at_b, attitude_b=scenes.UPRIGHT):
        start = [[0, 0, 5], at_b]
        scene = falling(scenes.at(a, start[0]), scenes.at(b, start[1], attitude_b))
        return measured(scene, [[(start[0], scenes.UPRIGHT), (start[1], attitude_b)]])["overlap_max"]

    def test_overlaps_of_every_pair_of_shapes(self):
        ball, log, cube = scenes.sphere(0.5, 1.0), scenes.capsule(0.5, 1.0, 1.0), scenes.box([0.5] * 3, 1.0)
        tilted = [math.cos(math.pi / 8), math.sin(math.pi / 8), 0, 0]  # 45 degrees about x: an edge points down
        cases = [("ball, ball", ball, ball, [0, 0.6, 5.7], scenes.UPRIGHT, 1 - math.hypot(0.6, 0.7)),
                 ("ball, log beside it", ball, log, [0.9, 0, 5.5], scenes.UPRIGHT, 0.1),
                 ("ball, cap of a log", ball, log, [0, 0, 6.9], scenes.UPRIGHT, 0.1),
                 ("log, crossing log", log, log, [0.3, 0.9, 5.2], LYING, 0.1),
                 ("log, parallel log", log, log, [0.9, 0, 6.0], scenes.UPRIGHT, 0.1),
                 ("cube, ball", cube, ball, [0.95, 0, 5], scenes.UPRIGHT, 0.05),
                 ("cube, lying log over it", cube, log, [0.3, 0, 5.9], LYING, 0.1),
                 ("cube, cube", cube, cube, [0.2, 0.1, 5.9], scenes.UPRIGHT, 0.1),
                 ("cube, cube on edge", cube, cube, [0, 0, 5.5 + math.sqrt(0.5) - 0.1], tilted, 0.1),
                 ("apart", cube, cube, [0, 0, 6.1], scenes.UPRIGHT, 0.0)]
        for name, a, b, at_b, attitude, expected in cases:
            with self.subTest(name):
                self.assertAlmostEqual(self.overlap(a, b, at_b, attitude), expected, places=9)

    def test_bodies_in_the_ground_and_energy_that_rises(self):
        scene = falling(scenes.at(scenes.sphere(0.5, 2.0), [0, 0, 1]))
        found = measured(scene, [[([0, 0, z], scenes.UPRIGHT)] for z in (1.0, 0.4, 1.1)])
        self.assertAlmostEqual(found["overlap_max"], 0.1)
        self.assertAlmostEqual(found["overlap_end"], 0)
        self.assertAlmostEqual(found["energy_over"], 2 * scenes.G * 0.1)
        self.assertAlmostEqual(found["energy_rise"], 2 * scenes.G * 0.7)

    def test_open_joints(self):
        scene = scenes.chain("chain", 2, 0.5, 1.0, 1.0)
        start = [(body["pos"], scenes.UPRIGHT) for body in scene["bodies"]]
        opened = [start[0], ([start[1][0][0] + 0.03, 0, 0.04], scenes.UPRIGHT)]
        self.assertAlmostEqual(measured(scene, [start])["joint_error"], 0)
        self.assertAlmostEqual(measured(scene, [start, opened, start])["joint_error"], 0.05)

    def test_nothing_is_said_of_a_rest_that_was_not_reached(self):
        scene = falling(scenes.at(scenes.sphere(0.5, 2.0), [0, 0, 1]))
        scene["checks"]["rest"] = [1.5 * scenes.H, 1.0]
        still = [([0, 0, 0.49], scenes.UPRIGHT)]
        self.assertNotIn("rest_move", measured(scene, [still] * 2))
        self.assertAlmostEqual(measured(scene, [still] * 3)["overlap_rest"], 0.01)

    def test_numbers_out_of_bounds(self):
        scene = falling(scenes.at(scenes.sphere(0.5, 2.0), [0, 0, 1]))
        self.assertEqual(measured(scene, [[([0, 0, z], scenes.UPRIGHT)] for z in (1.0, 1.0, math.nan)])["blow_up"], 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
