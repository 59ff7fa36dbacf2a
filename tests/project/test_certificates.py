"""What a solver certifies is right: random problems, from tame to impossible, judged in 80 digits.

tests/checks/hunt_false_certificates.py is the same hunt at any length. A failure names seed:case; write the problem with

    tests/checks/random_problems.py --seed SEED --case CASE -o problem.h5
"""
import math
import pathlib
import sys
import tempfile
import unittest
from fractions import Fraction

import project

import numpy as np

sys.path.insert(0, str(project.source / "tests/checks"))
import exact_residual  # noqa: E402
import hunt_false_certificates as hunt  # noqa: E402
import random_problems  # noqa: E402
import residual as other_check  # noqa: E402
import step_problem  # noqa: E402

SEED = 7
COUNT = 500

command = project.build / "bin/stickslip"


def judged(problem, v, impulses, p):
    with tempfile.TemporaryDirectory(prefix="stickslip-exact-") as folder:
        path = pathlib.Path(folder, "problem.h5")
        step_problem.write(problem, path)
        return exact_residual.judge(exact_residual.Problem(path), v, impulses, p)


def ball_on_floor(mass=2.0, fall=-0.25):
    """One velocity, one contact: v = 0, p = mass |fall|."""
    contact = step_problem.Contact({0: np.array([[1.0]])})
    return step_problem.Problem(nodes=[np.array([[mass]])], contacts=[contact], r=np.array([mass * fall]))


def sliding_block(facets):
    """Mass 1, mu 1/2, pressed with 1 N s, moving with (3, 4) m/s: friction takes 1/2 N s against the motion."""
    contact = step_problem.Contact({0: np.eye(3)}, mu=0.5, facets=facets)
    return step_problem.Problem(nodes=[np.eye(3)], contacts=[contact], r=np.array([-1.0, 3.0, 4.0]))


