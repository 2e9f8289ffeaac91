"""The coupled model written plainly: an inverse a column, loops over labels and numbers, the bound term by term."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, log_ndtr
from scipy.stats import norm

ONES = (1.0,) * 6


def moments(M, Y, unknown=None, margin=0.0, gap=None, shares=(0.5, 0.5)):
    """E[t] and log Zeta, entry by entry; phi / Phi by logarithms."""
    T, Z = np.empty_like(M), np.empty_like(M)
    ratio = lambda x: np.exp(norm.logpdf(x) - log_ndtr(x))  # noqa: E731
    for i, o in np.ndindex(*M.shape):
        m, y = M[i, o], Y[i, o]
        if unknown is None or not unknown[i, o]:
            T[i, o], Z[i, o] = m + y * ratio(y * m - margin), log_ndtr(y * m - margin)
        elif gap is None:
            T[i, o], Z[i, o] = m, 0.0
        else:
            up, down = np.log(shares[1]) + log_ndtr(m - gap), np.log(shares[0]) + log_ndtr(-m - gap)
            Z[i, o] = np.logaddexp(up, down)
            T[i, o] = m + np.exp(up - Z[i, o]) * ratio(m - gap) - np.exp(down - Z[i, o]) * ratio(-m - gap)
    return T, Z


def gamma_block(a, b, A, beta, moment, count=1):
    """E log p(precision) + E log p(coefficients | precision) + entropy of one gamma factor."""
    elog, mean = digamma(A) + np.log(beta), A * beta
    prior = (a - 1) * elog - mean / b - gammaln(a) - a * np.log(b)
    return (
        prior
        + 0.5 * count * (elog - np.log(2 * np.pi))
        - 0.5 * mean * moment
        + A
        + np.log(beta)
        + gammaln(A)
        + (1 - A) * digamma(A)
    )


class Plain:
    """One sweep after another in the order Phi, Q, Z, (lambda, Psi), (b, W), T, tau; everything is kept for inspection.
    Columns of Y that are ``numbers`` are t itself where they are known."""

    def __init__(self, X, Y, Q, Z, B, T, *, v=1.0, hyper=ONES, prior="entry", numbers=(), **labels):
        self.X, self.Y, self.v, self.hyper, self.prior, self.labels = X, Y, v, hyper, prior, labels
        self.numbers, self.tau = list(numbers), np.ones(B.shape[1])
        self.Q, self.Z, self.B, self.T = Q.copy(), Z.copy(), B.copy(), T.copy()
        (self.d, self.R), self.L = Q.shape, B.shape[1]
        self.C_Q = [np.eye(self.d) for _ in range(self.R)]
        self.C_B = [np.eye(self.R + 1) for _ in range(self.L)]

    def sweep(self):
        a_lam, b_lam, a_phi, b_phi, a_psi, b_psi = self.hyper
        X, v, R = self.X, self.v, self.R
        spread = np.column_stack([np.diag(C) for C in self.C_Q])
        squares = self.Q**2 + spread
        if self.prior == "column":
            self.A_phi = a_phi + self.d / 2
            self.beta_phi = np.repeat(1 / (1 / b_phi + squares.sum(axis=0, keepdims=True) / 2), self.d, axis=0)
        elif self.prior == "row":
            self.A_phi = a_phi + R / 2
            self.beta_phi = np.repeat(1 / (1 / b_phi + squares.sum(axis=1, keepdims=True) / 2), R, axis=1)
        else:
            self.A_phi, self.beta_phi = a_phi + 0.5, 1 / (1 / b_phi + squares / 2)
        for s in range(R):
            self.C_Q[s] = np.linalg.inv(np.diag(self.A_phi * self.beta_phi[:, s]) + X.T @ X / v)
            self.Q[:, s] = self.C_Q[s] @ X.T @ self.Z[:, s] / v
        W, b = self.B[1:], self.B[0]
        WW = sum(self.tau[o] * (np.outer(W[:, o], W[:, o]) + self.C_B[o][1:, 1:]) for o in range(self.L))
        g = sum(self.tau[o] * (W[:, o] * b[o] + self.C_B[o][1:, 0]) for o in range(self.L))
        self.C_Z = np.linalg.inv(np.eye(R) / v + WW)
        pulled = sum(self.tau[o] * np.outer(self.T[:, o], W[:, o]) for o in range(self.L))
        self.Z = (X @ self.Q / v + pulled - g) @ self.C_Z
        Z1 = np.column_stack([np.ones(len(X)), self.Z])
        extra = np.zeros((R + 1, R + 1))
        extra[1:, 1:] = len(X) * self.C_Z
        second = self.B**2 + np.column_stack([np.diag(C) for C in self.C_B])
        self.beta_lam, self.beta_psi = 1 / (1 / b_lam + second[0] / 2), 1 / (1 / b_psi + second[1:] / 2)
        for o in range(self.L):
            precision = np.append((a_lam + 0.5) * self.beta_lam[o], (a_psi + 0.5) * self.beta_psi[:, o])
            self.C_B[o] = np.linalg.inv(np.diag(precision) + self.tau[o] * (Z1.T @ Z1 + extra))
            self.B[:, o] = self.tau[o] * self.C_B[o] @ Z1.T @ self.T[:, o]
        self.M = Z1 @ self.B
        self.T, self.log_zeta = moments(self.M, self.Y, **self.labels)
        self.A_tau, self.beta_tau = np.zeros(L := self.L), np.zeros(L)
        for o in self.numbers:
            hidden = self.hidden(o)
            self.T[:, o], self.log_zeta[:, o] = np.where(hidden, self.M[:, o], self.Y[:, o]), 0.0
            squares = sum((self.T[i, o] - self.M[i, o]) ** 2 + self.variance(i, o) for i in range(len(X)))
            self.A_tau[o] = 1e-3 + (~hidden).sum() / 2
            self.beta_tau[o] = 1 / (1e-3 + squares / 2)
            self.tau[o] = self.A_tau[o] * self.beta_tau[o]
        return self.bound()

    def hidden(self, o):
        """The unknown cells of a column."""
        unknown = self.labels.get("unknown")
        return np.zeros(len(self.X), dtype=bool) if unknown is None else unknown[:, o]

    def variance(self, i, o):
        """The variance of w'z + b in row i: <(w'z + b)^2> - m^2."""
        z, w = np.append(1.0, self.Z[i]), self.B[:, o]
        zz = np.outer(z, z)
        zz[1:, 1:] += self.C_Z
        return np.sum((np.outer(w, w) + self.C_B[o]) * zz) - self.M[i, o] ** 2

    def bound(self):
        a_lam, b_lam, a_phi, b_phi, a_psi, b_psi = self.hyper
        n, d, R, L, v = len(self.X), self.d, self.R, self.L, self.v
        logdet = lambda C: np.linalg.slogdet(C)[1]  # noqa: E731
        spread = np.column_stack([np.diag(C) for C in self.C_Q])
        total = 0.0
        for s in range(R):
            if self.prior == "column":
                moment = (self.Q[:, s] ** 2 + spread[:, s]).sum()
                total += gamma_block(a_phi, b_phi, self.A_phi, self.beta_phi[0, s], moment, d)
            elif self.prior == "entry":
                for f in range(d):
                    moment = self.Q[f, s] ** 2 + spread[f, s]
                    total += gamma_block(a_phi, b_phi, self.A_phi, self.beta_phi[f, s], moment)
            total += 0.5 * (d * (np.log(2 * np.pi) + 1) + logdet(self.C_Q[s]))
            total -= np.trace(self.X.T @ self.X @ self.C_Q[s]) / (2 * v)
        for f in range(d) if self.prior == "row" else []:
            moment = (self.Q[f] ** 2 + spread[f]).sum()
            total += gamma_block(a_phi, b_phi, self.A_phi, self.beta_phi[f, 0], moment, R)
        for o in range(L):
            C, w = self.C_B[o], self.B[:, o]
            total += gamma_block(a_lam, b_lam, a_lam + 0.5, self.beta_lam[o], w[0] ** 2 + C[0, 0])
            for s in range(R):
                moment = w[s + 1] ** 2 + C[s + 1, s + 1]
                total += gamma_block(a_psi, b_psi, a_psi + 0.5, self.beta_psi[s, o], moment)
            total += 0.5 * ((R + 1) * (np.log(2 * np.pi) + 1) + logdet(C))
            known = ~self.hidden(o) if o in self.numbers else np.zeros(n, dtype=bool)
            for i in np.flatnonzero(~known):
                total += self.log_zeta[i, o] - 0.5 * self.tau[o] * self.variance(i, o)
            if o in self.numbers:
                errors = sum((self.Y[i, o] - self.M[i, o]) ** 2 + self.variance(i, o) for i in np.flatnonzero(known))
                total += gamma_block(1e-3, 1e3, self.A_tau[o], self.beta_tau[o], errors, known.sum())
        total += 0.5 * n * (R * (np.log(2 * np.pi) + 1) + logdet(self.C_Z))
        residual = np.sum((self.Z - self.X @ self.Q) ** 2) + n * np.trace(self.C_Z)
        return total - residual / (2 * v) - 0.5 * n * R * np.log(2 * np.pi * v)
