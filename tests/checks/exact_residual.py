#!/usr/bin/env python3
"""Judges the solution of a step problem in decimal numbers of 80 digits, each law by itself.

    exact_residual.py PROBLEM.h5 SOLUTION.h5

Layouts of the files: docs/record.md. What is judged are the stored doubles v, lambda, p. Nothing here is rounded where it
could matter: doubles become decimals exactly, and 80 digits hold products and sums over ranges of 1e40. It shares
nothing with the library nor with the other checks. All numbers are velocities [m/s, rad/s]:

    dynamics         |A^-1 (A v - G' lambda - H' p - r)|, largest entry, with the whole of A: it is |v - v_exact|
    joints           |lambda - clamp(lambda - rho w)| / rho,   w = G v + T lambda - b,  rho = 1 / W_jj
    contacts         |p - P_K(p - rho u~)| / rho,  u = H v + S p + c,  u~ = u + mu s(u_T) n,  rho = dim / trace(W_ii)
    penetration      -u_N
    cone             |p - P_K(p)| / rho
    complementarity  min(u_N, p_N / rho)
    friction         |p_T - P_C(p_T - rho u_T)| / rho,  C = mu p_N times the section: direction and size of friction

W_jj and W_ii are blocks of G A^-1 G' + T and H A^-1 H' + S, with the whole of A too. A row with W = 0 has rho = 1.

    residual     max of the first three: the library's own measure, evaluated exactly
    max          max of all
    documented   the first three with the diagonal blocks A_nn in place of A, as docs/solvers.md defines them
    eliminated   joints and all of the contact with v_exact = A^-1 (r + G' lambda + H' p) in place of the stored v

In exact arithmetic penetration, complementarity and friction are at most sqrt(1 + mu^2) times `contacts`, and `cone` is
at most `contacts`. (With P = p - r, D = rho u~ - r, r the natural map: P in K, D in K*, P _|_ D. D in K* gives
rho u_N >= r_N - mu |r_T|. If P_N > 0, D lies on the border of K*, which gives rho u_N <= r_N + mu |r_T| and
P_T = P_{mu P_N}(p_T - rho u_T); sections of mu P_N and of mu p_N differ by mu |r_N|.)
"""
import decimal
import functools
import json
import math
import sys

import h5py
import numpy as np

number = decimal.Decimal
# No traps: what is not finite goes through as NaN. Exponents reach beyond products of any two doubles.
decimal.setcontext(decimal.Context(prec=80, Emax=10**6, Emin=-10**6, traps=[]))
zero, one = number(0), number(1)


def exact(array):
    return [number(x) for x in np.asarray(array, dtype=float).ravel().tolist()]