class Checker(unittest.TestCase):
    """The judge itself, on problems whose answers are known."""

    def test_ball_on_the_floor(self):
        self.assertEqual(judged(ball_on_floor(), [0.0], [], [0.5])["max"], 0)
        sinking = judged(ball_on_floor(), [-0.25], [], [0.0])
        self.assertEqual((sinking["dynamics"], sinking["penetration"], sinking["contacts"]), (0, 0.25, 0.25))
        bouncing = judged(ball_on_floor(), [0.125], [], [0.75])
        self.assertEqual((bouncing["dynamics"], bouncing["complementarity"], bouncing["penetration"]), (0, 0.125, 0))
        forgotten = judged(ball_on_floor(), [0.0], [], [0.0])
        self.assertEqual((forgotten["dynamics"], forgotten["contacts"]), (0.25, 0))
        self.assertEqual(forgotten["eliminated"]["penetration"], 0.25)

    def test_sliding_block_on_a_disc_and_on_a_square(self):
        # the disc takes friction along (-3, -4) / 5; of the corners of a square (0, -1) takes most power
        disc = judged(sliding_block(0), [0.0, 2.7, 3.6], [], [1.0, -0.3, -0.4])
        self.assertLess(disc["max"], 1e-15)
        square = judged(sliding_block(4), [0.0, 3.0, 3.5], [], [1.0, 0.0, -0.5])
        self.assertEqual(square["max"], 0)
        # each is wrong under the other cone, by its direction or by its size
        wrong = judged(sliding_block(0), [0.0, 3.0, 3.5], [], [1.0, 0.0, -0.5])
        self.assertGreater(wrong["friction"], 0.1)
        self.assertEqual((wrong["cone"], wrong["penetration"], wrong["dynamics"]), (0, 0, 0))
        outside = judged(sliding_block(4), [0.0, 2.7, 3.6], [], [1.0, -0.3, -0.4])
        self.assertGreater(outside["cone"], 0.05)

    def test_bounded_rows(self):
        joint = lambda lower, upper: step_problem.Joint({0: np.array([[1.0]])}, b=np.array([1.0]),
                                                        lower=np.array([lower]), upper=np.array([upper]))
        motor = lambda lower, upper: step_problem.Problem(nodes=[np.array([[2.0]])], joints=[joint(lower, upper)],
                                                          r=np.array([3.0]))
        self.assertEqual(judged(motor(-2.0, 2.0), [1.0], [-1.0], [])["max"], 0)     # reaches its target
        self.assertEqual(judged(motor(-0.5, 0.5), [1.25], [-0.5], [])["max"], 0)    # too weak, at its bound
        self.assertEqual(judged(motor(-0.5, 0.5), [1.0], [-1.0], [])["joints"], 0.25)  # beyond it by 1/2, W = 1/2
        self.assertEqual(judged(motor(-0.5, 0.5), [1.5], [0.0], [])["joints"], 0.25)
        yielding = motor(-0.5, 0.5)
        yielding.joints[0].T[0] = 0.5  # W = 1/2 + 1/2, w = 0, beyond the bound by 1/2
        self.assertEqual(judged(yielding, [1.5], [-1.0], [])["joints"], 0.5)

    def test_what_doubles_hide_is_seen(self):
        # p - rho u rounds to p: 1 m/s of sinking is lost beside an impulse of 2^60, and so is the momentum
        squeezed = step_problem.Problem(
            nodes=[np.array([[1.0]])], r=np.array([0.5]),
            contacts=[step_problem.Contact({0: np.array([[sign]])}, c=np.array([-1.0])) for sign in (1.0, -1.0)])
        step_problem.add_proof(squeezed, {0: 1, 1: 1}, {})
        self.assertEqual(squeezed.bound, 1.0)
        found = judged(squeezed, [0.0], [], [2.0**60, 2.0**60])
        self.assertEqual((found["penetration"], found["contacts"], found["dynamics"]), (1, 1, 0.5))

    def test_couplings_count(self):
        # two masses on a stiff spring: the common motion is off by 1, which A_nn^-1 shrinks to 1 / k
        k = 2.0**40
        problem = step_problem.Problem(nodes=[np.array([[1 + k]])] * 2, r=np.array([1.0, 1.0]),
                                       couplings={(0, 1): np.array([[-k]]), (1, 0): np.array([[-k]])})
        found = judged(problem, [0.0, 0.0], [], [])
        self.assertEqual(found["dynamics"], 1)
        self.assertLess(found["documented"]["dynamics"], 1e-11)
        # an impulse where there is a gap: W is 1/2 by the whole of A, 1 / k by its diagonal blocks
        problem.contacts = [step_problem.Contact({0: np.array([[1.0]])}, c=np.array([8.0]))]
        found = judged(problem, [0.0, 0.0], [], [4.0])
        self.assertTrue(math.isclose(found["complementarity"], 2, rel_tol=1e-9))
        self.assertLess(found["documented"]["contacts"], 1e-11)

    def test_single_laws_are_bounded_by_the_natural_map(self):
        random = random_problems.Random(3)
        number = exact_residual.number
        for _ in range(600):
            dim, facets = random.pick((1, 0), (2, 0), (3, 0), (3, 2), (3, 4), (3, 8), (3, 12))
            mu = random.pick(0.0, 0.3, 1.0, 30.0)
            u, p = (exact_residual.exact(random.power(-2, 2) * random.normals(dim) * random.below(4)) for _ in range(2))
            laws = exact_residual.contact_laws(u, p, number(mu), facets, number(random.power(-2, 2)))
            factor = number(1 + mu * mu).sqrt() * (1 + number(10) ** -60)
            for name in ("penetration", "complementarity", "friction"):
                self.assertLessEqual(laws[name], factor * laws["contacts"], (name, dim, facets, mu))
            self.assertLessEqual(laws["cone"], laws["contacts"] * (1 + number(10) ** -60))

    def test_projections_are_the_nearest_points(self):
        # x - P(x) makes an obtuse angle with every way into the cone, and P(x) lies in the cone
        random = random_problems.Random(4)
        number, length, dot = exact_residual.number, exact_residual.length, lambda a, b: sum(s * t for s, t in zip(a, b))
        small = number(10) ** -70
        for _ in range(600):
            dim, facets = random.pick((1, 0), (2, 4), (3, 0), (3, 0), (3, 2), (3, 4), (3, 8), (3, 12))
            mu = number(random.pick(0.0, 1e-3, 0.5, 1.0, 50.0))
            x = exact_residual.exact(random.power(-2, 2) * random.normals(dim) * [random.below(4) > 0 for _ in range(dim)])
            nearest = exact_residual.project_cone(x, mu, facets)
            rest, size = [a - b for a, b in zip(x, nearest)], (1 + length(x)) ** 2 * (1 + mu)
            self.assertLessEqual(abs(dot(rest, nearest)), small * size)
            # rays of the cone; of a disc that which goes farthest along the rest
            if dim == 1:
                directions = [[]]
            elif dim == 2:
                directions = [[number(1)], [number(-1)]]
            elif facets == 0:
                size_T = length(rest[1:])
                directions = [[a / size_T for a in rest[1:]]] if size_T > 0 else [[number(1), number(0)]]
            else:
                directions = exact_residual.corners(facets)
            for d in directions:
                self.assertLessEqual(rest[0] + mu * dot(rest[1:], d), small * size)
            again = exact_residual.project_cone(nearest, mu, facets)
            self.assertLessEqual(length([a - b for a, b in zip(again, nearest)]), small * size)
            self.assertGreaterEqual(nearest[0], 0)
            if dim == 1:
                continue
            section = exact_residual.project_section(x[1:], mu, facets)
            rest = [a - b for a, b in zip(x[1:], section)]
            for d in directions if facets or dim == 2 else [[a / length(rest) for a in rest]] if length(rest) > 0 else []:
                self.assertLessEqual(dot(rest, [mu * a - s for a, s in zip(d, section)]), small * size)

    def test_two_checks_agree_far_from_solutions(self):
        with tempfile.TemporaryDirectory(prefix="stickslip-exact-") as folder:
            path = pathlib.Path(folder, "problem.h5")
            for case in range(0, 4 * len(random_problems.families), 3):
                problem = random_problems.make(11, case)
                if problem.family not in ("well-scaled", "loaded", "redundant", "gyroscopic", "coupled", "motors", "stack",
                                          "stiff"):
                    continue
                random_problems.write(problem, path)
                mine, other = exact_residual.Problem(path), other_check.Problem(path)
                random = random_problems.Random(12, case)
                v, impulses, p = (random.normals(n) for n in (len(mine.r), len(mine.b), len(mine.c)))
                here = exact_residual.judge(mine, v, impulses, p)["documented"]
                there, _ = other_check.residual(other, *(x.astype(np.longdouble) for x in (v, impulses, p)))
                for name in ("dynamics", "joints", "contacts"):
                    self.assertTrue(math.isclose(here[name], there[name], rel_tol=1e-9), (case, name, here, there))


