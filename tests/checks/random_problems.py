#!/usr/bin/env python3
"""Random step problems, from tame to impossible, each with what is known about it (step_problem.py).

    random_problems.py --seed 1 --case 17 -o problem.h5      writes one, prints what it is

Case k of a seed belongs to family k mod (number of families); the same seed and case give the same file. Multipliers and
contradicting rows are small integers times powers of two, or one row and its opposite: their sums are exact. Problems are
scaled by powers of two, which rounds nothing.
"""
import argparse
import sys

import numpy as np

from problem_parts import Random, bodies, body, cone_kind, frame_rows, join, load_at_random, solve_first, symmetric, touch
from step_problem import (Contact, Joint, Problem, add_proof, brake, complete, compliant, definite, fractions, free,
                          infinite, row_times, scale, velocity, write)


# Families. Each takes a Random and returns a Problem.

def well_scaled(random):
    problem = touch(random, bodies(random, mass=lambda: random.power(-0.5, 0.5)))
    join(random, problem, random.below(3))
    solve_first(random, problem)
    return problem


def loaded(random):
    problem = touch(random, bodies(random, mass=lambda: random.power(-1, 1)))
    if random.chance(0.3):
        join(random, problem, 1, kind=random.pick(free, velocity))
    load_at_random(random, problem)
    return problem


def redundant(random):
    """More contacts than velocities, doubled contacts and joints, no load, frictionless or very rough."""
    problem = touch(random, bodies(random, most=3), count=random.between(2, 7))
    join(random, problem, random.below(3))
    for _ in range(random.between(1, 6)):
        twin = random.pick(*problem.contacts)
        factor = random.pick(1.0, 1.0, 2.0, 0.25)
        problem.contacts.append(Contact({n: factor * block for n, block in twin.blocks.items()}, twin.mu, twin.facets))
    for joint in list(problem.joints):
        factor = random.pick(1.0, -1.0, 2.0)
        problem.joints.append(Joint({n: factor * block for n, block in joint.blocks.items()}))
    for contact in problem.contacts:
        contact.mu = random.pick(contact.mu, contact.mu, 0.0, random.power(1, 3))
    if random.chance(0.3):
        load_at_random(random, problem)
        return problem
    solve_first(random, problem, load=random.pick(None, None, 1e-300))
    if random.chance(0.2):  # nothing moves, nothing presses
        zeros = lambda items: [np.zeros(item.dim) for item in items]
        complete(problem, np.zeros(problem.start[-1]), zeros(problem.joints), zeros(problem.joints),
                 zeros(problem.contacts), zeros(problem.contacts))
    return problem


def dead_rows(random):
    """Rows that move nothing (W = 0) with what they ask for fulfilled or not, contacts that touch no body."""
    problem = touch(random, bodies(random, most=3), count=random.between(1, 4))
    solve_first(random, problem)
    impossible = random.chance(0.6)
    n = random.below(len(problem.nodes))
    dim = random.pick(1, 1, 2, 3)
    size = random.power(-8, 2)
    y, z = {}, {}
    if random.chance(0.3):
        joint = Joint({n: np.zeros((1, problem.dof(n)))}, b=np.array([size if impossible else 0.0]))
        problem.joints.append(joint)
        z = {(len(problem.joints) - 1, 0): 1}
        problem.solution = tuple(np.append(x, 0.0) if k == 1 else x for k, x in enumerate(problem.solution))
    else:
        c = np.zeros(dim)
        c[0] = -size if impossible else random.pick(0.0, size)
        blocks = {} if random.chance(0.3) else {n: np.zeros((dim, problem.dof(n)))}
        if blocks and dim > 1 and random.chance(0.5):  # friction alone has mass behind it
            blocks[n][1:] = random.normals(dim - 1, problem.dof(n))
        contact = Contact(blocks, random.pick(0.0, 0.5), problem.contacts[0].facets, c=c)
        if not impossible:  # at rest along the wall
            v = fractions(problem.solution[0])
            c[1:] = [-float(row_times(contact, i, v, problem.start)) for i in range(1, dim)]
        problem.contacts.append(contact)
        y = {len(problem.contacts) - 1: 1}
        problem.solution = tuple(np.append(x, np.zeros(dim)) if k == 2 else x for k, x in enumerate(problem.solution))
    if impossible:
        add_proof(problem, y, z if not y else {})
    return problem


