"""A step problem to be written as a file, with what is known about it.

    A v - G' lambda - H' p = r        w = G v + T lambda - b        u = H v + S p + c

`complete` fits r, b, c to a chosen solution; `add_proof` proves that there is none; `scale` changes units; `write` makes
the file (layout: docs/record.md). What is known (`verdict`):

    feasible     v, lambda, p were chosen first, lawful, and r, b, c follow from them, rounded once
    infeasible   `proof` holds y >= 0 for normal rows N with S = 0 and z for joint rows G without bounds and T = 0, with
                     y' N + z' G = 0  exactly,     y' c_N - z' b = -delta < 0,
                 so that no v has max(-u_N, |w|) below `bound` = delta / (sum y + sum |z|). Checked in fractions.
    unknown      neither
"""
import dataclasses
from fractions import Fraction

import h5py
import numpy as np

infinite = float("inf")
free, velocity, compliant, brake = 0, 1, 2, 3  # joints/kind


@dataclasses.dataclass
class Contact:
    blocks: dict  # node -> dim x dof
    mu: float = 0.0
    facets: int = 0
    c: np.ndarray = None
    S: np.ndarray = None

    @property
    def dim(self):
        return self.c.size

    def __post_init__(self):
        dim = len(next(iter(self.blocks.values()))) if self.blocks else 1 if self.c is None else self.c.size
        self.c = np.zeros(dim) if self.c is None else self.c
        self.S = np.zeros(dim) if self.S is None else self.S


@dataclasses.dataclass
class Joint:
    blocks: dict  # node -> dim x dof
    b: np.ndarray = None
    T: np.ndarray = None
    lower: np.ndarray = None
    upper: np.ndarray = None
    kind: int = free

    @property
    def dim(self):
        return self.b.size

    def __post_init__(self):
        dim = len(next(iter(self.blocks.values()))) if self.blocks else 1 if self.b is None else self.b.size
        self.b = np.zeros(dim) if self.b is None else self.b
        self.T = np.zeros(dim) if self.T is None else self.T
        self.lower = np.full(dim, -infinite) if self.lower is None else self.lower
        self.upper = np.full(dim, infinite) if self.upper is None else self.upper


@dataclasses.dataclass
class Problem:
    family: str = ""
    nodes: list = dataclasses.field(default_factory=list)      # diagonal blocks of A
    couplings: dict = dataclasses.field(default_factory=dict)  # (row node, column node) -> block
    r: np.ndarray = None
    joints: list = dataclasses.field(default_factory=list)
    contacts: list = dataclasses.field(default_factory=list)
    guess: tuple = None     # v, lambda, p, modes
    solution: tuple = None  # v, lambda, p
    proof: tuple = None     # ({contact: y}, {(joint, row): z})
    verdict: str = "unknown"
    bound: float = 0.0      # [m/s] no point violates less; 0 unless infeasible

    def dof(self, node):
        return len(self.nodes[node])

    @property
    def start(self):
        return np.concatenate([[0], np.cumsum([len(block) for block in self.nodes])]).astype(int)

    def needs_disc(self):
        return any(k.dim == 3 and k.mu > 0 and k.facets == 0 for k in self.contacts)

    def needs_polygon(self):
        return any(k.dim == 3 and k.mu > 0 and k.facets > 0 for k in self.contacts)


def fractions(array):
    return [Fraction(x) for x in np.asarray(array, dtype=float).ravel().tolist()]


def rounded(x):
    """The nearest double; Fractions beyond the range become infinite."""
    try:
        return float(x)
    except OverflowError:
        return infinite if x > 0 else -infinite


def row_times(item, row, v, start):
    """Row `row` of a contact or joint times v, as a fraction."""
    total = Fraction(0)
    for node, block in item.blocks.items():
        for k, a in enumerate(block[row].tolist()):
            if a != 0:
                total += Fraction(a) * v[start[node] + k]
    return total


