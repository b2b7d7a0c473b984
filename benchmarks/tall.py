"""Claim: many rows in half the processor time of the best rival, and exact kernel ridge of 40 000 in 4 GB.

Parts, each fit in a process of its own, with the threads that the environment allows:

- ``landmarks``: pellucid's landmark solver, with exact leave-one-out of every row, against scikit-learn's
  ``Nystroem`` and ``Ridge`` and, where it is installed, GPyTorch's inducing points (SGPR, float64), at the
  same kernel, the same ridge strength and the same number of landmarks: California housing, kin40k and
  protein (80 % of the rows for training), and 100 000 and a million synthetic rows. Falkon and EigenPro have
  no package for this platform.
- ``exact``: exact kernel ridge of 20 000 and 40 000 synthetic rows, kernel and alpha given; seconds, steps
  and peak memory.
- ``ard``: on kin40k a length-scale per feature learned on training rows, then the exact fit; test error in
  standard deviations of the target, 10 000 training rows as in the original split, and 36 000.

Seen in ``landmarks``, seconds of processor and errors of pellucid, Nystroem and GPyTorch: California housing
0.16, 1.5, 6.4 and 0.519, 0.516, 0.523; kin40k 1.3, 3.1, 11.2 and 0.252, 0.253, 0.271; protein 1.6, 3.2, 12.8
and 0.674, 0.676, 0.681. In ``ard``, 10 000 training rows: test error 0.1075, 155 s of processor, 1.7 GB. Of
36 000 rows alpha is so small that steps run into thousands: not run to its end.

Kernel and alpha of ``landmarks`` come from a fit to 2000 training rows; no test error chooses anything. Other
processes slow the clock down, so processor seconds are compared.

    python benchmarks/tall.py [landmarks] [exact] [ard]
    python benchmarks/tall.py landmarks california kin40k
"""

import json
import sys
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
from _measure import in_own_process, measure

M = {"1000000": 300}  # landmarks where a matrix of rows by landmarks, as rivals store it, must stay small
DEFAULT_M = 1000
PARTS = ("landmarks", "exact", "ard")
NAMES = ("california", "kin40k", "protein", "100000", "1000000")
RIVALS = {"sklearn": "Nystroem + Ridge", "gpytorch": "GPyTorch SGPR"}


def synthetic(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (n, 6))
    y = np.sin(3 * X[:, 0] * X[:, 1]) + X[:, 2] ** 2 + np.cos(2 * X[:, 3]) + 0.3 * rng.standard_normal(n)
    return X, y