def squeezed(random, size=None):
    """A normal row and its opposite, both closing: a bead between two walls; the rest of the scene is lawful."""
    problem = touch(random, bodies(random, most=4), count=random.between(1, 6))
    join(random, problem, random.below(2))
    solve_first(random, problem) if random.chance(0.6) else load_at_random(random, problem)
    size = size or random.power(-8, 2)
    n = random.below(len(problem.nodes))
    dim = min(3, random.between(1, problem.dof(n)))
    rows = frame_rows(random, problem.dof(n), dim)
    count = len(problem.contacts)
    middle = random.normals(1)[0]
    for sign in (1.0, -1.0):
        block = rows.copy()
        block[0] *= sign
        c = np.zeros(dim)
        c[0] = -size + sign * size * np.floor(4 * middle) / 4
        problem.contacts.append(Contact({n: block}, random.pick(0.0, 0.3, 1.0), problem.contacts[0].facets, c=c))
    problem.solution = None
    add_proof(problem, {count: 1, count + 1: 1}, {})
    return problem


def contradicting_joints(random):
    """The same row twice with different targets, or a third row that is a sum of two others."""
    problem = touch(random, bodies(random, most=4, dofs=(3, 6, 9)), count=random.between(1, 5))
    solve_first(random, problem) if random.chance(0.6) else load_at_random(random, problem)
    nodes = sorted({random.below(len(problem.nodes)) for _ in range(2)})
    k = random.between(1, 2)
    factors = [random.pick(1.0, -1.0, 2.0, -0.5) for _ in range(k)]
    blocks = {n: random.integers(k, problem.dof(n)) * 0.125 for n in nodes}
    for n in nodes:
        blocks[n] = np.vstack([blocks[n], sum(f * blocks[n][i] for i, f in enumerate(factors))])
    size = random.power(-8, 2)
    unit = 2.0 ** np.floor(np.log2(size))
    targets = unit * np.floor(8 * random.normals(k))
    b = np.append(targets, sum(f * t for f, t in zip(factors, targets)) + random.pick(-1.0, 1.0) * unit)
    count = len(problem.joints)
    if random.chance(0.5):
        problem.joints.append(Joint(blocks, b=b, kind=velocity))
        rows = [(count, i) for i in range(k + 1)]
    else:
        for i in range(k + 1):
            problem.joints.append(Joint({n: block[i:i + 1] for n, block in blocks.items()}, b=b[i:i + 1]))
        rows = [(count + i, 0) for i in range(k + 1)]
    # sum f_i G_i - G_k = 0, and y' c - z' b = -sum z b < 0
    z = {rows[i]: f for i, f in enumerate(factors)}
    z[rows[k]] = -1.0
    if sum(weight * b[i] for i, weight in enumerate(factors + [-1.0])) < 0:
        z = {key: -weight for key, weight in z.items()}
    add_proof(problem, {}, z)
    return problem


def contact_against_joint(random):
    """A joint drives a point into a wall."""
    problem = touch(random, bodies(random, most=4), count=random.between(1, 5))
    solve_first(random, problem) if random.chance(0.5) else load_at_random(random, problem)
    n = random.below(len(problem.nodes))
    dim = min(3, random.between(1, problem.dof(n)))
    rows = frame_rows(random, problem.dof(n), dim)
    size = random.power(-8, 2)
    factor = random.pick(1.0, 1.0, 0.5, 4.0)
    held = random.between(1, dim)  # rows of the joint; the first is the normal
    problem.joints.append(Joint({n: -factor * rows[:held]}, b=np.append(factor * size, np.zeros(held - 1)),
                                kind=random.pick(free, velocity)))
    facets = problem.contacts[0].facets
    problem.contacts.append(Contact({n: rows}, random.pick(0.0, 0.5, 2.0), facets))
    # N + (G / factor) = 0, c = 0, z' b = size
    add_proof(problem, {len(problem.contacts) - 1: 1}, {(len(problem.joints) - 1, 0): 1 / factor})
    return problem