def complete(problem, v, lam, w, p, u):
    """r, b, c such that v, lambda, p with these u and w solve the problem, each rounded once.

    lam, w: per joint; p, u: per contact."""
    start = problem.start
    v = fractions(v)
    r = [Fraction(0)] * len(v)
    blocks = [((n, n), block) for n, block in enumerate(problem.nodes)] + list(problem.couplings.items())
    for (m, n), block in blocks:
        for i in range(len(block)):
            for j, a in enumerate(block[i].tolist()):
                if a != 0:
                    r[start[m] + i] += Fraction(a) * v[start[n] + j]
    for item, impulse in list(zip(problem.joints, lam)) + list(zip(problem.contacts, p)):
        for node, block in item.blocks.items():
            for row, x in enumerate(fractions(impulse)):
                if x != 0:
                    for k, a in enumerate(block[row].tolist()):
                        r[start[node] + k] -= Fraction(a) * x
    problem.r = np.array([rounded(x) for x in r])
    for joint, impulse, slack in zip(problem.joints, lam, w):
        joint.b = np.array([rounded(row_times(joint, i, v, start) + Fraction(joint.T[i]) * x - y)
                            for i, (x, y) in enumerate(zip(fractions(impulse), fractions(slack)))])
    for contact, impulse, speed in zip(problem.contacts, p, u):
        contact.c = np.array([rounded(y - row_times(contact, i, v, start) - Fraction(contact.S[i]) * x)
                              for i, (x, y) in enumerate(zip(fractions(impulse), fractions(speed)))])
    flat = lambda lists: np.concatenate([np.zeros(0)] + [np.asarray(x, dtype=float) for x in lists])
    problem.solution = (np.array([float(x) for x in v]), flat(lam), flat(p))
    problem.verdict = "feasible"


def add_proof(problem, y, z):
    """Checks the multipliers in fractions and takes the problem for infeasible if they prove it."""
    start = problem.start
    total, delta, size = {}, Fraction(0), Fraction(0)
    entries = [(problem.contacts[i], 0, Fraction(weight)) for i, weight in y.items()] + \
        [(problem.joints[j], row, Fraction(weight)) for (j, row), weight in z.items()]
    for item, row, weight in entries:
        contact = isinstance(item, Contact)
        assert weight > 0 or not contact
        assert (item.S if contact else item.T)[row] == 0
        assert contact or (item.lower[row] == -infinite and item.upper[row] == infinite)
        delta -= weight * Fraction(item.c[row]) if contact else -weight * Fraction(item.b[row])
        size += abs(weight)
        for node, block in item.blocks.items():
            for k, a in enumerate(block[row].tolist()):
                total[start[node] + k] = total.get(start[node] + k, Fraction(0)) + weight * Fraction(a)
    assert not any(total.values()), "the rows do not add up to zero"
    assert delta > 0, "the rows do not contradict each other"
    problem.proof, problem.verdict, problem.bound = (y, z), "infeasible", float(delta / size)
    problem.solution = None


def definite(problem):
    """Whether the symmetric part of A is positive definite: Cholesky in extended precision."""
    start = problem.start
    A = np.zeros((start[-1], start[-1]), dtype=np.longdouble)
    for n, block in enumerate(problem.nodes):
        A[start[n]:start[n + 1], start[n]:start[n + 1]] = block
    for (m, n), block in problem.couplings.items():
        A[start[m]:start[m + 1], start[n]:start[n + 1]] = block
    A = (A + A.T) / 2
    size = np.sqrt(np.abs(np.diag(A)))
    A = A / np.outer(size, size)
    for k in range(len(A)):
        if not A[k, k] > 1e-17:
            return False
        A[k + 1:, k + 1:] -= np.outer(A[k + 1:, k], A[k, k + 1:]) / A[k, k]
    return True


def scale(problem, mass=1.0, speed=1.0, metre=1.0):
    """The same problem in other units, all powers of two: nothing is rounded.

    A unit of length changes arms of spatial and plane bodies and their velocities, not their rates of turn."""
    def of(node):
        dof, turning = problem.dof(node), {3: 1, 6: 3}.get(problem.dof(node), 0)
        return np.array([metre] * (dof - turning) + [1.0] * turning)  # v_new = units * v
    units = [of(n) for n in range(len(problem.nodes))]
    nv_units = np.concatenate(units)
    # u_new = metre u  =>  H_new = metre H / units;  impulses p_new = mass p metre;  A_new = mass metre^2 A / units^2
    for n, block in enumerate(problem.nodes):
        problem.nodes[n] = mass * metre**2 * block / np.outer(units[n], units[n])
    for (m, n), block in problem.couplings.items():
        problem.couplings[m, n] = mass * metre**2 * block / np.outer(units[m], units[n])
    problem.r = mass * speed * metre**2 * problem.r / nv_units
    for item in problem.contacts + problem.joints:
        item.blocks = {n: metre * block / units[n] for n, block in item.blocks.items()}
    for contact in problem.contacts:
        contact.c, contact.S = speed * metre * contact.c, contact.S / mass
    for joint in problem.joints:
        joint.b, joint.T = speed * metre * joint.b, joint.T / mass
        joint.lower, joint.upper = (mass * speed * metre * x for x in (joint.lower, joint.upper))
    if problem.solution:
        v, lam, p = problem.solution
        problem.solution = speed * nv_units * v, mass * speed * metre * lam, mass * speed * metre * p
    if problem.proof:
        add_proof(problem, *problem.proof)
    return problem


