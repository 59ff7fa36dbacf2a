"""What random step problems are made of: draws, masses, rows of contacts and joints, and lawful solutions."""
import numpy as np

from step_problem import Contact, Joint, Problem, complete, velocity


class Random:
    """The draws that the families are made of."""

    def __init__(self, *seed):
        self.bits = np.random.Generator(np.random.PCG64(seed))

    def number(self, low=0.0, high=1.0):
        return low + (high - low) * self.bits.random()

    def below(self, n):
        return min(n - 1, int(n * self.bits.random()))

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, share):
        return self.bits.random() < share

    def pick(self, *choices):
        return choices[self.below(len(choices))]

    def power(self, low, high):
        """10^x, x between low and high."""
        return 10.0 ** self.number(low, high)

    def normals(self, *shape):
        return self.bits.standard_normal(shape)

    def integers(self, *shape):
        """Small, mostly not zero."""
        return np.floor(self.bits.random(shape) * 7) - 3


def section_corner(facets, j):
    return np.array([np.cos(2 * np.pi * j / facets), np.sin(2 * np.pi * j / facets)])


def lawful_contact(random, contact, speed, load):
    """(u, p) of one contact that obey its law."""
    dim, mu = contact.dim, contact.mu
    u, p = np.zeros(dim), np.zeros(dim)
    mode = random.pick("open", "stick", "stick", "slip", "slip", "grazing", "border")
    if mode in ("open", "grazing"):
        u[0] = 0.0 if mode == "grazing" else speed * random.number(0.1, 2)
        u[1:] = speed * random.normals(dim - 1)
        return u, p
    p[0] = load * random.number(0.1, 2)
    if dim == 1:
        return u, p
    if mu == 0:
        u[1:] = speed * random.normals(dim - 1)
        return u, p
    if dim == 2:
        direction = np.array([random.pick(-1.0, 1.0)])
    elif contact.facets == 0:
        angle = random.number(0, 2 * np.pi)
        direction = np.array([np.cos(angle), np.sin(angle)])
    else:
        direction = section_corner(contact.facets, random.below(contact.facets))
    share = {"stick": random.number(0, 0.6), "border": 1.0, "slip": 1.0}[mode]
    p[1:] = share * mu * p[0] * direction
    if mode == "slip":
        u[1:] = -speed * random.number(0.1, 2) * direction
    return u, p


def solve_first(random, problem, speed=1.0, load=None):
    """Chooses a solution and fits r, b, c to it."""
    v = speed * random.normals(problem.start[-1])
    mass = np.median([block[0, 0] for block in problem.nodes])
    load = load or speed * mass
    lam, w = [], []
    for joint in problem.joints:
        impulse, slack = load * random.normals(joint.dim), np.zeros(joint.dim)
        for i in range(joint.dim):
            lower, upper = joint.lower[i], joint.upper[i]
            if not lower < impulse[i] < upper or (np.isfinite(upper - lower) and random.chance(0.3)):
                at_lower = np.isfinite(lower) and (not np.isfinite(upper) or random.chance(0.5))
                impulse[i] = lower if at_lower else upper
                slack[i] = (1 if at_lower else -1) * speed * random.number(0, 1) * random.below(2)
        lam.append(impulse)
        w.append(slack)
    pairs = [lawful_contact(random, contact, speed, load) for contact in problem.contacts]
    complete(problem, v, lam, w, [p for _, p in pairs], [u for u, _ in pairs])


def load_at_random(random, problem, speed=1.0):
    """r, b, c from nowhere: most such problems have solutions, none is known."""
    v0 = speed * random.normals(problem.start[-1])
    none = lambda items: [np.zeros(item.dim) for item in items]
    complete(problem, v0, none(problem.joints), none(problem.joints), none(problem.contacts), none(problem.contacts))
    for contact in problem.contacts:
        contact.c = np.zeros(contact.dim)
        if random.chance(0.2):
            contact.c[0] = 0.1 * speed * random.normals(1)[0]
    for joint in problem.joints:
        joint.b = 0.1 * speed * random.normals(joint.dim) if joint.kind == velocity else np.zeros(joint.dim)
    problem.solution, problem.verdict = None, "unknown"