def closing_walls(random, size=None):
    """A chain of bodies pressed between two walls that close; heavy and light ones, with friction and joints."""
    count = random.between(1, 8)
    ratio = random.pick(0, 0, 2, 4)
    dof = random.pick(1, 3, 6)
    problem = Problem()
    for _ in range(count):
        problem.nodes.append(body(random, dof, random.power(-ratio / 2, ratio / 2)))
    draw = cone_kind(random)
    dim = {1: 1, 3: random.pick(1, 2), 6: random.pick(1, 3)}[dof]
    size = size or random.power(-8, 2)
    share = random.number()
    load_at_random(random, problem, speed=random.power(-2, 1))
    for k in range(count + 1):
        blocks = {}
        for n, sign in ((k, 1.0), (k - 1, -1.0)):
            if 0 <= n < count:
                block = np.zeros((dim, dof))
                block[:, :dim] = sign * np.eye(dim)
                # the points lie on the axis, half a metre before and behind the centre: arm -sign/2 along the normal
                if dof == 6 and dim == 3:
                    block[1, 5], block[2, 4] = -0.5, 0.5
                elif dof == 3 and dim == 2:
                    block[1, 2] = -0.5
                blocks[n] = block
        c = np.zeros(dim)
        c[0] = -size * (share if k == 0 else 1 - share if k == count else 0.0)
        mu, facets = draw()
        problem.contacts.append(Contact(blocks, mu, facets, c=c))
    if count > 1 and dof > 1 and random.chance(0.3):
        join(random, problem, 1)
    add_proof(problem, {k: 1 for k in range(count + 1)}, {})
    return problem


def integer_contradiction(random):
    """The last normal row is minus a positive sum of others, and of joint rows, over several bodies."""
    problem = touch(random, bodies(random, most=4, dofs=(1, 3, 6)), count=random.between(1, 4))
    load_at_random(random, problem)
    count = random.between(2, 5)
    nodes = sorted({random.below(len(problem.nodes)) for _ in range(3)})
    weights = [random.pick(1.0, 2.0, 3.0, 0.5) for _ in range(count)]
    size = random.power(-7, 1)
    facets = problem.contacts[0].facets
    held = random.below(2)  # of the rows are joints
    total = {n: np.zeros(problem.dof(n)) for n in nodes}
    y, z = {}, {}
    for k, weight in enumerate(weights):
        dim = random.pick(1, 3)
        rows = {n: np.vstack([random.integers(1, problem.dof(n)), random.normals(dim - 1, problem.dof(n))])
                for n in nodes}
        for n in nodes:
            total[n] += weight * rows[n][0]
        if k < held:
            problem.joints.append(Joint({n: block[:1] for n, block in rows.items()}))
            z[len(problem.joints) - 1, 0] = weight
        else:
            problem.contacts.append(Contact(rows, random.pick(0.0, 0.4), facets))
            y[len(problem.contacts) - 1] = weight
    problem.contacts.append(Contact({n: -total[n][None] for n in nodes}, c=np.array([-size])))
    y[len(problem.contacts) - 1] = 1.0
    add_proof(problem, y, z)
    return problem


def some_problem(random):
    return random.pick(well_scaled, loaded, redundant, squeezed, closing_walls, stiff, motors)(random)


def mass_scaled(random):
    return scale(some_problem(random), mass=2.0 ** random.pick(-40, -30, -20, 20, 30, 40))


def speed_scaled(random):
    return scale(some_problem(random), speed=2.0 ** random.pick(-40, -30, -20, 15, 20, 25, 30, 40))


def length_scaled(random):
    return scale(some_problem(random), metre=2.0 ** random.pick(-40, -30, -20, 15, 20, 30, 40))