class Problem:
    """Sparse rows of a problem file: lists of (column, value)."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            get = lambda name: file[name][()]
            self.start = [int(k) for k in get("nodes/start")]
            self.A, self.diagonal = self.matrix(get)
            self.r = exact(get("r"))
            self.G, _ = self.jacobian(get, "joints")
            self.H, self.row = self.jacobian(get, "contacts")
            self.T, self.b = exact(get("joints/T")), exact(get("joints/b"))
            self.lower, self.upper = exact(get("joints/lower")), exact(get("joints/upper"))
            self.S, self.c = exact(get("contacts/S")), exact(get("contacts/c"))
            self.mu = exact(get("contacts/friction"))
            self.facets = [int(k) for k in get("contacts/facets")]
        self.finite = all(x.is_finite() for row in self.A + self.G + self.H for _, x in row) and \
            all(x.is_finite() for x in self.r + self.T + self.b + self.S + self.c + self.mu) and \
            not any(x.is_nan() for x in self.lower + self.upper)
        self.coupled = self.A != self.diagonal
        self._weights = {}

    def matrix(self, get):
        """Rows of A, and of its diagonal blocks alone."""
        values, starts = get("A/values"), self.start
        places = [(n, n, int(k)) for n, k in enumerate(get("A/diagonal"))]
        own = len(places)
        places += [tuple(int(k) for k in entry) for entry in get("A/coupling")]
        rows = [{} for _ in range(starts[-1])]
        diagonal = []
        for count, (m, n, offset) in enumerate(places):
            if count == own:
                diagonal = [dict(row) for row in rows]
            height, width = starts[m + 1] - starts[m], starts[n + 1] - starts[n]
            for j in range(width):
                for i in range(height):
                    x = float(values[offset + i + height * j])
                    if x != 0:
                        row, column = rows[starts[m] + i], starts[n] + j
                        row[column] = row.get(column, zero) + number(x)
        whole = [sorted(row.items()) for row in rows]
        return whole, [sorted(row.items()) for row in diagonal] if diagonal else whole

    def jacobian(self, get, group):
        row, first, block, values = (get(f"{group}/{name}") for name in ("row", "first", "block", "values"))
        rows = [{} for _ in range(int(row[-1]))]
        for g in range(len(row) - 1):
            for node, offset in block[int(first[g]):int(first[g + 1])].reshape(-1, 2):
                width = self.start[node + 1] - self.start[node]
                for i in range(int(row[g]), int(row[g + 1])):
                    for k in range(width):
                        x = float(values[offset + (i - int(row[g])) * width + k])
                        if x != 0:
                            column = self.start[node] + k
                            rows[i][column] = rows[i].get(column, zero) + number(x)
        return [sorted(r.items()) for r in rows], [int(k) for k in row]

    @functools.cached_property
    def inverse(self):
        return inverse(self.A)

    @functools.cached_property
    def block_inverse(self):
        return inverse(self.diagonal) if self.coupled else self.inverse

    def weights(self, whole):
        """(W_jj, trace(W_ii) / dim) by the whole of A or by its diagonal blocks."""
        if whole not in self._weights:
            by = self.inverse if whole else self.block_inverse
            joints = [quadratic(by, row) + T for row, T in zip(self.G, self.T)]
            rows = [quadratic(by, row) + S for row, S in zip(self.H, self.S)]
            spans = list(zip(self.row[:-1], self.row[1:]))
            self._weights[whole] = joints, [sum(rows[a:b], zero) / (b - a) for a, b in spans]
        return self._weights[whole]


def dot(row, x):
    return sum((a * x[k] for k, a in row), zero)


def transposed(rows, x, size):
    y = [zero] * size
    for row, factor in zip(rows, x):
        if factor != 0:
            for k, a in row:
                y[k] += a * factor
    return y


def quadratic(by, row):
    """row A^-1 row'"""
    entries = dict(row)
    return sum((a * b * entries[j] for i, a in row for j, b in by[i] if j in entries), zero)


def inverse(rows):
    """Sparse rows of the inverse, by the connected parts of the matrix."""
    n = len(rows)
    part = list(range(n))

    def root(i):
        while part[i] != i:
            part[i] = part[part[i]]
            i = part[i]
        return i
    for i, row in enumerate(rows):
        for j, _ in row:
            part[max(root(i), root(j))] = min(root(i), root(j))
    members = {}
    for i in range(n):
        members.setdefault(root(i), []).append(i)
    result = [None] * n
    for who in members.values():
        place = {k: i for i, k in enumerate(who)}
        dense = [[zero] * len(who) for _ in who]
        for k in who:
            for j, a in rows[k]:
                dense[place[k]][place[j]] = a
        for k, values in zip(who, dense_inverse(dense)):
            result[k] = list(zip(who, values))
    return result


