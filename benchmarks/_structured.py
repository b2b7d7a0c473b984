"""Data and rivals that the benchmarks on strings, graphs and molecules share."""

import numpy as np
import pandas as pd
from _measure import data_folder
from scipy.linalg import eigh
from scipy.optimize import minimize
from sklearn.gaussian_process.kernels import Kernel


def read_promoters():
    """The 106 promoter sequences, and which are promoters."""
    table = pd.read_parquet(data_folder() / "dna_promoters.parquet")
    return table["sequence"].str.strip().str.upper().to_numpy(), (table["class"] == "+").to_numpy()


def read_splice():
    """The 3190 sequences around splice junctions, and their classes."""
    table = pd.read_parquet(data_folder() / "dna_splice.parquet")
    return table["sequence"].str.upper().str.strip().to_numpy(), table["label"].str.strip().to_numpy()


def read_mutag():
    """The 188 graphs of MUTAG, and their classes."""
    table = pd.read_parquet(data_folder() / "mutag.parquet")
    graphs = [
        (row.node_label, list(zip(row.edge_src, row.edge_dst, strict=True)), row.edge_label)
        for row in table.itertuples()
    ]
    return graphs, table["y"].to_numpy()


def read_molecules(name):
    """SMILES and targets of esol, freesolv or lipophilicity."""
    target = {
        "esol": "measured log solubility in mols per litre",
        "freesolv": "expt",
        "lipophilicity": "exp",
    }[name]
    table = pd.read_parquet(data_folder() / f"{name}.parquet")
    return table["smiles"].to_numpy(), table[target].to_numpy()


def grakel_graphs(graphs):
    """Graphs in the form that GraKeL takes."""
    from grakel import Graph

    made = []
    for labels, edges, marks in graphs:
        both = {(u, v): m for (u, v), m in zip(edges, marks, strict=True)}
        both |= {(v, u): m for (u, v), m in both.items()}
        made.append(Graph(list(both), node_labels=dict(enumerate(labels)), edge_labels=both))
    return made


BOUNDS = np.log([[1e-3, 1e4], [1e-5, 1e2]])
"""Of scale and noise of a Gaussian process, in units of the variance of the target."""


def process_on_gram(K, y, K_new):
    """Predictions of a Gaussian process whose covariance is scale * K + noise * identity.

    Scale and noise have the largest marginal likelihood, as in scikit-learn's GaussianProcessRegressor with
    ``Given``, from the same start and within the same bounds. With K = U diag(d) U' and z = U'y it is
    -1/2 sum(z^2 / v + log v) with v = scale * d + noise: one decomposition instead of a factorisation per
    step.
    """
    mean, spread = y.mean(), y.std()
    d, U = eigh(K, driver="evd")
    z = U.T @ ((y - mean) / spread)

    def loss(theta):
        scale, noise = np.exp(theta)
        v = scale * d + noise
        slope = 0.5 * (1.0 / v - (z / v) ** 2)
        return 0.5 * np.sum(z**2 / v + np.log(v)), np.array([scale * slope @ d, noise * slope.sum()])

    scale, noise = np.exp(minimize(loss, np.log([1.0, 0.1]), jac=True, bounds=BOUNDS).x)
    return mean + spread * scale * (K_new @ (U @ (z / (scale * d + noise))))


class Given(Kernel):
    """A Gram matrix for scikit-learn's Gaussian process, whose rows are numbers of objects."""

    def __init__(self, scale=1.0, noise=0.1, K=None):
        self.scale, self.noise, self.K = scale, noise, K

    @property
    def theta(self):
        return np.log([self.scale, self.noise])

    @theta.setter
    def theta(self, theta):
        self.scale, self.noise = np.exp(theta)

    @property
    def bounds(self):
        return BOUNDS

    def __call__(self, X, Y=None, eval_gradient=False):
        i = np.ravel(X).astype(int)
        j = i if Y is None else np.ravel(Y).astype(int)
        signal = self.scale * self.K[np.ix_(i, j)]
        if Y is not None:
            return signal
        noise = self.noise * np.eye(len(i))
        return (signal + noise, np.stack([signal, noise], axis=2)) if eval_gradient else signal + noise

    def diag(self, X):
        return self.scale * np.diag(self.K)[np.ravel(X).astype(int)] + self.noise

    def is_stationary(self):
        return False

    def clone_with_theta(self, theta):
        return Given(*np.exp(theta), self.K)

    def get_params(self, deep=True):
        return {"scale": self.scale, "noise": self.noise, "K": self.K}
