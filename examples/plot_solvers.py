"""
Closed form against iterative
=============================

What bad conditioning does to conjugate gradients, and what a low-rank preconditioner mends.
"""

import numpy as np
from matplotlib import pyplot as plt

from pellucid import KernelRidge
from pellucid.kernels import RBF
from pellucid.linalg import LowRank, conjugate_gradients, pivoted_cholesky

# %%
# A smooth kernel has few large eigenvalues and many tiny ones, so the condition of the system is that of the
# largest eigenvalue over alpha.
rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (1500, 3))
y = np.sin(3 * X[:, 0] * X[:, 1]) + X[:, 2] ** 2 + 0.1 * rng.standard_normal(1500)
kernel = RBF(0.6)
K = kernel(X)
values = np.linalg.eigvalsh(K)[::-1]
factor = {r: pivoted_cholesky(lambda i: K[:, i], np.diag(K), r, random_state=0).factor for r in (50, 200)}

# %%
# The residual before each step, for two values of alpha. Without a preconditioner the smaller one takes many
# times more steps. With a preconditioner of rank 200 it hardly matters.
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
axes[0].semilogy(values[:400], color="black")
axes[0].set(title="Eigenvalues of the kernel matrix", xlabel="number")
for alpha, line in ((1.0, ":"), (1e-2, "--")):
    axes[0].axhline(alpha, color="grey", linestyle=line)
    axes[0].annotate(f"alpha = {alpha:g}", (400, alpha), ha="right", va="bottom")


def residuals(alpha, rank):
    precondition = LowRank.of(factor[rank].copy()).inverse(alpha) if rank else lambda r: r
    found = conjugate_gradients(
        lambda p: K @ p + alpha * p, y - y.mean(), precondition=precondition, tol=1e-6, max_iter=400
    )
    return found.residuals


for ax, alpha in zip(axes[1:], (1.0, 1e-2), strict=True):
    for rank, label in ((0, "none"), (50, "rank 50"), (200, "rank 200")):
        history = residuals(alpha, rank)
        ax.semilogy(history, label=f"{label}: {len(history) - 1} steps")
    ax.set(title=f"Relative residual, alpha = {alpha:g}", xlabel="step", ylim=(1e-7, 30))
    ax.legend(title="preconditioner", frameon=False, fontsize="small")

# %%
# The estimator does this by itself for many rows, and reports what it did.
model = KernelRidge(kernel, alpha=1e-2, solver="iterative").fit(X, y)
exact = KernelRidge(kernel, alpha=1e-2, solver="cholesky").fit(X, y)
print(f"largest difference of predictions: {np.abs(model.predict(X) - exact.predict(X)).max():.1e}")
print(f"rank {model.solver_report_.rank}, {model.solver_report_.n_iter} steps")