def jacobian(items, name, dofs):
    row, first, block, values = [0], [0], [], []
    offset = 0
    for item in items:
        for node, part in sorted(item.blocks.items()):
            assert part.shape == (item.dim, dofs[node])
            block.append((node, offset))
            values.append(part.ravel())
            offset += part.size
        row.append(row[-1] + item.dim)
        first.append(len(block))
    return {name + "/row": (row, "<i4"), name + "/first": (first, "<i4"),
            name + "/block": (np.array(block).reshape(-1, 2), "<i4"),
            name + "/values": (np.concatenate([np.zeros(0)] + values), "<f8")}


def write(problem, path):
    dofs = [len(block) for block in problem.nodes]
    joined = lambda parts: np.concatenate([np.zeros(0)] + list(parts))
    blocks = problem.nodes + list(problem.couplings.values())
    offsets = np.concatenate([[0], np.cumsum([block.size for block in blocks])])[:len(blocks)]
    coupling = [(m, n, offsets[len(dofs) + k]) for k, (m, n) in enumerate(problem.couplings)]
    joints, contacts = problem.joints, problem.contacts
    m, nc = sum(k.dim for k in joints), len(contacts)
    rows = sum(k.dim for k in contacts)
    f8, i4 = "<f8", "<i4"
    upward = np.tile([0.0, 0.0, 1.0], (nc, 1))
    arrays = {
        "nodes/start": (problem.start, i4), "A/diagonal": (offsets[:len(dofs)], i4),
        "A/coupling": (np.array(coupling).reshape(-1, 3), i4),
        "A/values": (joined(block.ravel(order="F") for block in blocks), f8), "r": (problem.r, f8),
        **jacobian(joints, "joints", dofs),
        "joints/id": (np.arange(len(joints)), "<u4"), "joints/kind": (joined([[k.kind] * k.dim for k in joints]), "u1"),
        **{"joints/" + name: (np.zeros(m), f8) for name in ("value", "target", "stiffness", "damping", "curvature")},
        "joints/force_lower": (joined(k.lower for k in joints), f8),
        "joints/force_upper": (joined(k.upper for k in joints), f8), "joints/impulsive": (np.ones(m), "u1"),
        **{"joints/" + name: (joined(getattr(k, name) for k in joints), f8) for name in ("T", "b", "lower", "upper")},
        **jacobian(contacts, "contacts", dofs),
        "contacts/id": ([(0, i, 0, 0, 0, 0, 0) for i in range(nc)] or np.zeros((0, 7)), "<u4"),
        "contacts/gap": (np.zeros(nc), f8), "contacts/friction": ([k.mu for k in contacts], f8),
        "contacts/restitution": (np.zeros(nc), f8), "contacts/facets": ([k.facets for k in contacts], i4),
        "contacts/position": (np.zeros((nc, 3)), f8), "contacts/normal": (upward, f8),
        "contacts/tangent": (np.roll(upward, 1, axis=1), f8), "contacts/curvature": (np.zeros(rows), f8),
        "contacts/S": (joined(k.S for k in contacts), f8), "contacts/c": (joined(k.c for k in contacts), f8),
    }
    if problem.guess:
        for name, array in zip(("v", "lambda", "p"), problem.guess):
            arrays["guess/" + name] = (array, f8)
        arrays["guess/modes"] = (problem.guess[3], "u1")
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "stickslip-problem"
        file.attrs["format_version"] = np.uint64(2)
        for name, (array, kind) in arrays.items():
            file[name] = np.asarray(array, dtype=kind)
