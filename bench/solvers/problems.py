"""Stored contact problems for the comparison of solvers: FCLIB files as matrices, their errors, and Siconos' text format.

A problem is (dim, mu, W, q) with u = W r + q; global ones (M, H, f, w) are condensed: W = H' M^-1 H, q = H' M^-1 f + w.
"""
import dataclasses

import h5py
import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg


@dataclasses.dataclass
class Problem:
    dim: int
    mu: np.ndarray
    W: sparse.csr_matrix
    q: np.ndarray
    form: str

    @property
    def contacts(self):
        return len(self.mu)


def matrix(group):
    m, n, nz = (int(group[name][0]) for name in ("m", "n", "nz"))
    p, i, x = (group[name][()] for name in ("p", "i", "x"))
    if nz >= 0:
        return sparse.coo_matrix((x[:nz], (i[:nz], p[:nz])), (m, n)).tocsc()
    kind = sparse.csc_matrix if nz == -1 else sparse.csr_matrix
    return kind((x, i, p), (m, n)).tocsc()


def read(path):
    """The problem in an FCLIB file, or None for what is not compared (rolling friction)."""
    with h5py.File(path, "r") as file:
        form = next((name for name in ("fclib_local", "fclib_global") if name in file), None)
        if form is None:
            return None
        g = file[form]
        dim, mu = int(g["spacedim"][0]), g["vectors/mu"][()]
        if form == "fclib_local":
            W, q = matrix(g["W"]), g["vectors/q"][()]
        else:
            H = matrix(g["H"])
            solve = scipy.sparse.linalg.splu(matrix(g["M"])).solve
            X = np.column_stack([solve(H[:, [k]].toarray()[:, 0]) for k in range(H.shape[1])])
            W, q = sparse.csr_matrix(H.T @ X), H.T @ solve(g["vectors/f"][()]) + g["vectors/w"][()]
    return Problem(dim, mu, sparse.csr_matrix(W), q, form)


def project(Z, mu):
    normal, size = Z[:, 0], np.linalg.norm(Z[:, 1:], axis=1)
    inside, polar = size <= mu * normal, mu * size <= -normal
    height = np.where(polar, 0.0, (normal + mu * size) / (1 + mu * mu))
    shrink = np.where(polar, 0.0, mu * height / np.where(size > 0, size, 1.0))
    out = np.column_stack([height, shrink[:, None] * Z[:, 1:]])
    out[inside] = Z[inside]
    return out


def errors(problem, r):
    """(err_vel, the stopping test of Siconos); see scripts/check-solution."""
    dim, mu = problem.dim, problem.mu
    u = problem.W @ r + problem.q
    R, U = r.reshape(-1, dim), u.reshape(-1, dim).copy()
    U[:, 0] += mu * np.linalg.norm(U[:, 1:], axis=1)
    trace = problem.W.diagonal().reshape(-1, dim).sum(axis=1)
    rho = np.where(trace > 0, dim / np.where(trace > 0, trace, 1.0), 1.0)[:, None]
    size = np.linalg.norm(problem.q)
    velocity = np.linalg.norm((R - project(R - rho * U, mu)) / rho)
    natural = np.linalg.norm(R - project(R - U, mu))
    largest = max(size, np.linalg.norm(r), np.linalg.norm(u))
    return velocity / size if size > 0 else velocity, natural / largest if largest > 0 else natural


def write_siconos(path, problem):
    """Siconos' text format, W in dense blocks per pair of contacts: the storage its solvers are fastest with."""
    dim, n = problem.dim, problem.contacts
    blocks = problem.W.tobsr((dim, dim))
    blocks.sort_indices()
    ends = " ".join(str(dim * (k + 1)) for k in range(n))
    words = [dim, n, 1, dim * n, dim * n, len(blocks.indices), n, n, ends, ends, n + 1, len(blocks.indices)]
    with open(path, "w") as out:
        out.write("\n".join(map(str, words)) + "\n")
        out.write(" ".join(map(str, blocks.indptr)) + "\n" + " ".join(map(str, blocks.indices)) + "\n")
        for number, block in enumerate(blocks.data):
            out.write(f"{number}\n" + "\n".join(f"{x:.17e}" for x in block.T.ravel()) + "\n")
        for list_ in (problem.q, problem.mu):
            out.write("\n".join(f"{x:.17e}" for x in list_) + "\n")