def data(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training and test rows."""
    if name.isdigit():
        X, y = synthetic(int(name) * 5 // 4)
        cut = int(name)
        return X[:cut], y[:cut], X[cut:], y[cut:]
    from _sets import split

    s = split(name, 0)
    return s.X.to_numpy(float), np.asarray(s.y, float), s.X_test.to_numpy(float), np.asarray(s.y_test, float)


def child(part: str, *arguments: str) -> None:
    """One fit; prints its figures."""
    print(json.dumps({"landmarks": landmarks, "exact": exact, "ard": ard}[part](*arguments)))


def landmarks(which: str, name: str) -> dict[str, float]:
    from pellucid import KernelRidge

    X, y, X_test, y_test = data(name)
    small = KernelRidge().fit(X[::20][:2000], y[::20][:2000])
    scale, alpha = np.asarray(small.kernel_.length_scale), small.alpha_
    A, A_test = X / scale, X_test / scale
    m = M.get(name, DEFAULT_M)
    fit, predict = {"pellucid": _pellucid, "sklearn": _sklearn, "gpytorch": _gpytorch}[which](alpha, m)
    begin = time.process_time()
    figures = measure(lambda: fit(A, y))
    figures["cpu"] = time.process_time() - begin
    figures["error"] = float(np.sqrt(np.mean((predict(A_test) - y_test) ** 2)) / y_test.std())
    return figures


def _pellucid(alpha: float, m: int) -> tuple[Any, Any]:
    from pellucid import KernelRidge
    from pellucid.kernels import RBF

    model = KernelRidge(RBF(), alpha=alpha, solver="landmarks", n_components=m)
    return model.fit, model.predict


def _sklearn(alpha: float, m: int) -> tuple[Any, Any]:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    features = Nystroem("rbf", gamma=0.5, n_components=m, random_state=0)
    model = make_pipeline(features, Ridge(alpha, solver="cholesky"))
    return model.fit, model.predict


def _gpytorch(alpha: float, m: int) -> tuple[Any, Any]:
    """Inducing points among the rows, kernel and noise given; a fit is the cache of the first prediction."""
    import gpytorch
    import torch

    class Sparse(gpytorch.models.ExactGP):
        def __init__(self, X: Any, y: Any, likelihood: Any) -> None:
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.mean_module.initialize(constant=float(y.mean()))
            kernel = gpytorch.kernels.RBFKernel()
            kernel.initialize(lengthscale=1.0)
            some = torch.from_numpy(np.random.default_rng(0).choice(len(X), m, replace=False))
            self.covar_module = gpytorch.kernels.InducingPointKernel(kernel, X[some].clone(), likelihood)

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    state: dict[str, Any] = {}

    def predict(X: np.ndarray) -> np.ndarray:
        with torch.no_grad(), gpytorch.settings.skip_posterior_variances(True):
            return state["model"](torch.as_tensor(X, dtype=torch.float64)).mean.numpy().astype(float)

    def fit(X: np.ndarray, y: np.ndarray) -> None:
        above = gpytorch.constraints.GreaterThan(1e-12)
        likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=above)
        likelihood.noise = alpha
        x, z = torch.as_tensor(X, dtype=torch.float64), torch.as_tensor(y, dtype=torch.float64)
        state["model"] = Sparse(x, z, likelihood).double().eval()
        predict(X[:2])

    return fit, predict


def exact(n: str) -> dict[str, float]:
    from pellucid import KernelRidge
    from pellucid.kernels import RBF

    X, y = synthetic(int(n))
    model = KernelRidge(RBF(1.0), alpha=0.1, solver="iterative")
    begin = time.process_time()
    figures = measure(lambda: model.fit(X, y))
    report = model.solver_report_
    return figures | {
        "cpu": time.process_time() - begin,
        "steps": report.n_iter,
        "gap": report.gap,
        "expected": report.expected_seconds,
    }


def ard(n: str) -> dict[str, float]:
    from _sets import load

    from pellucid import KernelRidge, LooSearch
    from pellucid.kernels import Matern

    X, y = (np.asarray(part, float) for part in load("kin40k"))
    order = np.arange(len(y)) if n == "10000" else np.random.default_rng(0).permutation(len(y))
    train, test = order[: int(n)], order[int(n) :]
    search = LooSearch(KernelRidge(Matern(nu=2.5)), ard=True)
    begin = time.process_time()
    figures = measure(lambda: search.fit(X[train], y[train]))
    figures["cpu"] = time.process_time() - begin
    off = search.predict(X[test]) - y[test]
    return figures | {"error": float(np.sqrt(np.mean(off**2)) / y[test].std())}


def show(label: str, figures: dict[str, float]) -> None:
    peak = figures.pop("peak_bytes") / 1e9
    rest = ", ".join(f"{key} {value:.4g}" for key, value in figures.items())
    print(f"{label:34} {rest}, peak {peak:.2f} GB", flush=True)


def main(parts: list[str]) -> None:
    if "landmarks" in parts:
        for name in [name for name in NAMES if name in parts] or NAMES:
            ours = in_own_process(__file__, "landmarks", "pellucid", name)
            seconds = {}
            show(f"{name}, pellucid landmarks", dict(ours))
            for which in [which for which in RIVALS if find_spec(which)]:
                theirs = in_own_process(__file__, "landmarks", which, name)
                seconds[which] = theirs["cpu"]
                show(f"{name}, {RIVALS[which]}", theirs)
            best = min(seconds, key=lambda which: seconds[which])
            ratio = seconds[best] / ours["cpu"]
            print(f"{name}: {ratio:.2f} times less processor time than {RIVALS[best]}", flush=True)
    if "exact" in parts:
        for n in (20_000, 40_000):
            show(f"exact, {n} rows", in_own_process(__file__, "exact", n))
    if "ard" in parts:
        for n in (10_000, 36_000):
            show(f"kin40k, {n} training rows", in_own_process(__file__, "ard", n))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main(sys.argv[1:] or list(PARTS))