def dense_inverse(a):
    """Gauss-Jordan with row exchanges. A singular matrix gives NaN."""
    n = len(a)
    a = [list(row) + [one if i == j else zero for j in range(n)] for i, row in enumerate(a)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[pivot] = a[pivot], a[k]
        scale = one / a[k][k]
        a[k] = row = [x * scale for x in a[k]]
        for i in range(n):
            factor = a[i][k]
            if i != k and factor != 0:
                a[i] = [x - factor * y if y else x for x, y in zip(a[i], row)]
    return [row[n:] for row in a]


@functools.lru_cache(maxsize=None)
def corners(facets):
    """Corners of the inscribed polygon, by the series of sine and cosine."""
    pi = 4 * (4 * arcus(5) - arcus(239))
    return tuple(turn(2 * pi * j / facets) for j in range(facets))


def arcus(n):
    """atan(1 / n)"""
    total, power, k = zero, one / n, 1
    while abs(power) > number(10) ** -85:
        total += power / k if k % 4 == 1 else -power / k
        power, k = power / (n * n), k + 2
    return total


def turn(angle):
    c, s, term, k = zero, zero, one, 0
    while abs(term) > number(10) ** -85:
        c, s = (c + (term if k % 4 == 0 else -term), s) if k % 2 == 0 else (c, s + (term if k % 4 == 1 else -term))
        k += 1
        term = term * angle / k
    tidy = lambda x: x.quantize(number(10) ** -78) + 0  # quarters of a turn come out exactly
    return tidy(c), tidy(s)


def length(x):
    return sum((a * a for a in x), zero).sqrt()


def is_round(dim, facets):
    """One tangent has an interval whatever the section is."""
    return dim == 2 or facets == 0


def support(u_T, facets):
    if is_round(1 + len(u_T), facets):
        return length(u_T)
    return max(-(x * u_T[0] + y * u_T[1]) for x, y in corners(facets))


def nearest_corners(t, facets):
    """The two neighbouring corners between which t points."""
    d = corners(facets)
    along = [x * t[0] + y * t[1] for x, y in d]
    j = max(range(facets), key=along.__getitem__)
    left, right = (j + 1) % facets, (j - 1) % facets
    return d[j], d[left] if along[left] >= along[right] else d[right]


def project_cone(x, mu, facets):
    """Nearest point of the friction cone, normal first."""
    if len(x) == 1:
        return [max(x[0], zero)]
    n, t = x[0], x[1:]
    if is_round(len(x), facets):
        size = length(t)
        if n >= 0 and size <= mu * n:
            return x
        if mu * size <= -n:
            return [zero] * len(x)
        height = (n + mu * size) / (1 + mu * mu)
        return [height] + [mu * height * a / size for a in t]
    if mu == 0:
        return [max(n, zero), zero, zero]
    rays = [(one, mu * d[0], mu * d[1]) for d in nearest_corners(t, facets)]
    (g, h), square = rays, 1 + mu * mu
    between = sum(a * b for a, b in zip(g, h))
    xg, xh = (sum(a * b for a, b in zip(x, ray)) for ray in rays)
    if facets == 2:
        foot = [n, t[0], zero]
        if abs(foot[1]) <= mu * n:
            return foot
    else:
        # outside of the facet through both rays? its normal is g x h, turned away from the axis
        across = [g[1] * h[2] - g[2] * h[1], g[2] * h[0] - g[0] * h[2], g[0] * h[1] - g[1] * h[0]]
        if across[0] > 0:
            across = [-a for a in across]
        if sum(a * b for a, b in zip(x, across)) <= 0 and n >= 0:
            return x
        determinant = square * square - between * between
        s, q = (square * xg - between * xh) / determinant, (square * xh - between * xg) / determinant
        if s >= 0 and q >= 0:
            return [s * a + q * b for a, b in zip(g, h)]
    best, ray = max((xg, g), (xh, h))
    return [max(best, zero) / square * a for a in ray]


def project_section(t, radius, facets):
    """Nearest point of `radius` times the section of the cone."""
    if is_round(1 + len(t), facets):
        size = length(t)
        return t if size <= radius else [radius * a / size for a in t]
    if facets == 2:
        return [max(-radius, min(radius, t[0])), zero]
    d, e = nearest_corners(t, facets)
    middle = [(d[0] + e[0]) / 2, (d[1] + e[1]) / 2]  # perpendicular to the edge
    excess = middle[0] * t[0] + middle[1] * t[1] - radius * (middle[0] ** 2 + middle[1] ** 2)
    if excess <= 0:
        return t
    edge = [e[0] - d[0], e[1] - d[1]]
    size = edge[0] ** 2 + edge[1] ** 2
    if radius <= 0:
        return [zero, zero]
    share = ((t[0] - radius * d[0]) * edge[0] + (t[1] - radius * d[1]) * edge[1]) / (radius * size)
    share = max(zero, min(one, share))
    return [radius * (a + share * b) for a, b in zip(d, edge)]


def contact_laws(u, p, mu, facets, weight):
    """Each law of one contact, in velocities; weight is trace(W_ii) / dim."""
    rho = one / weight if weight > 0 else one
    shifted = list(u)
    if len(u) > 1:
        shifted[0] += mu * support(u[1:], facets)
    x = [a - rho * b for a, b in zip(p, shifted)]
    difference = lambda a, b: length([s - t for s, t in zip(a, b)]) / rho
    laws = {"contacts": difference(p, project_cone(x, mu, facets)),
            "penetration": max(zero, -u[0]),
            "cone": difference(p, project_cone(p, mu, facets)),
            "complementarity": max(zero, min(u[0], p[0] / rho)),
            "friction": zero}
    if len(u) > 1:
        pushed = [a - rho * b for a, b in zip(p[1:], u[1:])]
        laws["friction"] = difference(p[1:], project_section(pushed, mu * max(p[0], zero), facets))
    return laws


def joint_map(w, impulse, lower, upper, weight):
    rho = one / weight if weight > 0 else one
    x = impulse - rho * w
    if lower <= x <= upper:
        return abs(w)
    return abs(impulse - min(max(x, lower), upper)) / rho


def rows_and_laws(problem, v, impulses, p, whole):
    """The largest of each law over joints and contacts, and where."""
    joint_weight, contact_weight = problem.weights(whole)
    worst, where = {"joints": zero}, {}

    def raise_to(name, x, place):
        if name not in worst or x > worst[name]:
            worst[name] = x
            where[name] = place
    for j, row in enumerate(problem.G):
        w = dot(row, v) + problem.T[j] * impulses[j] - problem.b[j]
        raise_to("joints", joint_map(w, impulses[j], problem.lower[j], problem.upper[j], joint_weight[j]), j)
    for name in ("contacts", "penetration", "cone", "complementarity", "friction"):
        worst[name] = zero
    for i, (a, b) in enumerate(zip(problem.row[:-1], problem.row[1:])):
        u = [dot(problem.H[k], v) + problem.S[k] * p[k] + problem.c[k] for k in range(a, b)]
        for name, x in contact_laws(u, p[a:b], problem.mu[i], problem.facets[i], contact_weight[i]).items():
            raise_to(name, x, i)
    return worst, where


def judge(problem, v, impulses, p):
    """All measures as floats. A number that is not finite anywhere makes all of them NaN."""
    v, impulses, p = exact(v), exact(impulses), exact(p)
    n = len(problem.r)
    if (n, len(problem.b), len(problem.c)) != (len(v), len(impulses), len(p)):
        raise ValueError("problem and solution have different sizes")
    if not problem.finite or not all(x.is_finite() for x in v + impulses + p):
        nothing = dict.fromkeys(("dynamics", "joints", "contacts", "max"), math.nan)
        return {**nothing, "residual": math.nan, "documented": nothing, "eliminated": nothing, "worst": "not finite"}
    load = [r + g + h for r, g, h in zip(problem.r, transposed(problem.G, impulses, n), transposed(problem.H, p, n))]
    largest = lambda x: max((abs(a) for a in x), default=zero)
    v_exact = [dot(row, load) for row in problem.inverse]  # NaN throughout the part of A that is singular

    laws, where = rows_and_laws(problem, v, impulses, p, whole=True)
    laws = {"dynamics": largest(a - b for a, b in zip(v, v_exact)), **laws}
    documented = {k: laws[k] for k in ("dynamics", "joints", "contacts")}
    if problem.coupled:
        balance = [dot(row, v) - f for row, f in zip(problem.A, load)]
        documented, _ = rows_and_laws(problem, v, impulses, p, whole=False)
        documented = {"dynamics": largest(dot(row, balance) for row in problem.block_inverse),
                      "joints": documented["joints"], "contacts": documented["contacts"]}
    eliminated, _ = rows_and_laws(problem, v_exact, impulses, p, whole=True)

    name = max(laws, key=laws.get)
    floats = lambda x: {key: float(value) for key, value in x.items()}
    with_max = lambda x: {**floats(x), "max": float(max(x.values()))}
    return {**with_max(laws), "residual": float(max(laws[k] for k in ("dynamics", "joints", "contacts"))),
            "documented": with_max(documented), "eliminated": with_max(eliminated),
            "worst": f"{name} {where.get(name, '')}".strip()}


def read_solution(path):
    with h5py.File(path, "r") as file:
        return tuple(file["solution/" + name][()] for name in ("v", "l", "r"))


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        result = judge(Problem(arguments[0]), *read_solution(arguments[1]))
    except (OSError, KeyError, ValueError) as error:
        print(f"exact_residual.py: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
