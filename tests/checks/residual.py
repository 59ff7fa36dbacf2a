#!/usr/bin/env python3
"""Recomputes how far a stored solution is from solving its stored step problem, from the files alone.

    residual.py PROBLEM.h5 SOLUTION.h5

prints one JSON object: dynamics, joints, contacts, max (velocity units), and which node, row and contact is worst.
Shares nothing with the library but the two file layouts (docs/record.md) and these definitions:

    dynamics   max |A_nn^-1 (A v - G' lambda - H' p - r)|
    joints     |lambda - clip(lambda - rho w, lower, upper)| / rho,  w = G v + T lambda - b,  rho = 1 / W_jj
    contacts   |p - P_K(p - rho u~)| / rho,  u = H v + S p + c,  u~ = u + mu s(u_T) n,  rho = dim / trace(W_ii)

W_jj = G_j A_nn^-1 G_j' + T_j and W_ii = H_i A_nn^-1 H_i' + S_i with the diagonal blocks of A alone; rho = 1 where W
vanishes. s is the support function of the unit section: |u_T| for the disc, max_j -d_j.u_T for the polygon with
corners d_j = (cos(2 pi j / facets), sin(2 pi j / facets)).

Everything is dense and in extended precision, so that its own rounding stays below the library's.
"""
import json
import sys

import h5py
import numpy as np

real = np.longdouble
two_pi = 8 * np.arctan(real(1))


def solve(matrix, right):
    """matrix^-1 right by Gaussian elimination with row exchanges; numpy's own has no extended precision."""
    a = np.array(matrix, dtype=real)
    x = np.array(right, dtype=real).reshape(len(a), -1)
    n = len(a)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(a[k:, k])))
        a[[k, pivot]], x[[k, pivot]] = a[[pivot, k]], x[[pivot, k]]
        factor = a[k + 1:, k] / a[k, k]
        a[k + 1:, k:] -= np.outer(factor, a[k, k:])
        x[k + 1:] -= np.outer(factor, x[k])
    for k in reversed(range(n)):
        x[k] = (x[k] - a[k, k + 1:] @ x[k + 1:]) / a[k, k]
    return x.reshape(np.shape(right))


class Problem:
    def __init__(self, path):
        with h5py.File(path, "r") as f:
            text = f.attrs.get("format", b"")
            text = text.decode() if isinstance(text, bytes) else str(text)
            if text.rstrip("\0") != "stickslip-problem" or int(f.attrs["format_version"]) not in (1, 2):
                raise ValueError(f"{path}: not a stickslip problem of format 1")
            get = lambda name: f[name][()]
            self.start = get("nodes/start")
            self.A, self.blocks = self.matrix(get)
            self.r = get("r").astype(real)
            self.G, _ = self.jacobian(get, "joints")
            self.H, self.row = self.jacobian(get, "contacts")
            self.T, self.b, self.lower, self.upper = (get("joints/" + k).astype(real) for k in ("T", "b", "lower", "upper"))
            self.S, self.c = (get("contacts/" + k).astype(real) for k in ("S", "c"))
            self.mu = get("contacts/friction").astype(real)
            self.facets = get("contacts/facets")

    def matrix(self, get):
        n, values = int(self.start[-1]), get("A/values").astype(real)
        dof = np.diff(self.start)
        A = np.zeros((n, n), dtype=real)
        blocks = []
        for node, offset in enumerate(get("A/diagonal")):
            d = dof[node]
            s = slice(self.start[node], self.start[node + 1])
            A[s, s] = values[offset:offset + d * d].reshape(d, d, order="F")
            blocks.append(A[s, s].copy())
        for i, j, offset in get("A/coupling"):
            A[self.start[i]:self.start[i + 1], self.start[j]:self.start[j + 1]] = \
                values[offset:offset + dof[i] * dof[j]].reshape(dof[i], dof[j], order="F")
        return A, blocks

    def jacobian(self, get, group):
        row, first, block = get(group + "/row"), get(group + "/first"), get(group + "/block")
        values = get(group + "/values").astype(real)
        dof = np.diff(self.start)
        J = np.zeros((int(row[-1]), int(self.start[-1])), dtype=real)
        for g in range(len(row) - 1):
            dim = row[g + 1] - row[g]
            for node, offset in block[first[g]:first[g + 1]]:
                J[row[g]:row[g + 1], self.start[node]:self.start[node + 1]] += \
                    values[offset:offset + dim * dof[node]].reshape(dim, dof[node])
        return J, row

    def through_diagonal_blocks(self, x):
        """A_nn^-1 x, node by node; x may have columns."""
        y = np.zeros_like(x)
        for node, block in enumerate(self.blocks):
            s = slice(self.start[node], self.start[node + 1])
            y[s] = solve(block, x[s])
        return y

    def diagonal(self, J):
        """diag(J A_nn^-1 J') with each node's part added by itself."""
        if len(J) == 0:
            return np.zeros(0, dtype=real)
        return np.sum(J.T * self.through_diagonal_blocks(J.T.copy()), axis=0)