class Generator(unittest.TestCase):
    def test_same_seed_same_problem(self):
        for case in range(len(random_problems.families)):
            a, b = (random_problems.make(5, case) for _ in range(2))
            self.assertEqual(a.r.tobytes(), b.r.tobytes())
            self.assertEqual([k.c.tobytes() for k in a.contacts], [k.c.tobytes() for k in b.contacts])

    def test_a_wrong_proof_is_noticed(self):
        problem = random_problems.make(1, list(random_problems.families).index("squeezed"))
        y, z = problem.proof
        with self.assertRaises(AssertionError):
            step_problem.add_proof(problem, {key: 2 * weight if key == min(y) else weight for key, weight in y.items()}, z)

    def test_no_point_beats_the_bound_of_a_proof(self):
        random = random_problems.Random(6)
        seen = 0
        for case in range(3 * len(random_problems.families)):
            problem = random_problems.make(2, case)
            if problem.verdict != "infeasible":
                continue
            seen += 1
            (y, z), start = problem.proof, problem.start
            v = step_problem.fractions(random.power(-2, 4) * random.normals(start[-1]))
            violations = [-step_problem.row_times(problem.contacts[i], 0, v, start) - Fraction(problem.contacts[i].c[0])
                          for i in y]
            violations += [abs(step_problem.row_times(problem.joints[j], k, v, start) - Fraction(problem.joints[j].b[k]))
                           for j, k in z]
            self.assertGreaterEqual(float(max(violations)), problem.bound * (1 - 1e-15))
        self.assertGreater(seen, 10)


class Certificates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not command.exists():
            raise unittest.SkipTest("the command is not built here")
        cls.results = hunt.run(command, hunt.solver_table(command), SEED, range(COUNT))

    def assert_none(self, found, what):
        if found:
            self.fail(f"{len(found)} {what}:\n" + "\n".join(r.line() for r in found[:40]))

    def test_every_family_was_met(self):
        self.assertEqual({r.family for r in self.results}, set(random_problems.families))
        self.assertGreater(sum(r.outcome == "right" for r in self.results), COUNT)

    def test_no_certificate_is_false(self):
        self.assert_none([r for r in self.results if r.outcome == "false"], "false certificates")

    def test_nothing_crashes_or_hangs(self):
        self.assert_none([r for r in self.results if r.outcome in ("crash", "timeout")], "crashes and time-outs")

    def test_solvable_problems_are_not_called_infeasible(self):
        self.assert_none([r for r in self.results if r.outcome == "slander"], "solvable problems called infeasible")

    def test_infeasible_problems_are_not_certified(self):
        self.assert_none([r for r in self.results if r.verdict == "infeasible" and r.status == "ok"],
                         "certificates for problems without a solution")

    def test_infeasible_problems_are_called_so(self):
        lost = hunt.never_told(self.results)
        cases = {(r.seed, r.case): r.family for r in self.results}
        if lost:
            self.fail(f"{len(lost)} problems without a solution that no solver calls infeasible: " +
                      ", ".join(f"{seed}:{case} {cases[seed, case]}" for seed, case in lost))


if __name__ == "__main__":
    unittest.main(verbosity=2)