def heavy_on_light(random):
    """Masses up to 1e13 : 1."""
    spread = random.number(3, 6.5)
    problem = touch(random, bodies(random, mass=lambda: random.power(-spread, spread)))
    join(random, problem, random.below(2))
    if random.chance(0.3):
        load_at_random(random, problem)
    else:
        solve_first(random, problem, load=random.pick(1.0, 10.0 ** spread, 10.0 ** -spread))
    return problem


def stack(random):
    """A column of bodies that come down, some sliding, mostly the heavier above. Loads pass through the light ones, where
    W p reaches 1e12 m/s beside a u of millimetres per second."""
    dim, dof = random.pick((1, 1), (2, 3), (3, 6))
    count, spread = random.between(2, 6), random.number(1, 6.5)
    masses = [random.power(-spread, spread) for _ in range(count)]
    if random.chance(0.7):
        masses.sort()
    problem = Problem(nodes=[mass * np.eye(dof) for mass in masses])
    draw = cone_kind(random)
    for k in range(count):
        blocks = {k: np.eye(dim, dof)}
        if k > 0:
            blocks[k - 1] = -np.eye(dim, dof)
        mu, facets = draw()
        problem.contacts.append(Contact(blocks, mu, facets))
    fall = np.zeros(dof)
    fall[0] = -random.power(-3, 1)
    slide = random.pick(0.0, 1.0) * random.normals(dof)
    slide[0] = 0.0
    problem.r = np.concatenate([block[0, 0] * (fall * random.pick(1.0, random.power(-3, 0)) + slide)
                                for block in problem.nodes])
    return problem


def fast(random):
    """Few bodies at speeds whose own rounding is near the tolerance."""
    problem = touch(random, bodies(random, most=2, dofs=(1, 3, 6)), count=random.between(1, 3))
    solve_first(random, problem) if random.chance(0.5) else load_at_random(random, problem)
    return scale(problem, speed=2.0 ** random.between(16, 32))


def ill_conditioned(random):
    """Diagonal blocks with conditions up to 1e14."""
    problem = bodies(random, most=5, dofs=(3, 6, 6, 9, 12))
    for n in range(len(problem.nodes)):
        problem.nodes[n] = random.power(-3, 3) * symmetric(random, problem.dof(n), random.power(6, 14))
    touch(random, problem)
    join(random, problem, random.below(2))
    solve_first(random, problem) if random.chance(0.7) else load_at_random(random, problem)
    return problem


def gyroscopic(random):
    """An unsymmetric A whose symmetric part is definite."""
    problem = bodies(random, most=5, dofs=(3, 6, 6, 8))
    strength = random.power(-2, 3)
    for n, block in enumerate(problem.nodes):
        K = random.normals(*block.shape)
        problem.nodes[n] = block + strength * (K - K.T)
    touch(random, problem)
    join(random, problem, random.below(2))
    solve_first(random, problem) if random.chance(0.7) else load_at_random(random, problem)
    return problem


def add_spring(problem, a, b, rows_a, rows_b, k):
    """A += k J'J over two nodes, J = [rows_a, -rows_b]: the symmetric part stays definite."""
    gram = lambda X, Y: (X[:, :, None] * Y[:, None, :]).sum(axis=0)
    problem.nodes[a] = problem.nodes[a] + k * gram(rows_a, rows_a)
    problem.nodes[b] = problem.nodes[b] + k * gram(rows_b, rows_b)
    for (m, X), (n, Y) in (((a, rows_a), (b, rows_b)), ((b, rows_b), (a, rows_a))):
        block = problem.couplings.get((m, n), np.zeros((problem.dof(m), problem.dof(n))))
        problem.couplings[m, n] = block - k * gram(X, Y)