def corners(facets):
    """Corners of the inscribed polygon; a quarter turn is exact."""
    angle = [two_pi * j / facets for j in range(facets)]
    return [np.array([np.cos(a), np.sin(a)], dtype=real) if (4 * j) % facets else
            np.array([(1, 0), (0, 1), (-1, 0), (0, -1)][4 * j // facets], dtype=real) for j, a in enumerate(angle)]


def support(u_T, facets):
    if len(u_T) < 2 or facets == 0:
        return np.sqrt(np.sum(u_T * u_T))
    return max(-(d @ u_T) for d in corners(facets))


def project_disc(x, mu):
    if len(x) == 1:
        return np.maximum(x, 0)
    normal, tangent = x[0], x[1:]
    size = np.sqrt(np.sum(tangent * tangent))
    if size <= mu * normal:
        return x
    if mu * size <= -normal:
        return np.zeros_like(x)
    height = (normal + mu * size) / (1 + mu * mu)
    return np.concatenate([[height], mu * height / size * tangent])


def project_polygon(x, mu, facets):
    """Nearest of all candidates: x itself, the origin, and its feet on every edge ray and every facet."""
    d = corners(facets)
    rays = [np.concatenate([[real(1)], mu * c]) for c in d]
    if facets > 2:
        apothem = np.cos(two_pi / (2 * facets))
        inside = x[0] >= 0
        for j in range(facets):
            angle = two_pi * (2 * j + 1) / (2 * facets)
            inside = inside and x[1] * np.cos(angle) + x[2] * np.sin(angle) <= mu * x[0] * apothem
        if inside:
            return x
    best = np.zeros_like(x)
    for j, g in enumerate(rays):
        h = rays[(j + 1) % facets]
        candidates = [max(real(0), (x @ g) / (g @ g)) * g]
        a, b, c = g @ g, g @ h, h @ h
        det = a * c - b * b
        if det > 0:
            s, t = (c * (x @ g) - b * (x @ h)) / det, (a * (x @ h) - b * (x @ g)) / det
            if s >= 0 and t >= 0:
                candidates.append(s * g + t * h)
        for y in candidates:
            if np.sum((x - y) ** 2) < np.sum((x - best) ** 2):
                best = y
    return best


def step_of(weight):
    return 1 / weight if weight > 0 else real(1)


def worst(values):
    """(largest, where); NaN wins."""
    values = np.asarray(values, dtype=real)
    if len(values) == 0:
        return real(0), -1
    where = int(np.argmax(np.isnan(values))) if np.isnan(values).any() else int(np.argmax(values))
    return values[where], where


def residual(problem, v, lam, p):
    balance = problem.A @ v - problem.G.T @ lam - problem.H.T @ p - problem.r
    dynamics, velocity = worst(np.abs(problem.through_diagonal_blocks(balance)))

    w = problem.G @ v + problem.T * lam - problem.b
    joint = []
    for j, weight in enumerate(problem.diagonal(problem.G) + problem.T):
        rho = step_of(weight)
        x = lam[j] - rho * w[j]
        # where nothing is clipped the map is w itself; saying so saves its digits
        free = problem.lower[j] <= x <= problem.upper[j]
        joint.append(abs(w[j]) if free else abs(lam[j] - min(max(x, problem.lower[j]), problem.upper[j])) / rho)
    joints, row = worst(joint)

    u = problem.H @ v + problem.S * p + problem.c
    weight = problem.diagonal(problem.H) + problem.S
    contact = []
    for i in range(len(problem.row) - 1):
        s = slice(problem.row[i], problem.row[i + 1])
        dim, mu, facets = s.stop - s.start, problem.mu[i], int(problem.facets[i])
        rho = step_of(np.sum(weight[s]) / dim)
        shifted = u[s].copy()
        if dim > 1:
            shifted[0] += mu * support(u[s][1:], facets)
        x = p[s] - rho * shifted
        y = project_polygon(x, mu, facets) if dim == 3 and facets > 0 else project_disc(x, mu)
        # p - y with y = x written without the cancellation
        difference = rho * shifted if y is x else p[s] - y
        contact.append(np.sqrt(np.sum(difference * difference)) / rho)
    contacts, who = worst(contact)

    number = lambda x: float(x) if np.isfinite(x) else None
    largest, _ = worst([dynamics, joints, contacts])
    return {"dynamics": number(dynamics), "joints": number(joints), "contacts": number(contacts), "max": number(largest),
            "worst_velocity": velocity, "worst_row": row, "worst_contact": who,
            "u_difference": None, "nv": len(v), "rows": len(lam), "contact_count": len(problem.row) - 1}, u


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        problem = Problem(arguments[0])
        with h5py.File(arguments[1], "r") as f:
            v, lam, p, u = (f["solution/" + name][()].astype(real) for name in ("v", "l", "r", "u"))
        if (len(v), len(lam), len(p)) != (len(problem.r), len(problem.b), len(problem.c)):
            raise ValueError("problem and solution have different sizes")
    except (OSError, KeyError, ValueError) as error:
        print(f"residual.py: {error}", file=sys.stderr)
        return 2
    with np.errstate(all="ignore"):
        result, recomputed = residual(problem, v, lam, p)
        if len(u):
            result["u_difference"] = float(np.max(np.abs(u - recomputed)))
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
