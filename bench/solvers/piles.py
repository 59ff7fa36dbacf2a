"""Step problems of piles of discs or spheres with polygon cones, as linear complementarity problems and as our files.

Bodies sit in a jittered close packing on the ground; the n lowest touching pairs are the contacts. One step of h = 0.01 s
under gravity, a sideways push and random velocities. With 2 directions (plane), 4 or 8 facets (space) the step is

    0 <= z  _|_  M z + q >= 0,   z = (p_N, beta, sigma),   M = [Wnn Wnt 0; Wtn Wtt E; mu -E' 0]    [Stewart-Trinkle]
"""
import dataclasses

import h5py
import numpy as np

radius, friction, step = 0.5, 0.5, 0.01  # [m], 1, [s]


@dataclasses.dataclass
class Pile:
    dim: int
    facets: int
    mass: np.ndarray      # [kg]
    velocity: np.ndarray  # [m/s, rad/s] without contacts, one row per body
    contacts: list        # (body below or -1, body above, frame: rows n, t1, t2)

    @property
    def dofs(self):
        return 3 if self.dim == 2 else 6

    def inertia(self, body):
        """Diagonal of the mass matrix of a body."""
        turn = (0.5 if self.dim == 2 else 0.4) * self.mass[body] * radius**2
        return np.array([self.mass[body]] * self.dim + [turn] * (self.dofs - self.dim))

    def blocks(self, contact):
        """(body, rows) of the contact velocity, rows along the frame."""
        below, above, frame = contact
        for body, sign in ((above, 1.0), (below, -1.0)):
            if body < 0:
                continue
            arm = -sign * radius * frame[0]
            turn = [arm[0] * d[1] - arm[1] * d[0] if self.dim == 2 else np.cross(arm, d) for d in frame]
            yield body, sign * np.column_stack([frame, np.array(turn)])

    def delassus(self):
        """Dense W and q, rows by contact."""
        n = len(self.contacts)
        J = np.zeros((n * self.dim, self.dofs * len(self.mass)))
        for c, contact in enumerate(self.contacts):
            for body, rows in self.blocks(contact):
                J[c * self.dim:(c + 1) * self.dim, body * self.dofs:(body + 1) * self.dofs] += rows
        inverse = 1 / np.concatenate([self.inertia(b) for b in range(len(self.mass))])
        return (J * inverse) @ J.T, J @ self.velocity.ravel()

    def corners(self):
        """Directions of friction in the tangent plane, one per row."""
        if self.dim == 2:
            return np.array([[1.0], [-1.0]])
        angle = 2 * np.pi * np.arange(self.facets) / self.facets
        return np.column_stack([np.cos(angle), np.sin(angle)])

    def lcp(self):
        W, q = self.delassus()
        n, dim, D = len(self.contacts), self.dim, self.corners()
        facets = len(D)
        S = np.zeros((n * (1 + facets), n * dim))  # velocities along n and all directions from those by contact
        for c in range(n):
            S[c, c * dim] = 1
            S[n + c * facets:n + (c + 1) * facets, c * dim + 1:(c + 1) * dim] = D
        E = np.kron(np.eye(n), np.ones((facets, 1)))
        size = n * (2 + facets)
        M = np.zeros((size, size))
        M[:-n, :-n] = S @ W @ S.T
        M[n:-n, -n:] = E
        M[-n:, :n] = friction * np.eye(n)
        M[-n:, n:-n] = -E.T
        return M, np.concatenate([S @ q, np.zeros(n)])

    def variables(self, p):
        """z of the impulses p, one row of p per contact in the frame: p_T from the two corners it lies between."""
        W, q = self.delassus()
        u = (W @ p + q).reshape(-1, self.dim)
        P, D = p.reshape(-1, self.dim), self.corners()
        n, facets = len(P), len(D)
        beta, sigma = np.zeros((n, facets)), np.zeros(n)
        for c in range(n):
            sigma[c] = max(0.0, np.max(-D @ u[c, 1:]))
            if self.dim == 2:
                beta[c] = [max(0.0, P[c, 1]), max(0.0, -P[c, 1])]
                continue
            j = int(np.arctan2(P[c, 2], P[c, 1]) // (2 * np.pi / facets)) % facets
            pair = [j, (j + 1) % facets]
            beta[c, pair] = np.maximum(0.0, np.linalg.solve(D[pair].T, P[c, 1:]))
        return np.concatenate([P[:, 0], beta.ravel(), sigma])

    def write(self, path):
        """Our own format; docs/record.md has the layout. The checksum is left out."""
        bodies, n, dofs = len(self.mass), len(self.contacts), self.dofs
        diagonals = [self.inertia(b) for b in range(bodies)]
        blocks, values, first = [], [], [0]
        for contact in self.contacts:
            for body, rows in self.blocks(contact):
                blocks.append((body, dofs * self.dim * len(values)))
                values.append(rows)
            first.append(len(blocks))
        none, i4, f8 = np.zeros(0), "<i4", "<f8"
        arrays = {
            "nodes/start": (np.arange(bodies + 1) * dofs, i4),
            "A/diagonal": (np.arange(bodies) * dofs * dofs, i4),
            "A/coupling": (np.zeros((0, 3)), i4),
            "A/values": (np.concatenate([np.diag(d).ravel() for d in diagonals]), f8),
            "r": (np.concatenate(diagonals) * self.velocity.ravel(), f8),
            "joints/row": ([0], i4), "joints/first": ([0], i4), "joints/block": (np.zeros((0, 2)), i4),
            "joints/id": (none, "<u4"), "joints/kind": (none, "u1"), "joints/impulsive": (none, "u1"),
            **{"joints/" + name: (none, f8) for name in ("values", "value", "target", "stiffness", "damping", "force_lower",
                                                         "force_upper", "curvature", "T", "b", "lower", "upper")},
            "contacts/row": (np.arange(n + 1) * self.dim, i4), "contacts/first": (first, i4), "contacts/block": (blocks, i4),
            "contacts/values": (np.array(values).ravel(), f8),
            "contacts/id": ([(c, 0, 0) for c in range(n)], "<u4"),
            "contacts/gap": (np.zeros(n), f8), "contacts/friction": (np.full(n, friction), f8),
            "contacts/restitution": (np.zeros(n), f8), "contacts/facets": (np.full(n, self.facets), i4),
            **{"contacts/" + name: (np.zeros((n, 3)), f8) for name in ("position", "normal", "tangent")},
            **{"contacts/" + name: (np.zeros(n * self.dim), f8) for name in ("curvature", "S", "c")},
        }
        with h5py.File(path, "w") as file:
            file.attrs["format"] = "stickslip-problem"
            file.attrs["format_version"] = np.uint64(1)
            for name, (array, kind) in arrays.items():
                file[name] = np.asarray(array, dtype=kind)


def pile(dim, facets, n, seed):
    random = np.random.default_rng([dim, n, seed])
    side = max(2, int(np.ceil((n / 2.5) ** (1 / dim))) + 1)
    points = []
    for layer in range(4 * side):
        if dim == 2:
            points += [((k + 0.5 * (layer % 2)) * 2 * radius, (1 + layer * np.sqrt(3)) * radius) for k in range(side)]
        else:
            shift = radius * (layer % 2)
            points += [(shift + 2 * radius * j, shift + 2 * radius * k, (1 + layer * np.sqrt(2)) * radius)
                       for j in range(side) for k in range(side)]
    points = np.array(points) + random.uniform(-0.02, 0.02, (len(points), dim)) * radius
    mass = random.uniform(0.5, 2.0, len(points))
    touching = [(p[-1] - radius, -1, i) for i, p in enumerate(points) if p[-1] < 1.1 * radius]
    for i in range(len(points)):
        near = np.nonzero(np.linalg.norm(points[:i] - points[i], axis=1) < 2.1 * radius)[0]
        touching += [(min(points[i][-1], points[j][-1]), int(j), i) for j in near]
    contacts = []
    for _, below, above in sorted(touching)[:n]:
        normal = np.eye(dim)[-1] if below < 0 else points[above] - points[below]
        normal = normal / np.linalg.norm(normal)
        if dim == 2:
            frame = np.array([normal, [-normal[1], normal[0]]])
        else:
            t1 = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
            t1 /= np.linalg.norm(t1)
            frame = np.array([normal, t1, np.cross(normal, t1)])
        contacts.append((below, above, frame))
    velocity = np.zeros((len(points), 3 if dim == 2 else 6))
    for row in velocity:
        row[:dim] = random.normal(scale=0.02, size=dim)
    velocity[:, dim - 1] -= 9.81 * step
    velocity[:, 0] += 3.0 * step
    return Pile(dim, facets, mass, velocity, contacts)