def coupled(random, strength=None):
    """Nodes coupled inside A, as implicit springs couple them; some turn A unsymmetric."""
    problem = bodies(random, most=5, dofs=(1, 3, 3, 6))
    for _ in range(2):
        if len(problem.nodes) < 2:
            problem.nodes.append(body(random, random.pick(1, 3), 1.0))
    strength = strength or random.power(-1, 1)
    for n in range(1, len(problem.nodes)):
        a, b = random.below(n), n
        dim = min(problem.dof(a), problem.dof(b), 3)
        if random.chance(0.6):  # along common axes, with exact entries: rigid motions cost nothing
            rows = [np.eye(dim, problem.dof(m)) for m in (a, b)]
        else:
            rows = [frame_rows(random, problem.dof(m), dim) for m in (a, b)]
        add_spring(problem, a, b, *rows, strength * random.number(0.5, 2))
    if random.chance(0.3):
        a, b = next(iter(problem.couplings))
        K = random.normals(problem.dof(a), problem.dof(b))
        problem.couplings[a, b] = problem.couplings[a, b] + K
        problem.couplings[b, a] = problem.couplings[b, a] - K.T
    touch(random, problem)
    join(random, problem, random.below(2))
    solve_first(random, problem) if random.chance(0.7) else load_at_random(random, problem)
    return problem


def stiffly_coupled(random):
    """Springs so stiff that A_nn says nothing about A: conditions to 1e13."""
    return coupled(random, strength=random.power(3, 12.5))


def stiff(random):
    """Compliances from nothing to far more than the masses yield; lambda and p still inside their bounds."""
    problem = touch(random, bodies(random, most=5))
    join(random, problem, random.between(1, 3), kind=compliant)
    for item in problem.joints + problem.contacts:
        x = random.power(*random.pick((-14, -6), (-3, 1), (3, 12))) * np.ones(item.dim)
        if isinstance(item, Joint):
            item.T = x
        elif random.chance(0.7):
            item.S = x if random.chance(0.6) else x * np.append(1.0, np.zeros(item.dim - 1))
    if random.chance(0.3):
        load_at_random(random, problem)
    else:
        solve_first(random, problem, load=random.pick(None, 1e-3, 1e-9))
    return problem


def motors(random):
    """Bounded rows: motors, brakes, one-sided rows, bounds that nearly or exactly meet; some yield."""
    problem = touch(random, bodies(random, most=5))
    join(random, problem, random.between(1, 4), kind=random.pick(velocity, brake))
    for joint in problem.joints:
        for i in range(joint.dim):
            width = random.power(*random.pick((-1, 1), (-14, -8), (3, 12)))
            kind = random.pick("both", "both", "lower", "upper", "none", "equal")
            middle = random.pick(0.0, random.normals(1)[0])
            if kind != "none":
                joint.lower[i] = middle - width if kind in ("both", "lower") else -infinite
                joint.upper[i] = middle + width if kind in ("both", "upper") else infinite
            if kind == "equal":
                joint.lower[i] = joint.upper[i] = middle
        if random.chance(0.3):
            joint.T = random.power(-9, 3) * np.ones(joint.dim)
    solve_first(random, problem) if random.chance(0.7) else load_at_random(random, problem)
    return problem


def rough(random):
    """Friction from large to absurd."""
    problem = touch(random, bodies(random, most=5))
    largest = random.number(0.5, 6)
    for contact in problem.contacts:
        contact.mu = random.power(0, largest)
    solve_first(random, problem) if random.chance(0.5) else load_at_random(random, problem)
    return problem


def stress(problem, size):
    """(lambda, p): the multipliers of the proof as impulses, which hold each other."""
    y, z = problem.proof
    p = [np.append(size * y.get(i, 0.0), np.zeros(k.dim - 1)) for i, k in enumerate(problem.contacts)]
    lam = [np.array([size * z.get((j, i), 0.0) for i in range(k.dim)]) for j, k in enumerate(problem.joints)]
    return tuple(np.concatenate([np.zeros(0)] + x) for x in (lam, p))