def orthogonal(random, n):
    """Product of reflections."""
    Q = np.eye(n)
    for _ in range(3):
        x = random.normals(n)
        Q = Q - np.outer(x, (Q * x[:, None]).sum(axis=0)) * (2 / (x * x).sum())
    return Q


def symmetric(random, n, condition=10.0):
    """Definite, with eigenvalues from 1 to `condition`, spread evenly in logarithm."""
    if n == 1:
        return np.array([[random.number(0.5, 2)]])
    Q = orthogonal(random, n)
    d = condition ** np.linspace(0, 1, n)
    M = sum(d[k] * np.outer(Q[k], Q[k]) for k in range(n))
    return np.tril(M) + np.tril(M, -1).T


def body(random, dof, mass):
    """Diagonal, as bodies in their principal axes have it, or full."""
    if random.chance(0.6):
        turning = {3: 1, 6: 3}.get(dof, 0)
        d = np.full(dof, mass)
        d[dof - turning:] *= 0.4 * random.number(0.3, 1)
        return np.diag(d)
    return mass * symmetric(random, dof)


def frame_rows(random, dof, dim):
    """Rows of a contact point of a spatial (6) or plane (3) body, or any rows."""
    if dof == 6 and dim == 3:
        Q, arm = orthogonal(random, 3), random.normals(3)
        return np.column_stack([Q, np.cross(arm, Q)])
    if dof == 3 and dim == 2:
        angle, arm = random.number(0, 2 * np.pi), random.normals(2)
        Q = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        return np.column_stack([Q, arm[0] * Q[:, 1] - arm[1] * Q[:, 0]])
    rows = random.normals(dim, dof)
    return rows / np.sqrt((rows * rows).sum(axis=1))[:, None]


def cone_kind(random):
    """Draws of (mu, facets) for all contacts of a problem: discs, polygons or both."""
    kind = random.pick("disc", "disc", "polygon", "polygon", "polygon", "both")

    def draw(largest=1.5):
        facets = 0 if kind == "disc" or (kind == "both" and random.chance(0.5)) else random.pick(4, 4, 8, 8, 12, 12, 2)
        return (0.0 if random.chance(0.1) else random.number(0.05, largest)), facets
    return draw


def bodies(random, most=8, mass=lambda: 1.0, dofs=(1, 3, 6, 6, 3, 9)):
    problem = Problem()
    same = random.pick(*dofs) if random.chance(0.6) else 0
    for _ in range(random.between(1, most)):
        dof = same or random.pick(*dofs)
        problem.nodes.append(body(random, dof, mass()))
    return problem


def touch(random, problem, cones=None, count=None, most=14):
    """Contacts of random bodies with the ground or with each other."""
    cones = cones or cone_kind(random)
    for _ in range(count or random.between(1, most)):
        a = random.below(len(problem.nodes))
        dim = min(random.pick(1, 2, 3, 3, 3) if problem.dof(a) != 3 else random.pick(1, 2, 2, 2), 3)
        blocks = {a: frame_rows(random, problem.dof(a), dim)}
        b = random.below(len(problem.nodes))
        if b != a and random.chance(0.6):
            blocks[b] = -frame_rows(random, problem.dof(b), dim)
        mu, facets = cones()
        problem.contacts.append(Contact(blocks, mu, facets))
    return problem


def join(random, problem, count, **more):
    for _ in range(count):
        a = random.below(len(problem.nodes))
        dim = random.between(1, min(3, problem.dof(a)))
        blocks = {a: frame_rows(random, problem.dof(a), dim)}
        b = random.below(len(problem.nodes))
        if b != a and random.chance(0.7):
            blocks[b] = -frame_rows(random, problem.dof(b), dim)
        problem.joints.append(Joint(blocks, **more))
    return problem