def warm(random):
    """A guess comes with the problem: its solution, near it, noise, or noise with a huge stress in itself."""
    problem = random.pick(well_scaled, loaded, redundant, squeezed, closing_walls, coupled, integer_contradiction,
                          contact_against_joint)(random)
    start, rows = problem.start, sum(k.dim for k in problem.contacts)
    m = sum(k.dim for k in problem.joints)
    v, lam, p = problem.solution or (random.normals(start[-1]), random.normals(m), np.abs(random.normals(rows)))
    kind = random.pick("exact", "near", "noise", "stress", "stress")
    if kind == "near":
        v, lam, p = (x * (1 + 1e-6 * random.normals(x.size)) for x in (v, lam, p))
    if kind == "noise":
        v, lam, p = (x + random.power(-3, 3) * random.normals(x.size) for x in (v, lam, p))
    if kind == "stress":  # impulses that hold each other, so that what they press on does not move
        v, lam, p = np.zeros(start[-1]), np.zeros(m), np.zeros(rows)
        size = 2.0 ** random.between(10, 70)
        if problem.proof:
            lam, p = stress(problem, size)
            inverse_mass = [1 / block[0, 0] for block in problem.nodes]
            v = np.concatenate([problem.r[start[n]:start[n + 1]] * x for n, x in enumerate(inverse_mass)])
        else:
            p += size
    modes = np.array([random.pick(0, 1, 1, 2) if kind != "stress" else 1 for _ in problem.contacts])
    problem.guess = v, lam, p, modes
    return problem


def self_stress(random):
    """Contradicting rows alone, with a guess whose impulses hold each other: so large that u is lost beside them."""
    problem = random.pick(squeezed, closing_walls, integer_contradiction, contact_against_joint)(random)
    y, z = problem.proof
    keep_contacts, keep_joints = sorted(y), sorted({j for j, _ in z})
    problem.contacts = [problem.contacts[i] for i in keep_contacts]
    problem.joints = [problem.joints[j] for j in keep_joints]
    problem.nodes = [np.diag(np.diag(block)) for block in problem.nodes]
    add_proof(problem, {keep_contacts.index(i): weight for i, weight in y.items()},
              {(keep_joints.index(j), k): weight for (j, k), weight in z.items()})
    v = problem.r / np.concatenate([np.diag(block) for block in problem.nodes])
    lam, p = stress(problem, 2.0 ** random.between(20, 70))
    problem.guess = v, lam, p, np.ones(len(problem.contacts))
    return problem


def beyond_range(random):
    """Numbers near the ends of what doubles hold; some overflow inside."""
    problem = touch(random, bodies(random, most=2, dofs=(1, 3, 6)), count=random.between(1, 2))
    if random.chance(0.5):
        problem.contacts.clear()
    load_at_random(random, problem)
    huge = random.pick(1e150, 1e200, 1e300)
    with np.errstate(all="ignore"):
        for n in range(len(problem.nodes)):
            problem.nodes[n] = problem.nodes[n] * random.pick(1.0, 1 / huge, huge)
        problem.r = problem.r * random.pick(1.0, huge, huge, 1 / huge, infinite)
    return problem


families = {f.__name__.replace("_", "-"): f for f in (
    well_scaled, loaded, redundant, dead_rows, squeezed, contradicting_joints, contact_against_joint, closing_walls,
    integer_contradiction, mass_scaled, speed_scaled, length_scaled, heavy_on_light, stack, fast, ill_conditioned,
    gyroscopic, coupled, stiffly_coupled, stiff, motors, rough, warm, self_stress, beyond_range)}


def make(seed, case):
    """Drawn again in the rare case that rounding took the definiteness of A."""
    name = list(families)[case % len(families)]
    for draw in range(100):
        problem = families[name](Random(seed, case, draw))
        problem.family = name
        if name == "beyond-range" or definite(problem):
            return problem
    raise AssertionError(f"case {case} of seed {seed}: no definite A in 100 draws")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, required=True)
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    problem = make(arguments.seed, arguments.case)
    write(problem, arguments.output)
    told = f", no point violates less than {problem.bound:.3g} m/s" if problem.verdict == "infeasible" else ""
    print(f"{problem.family}: {len(problem.nodes)} nodes, {problem.start[-1]} velocities, {len(problem.contacts)} "
          f"contacts, {sum(k.dim for k in problem.joints)} bilateral rows; {problem.verdict}{told}")


if __name__ == "__main__":
    sys.exit(main())
