"""The force field: energies and forces of one molecule from a kernel on its geometries."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.data.parameters import check_alphas, check_count
from pellucid.effects import Summary
from pellucid.features.geometry import Descriptors
from pellucid.linalg import limited_threads
from pellucid.models.forces.checks import (
    check_atoms,
    check_energies,
    check_forces,
    check_geometries,
    check_same_atoms,
    warn_of_poor_forces,
    warn_of_rigid_motion,
    warn_of_units,
)
from pellucid.models.forces.choice import Trials
from pellucid.models.forces.explanation import ForceExplanation
from pellucid.models.forces.hessian import ForceKernel, ForceSum
from pellucid.models.forces.posterior import posterior_std
from pellucid.models.forces.solve import (
    ForceProblem,
    choose_solver,
    leave_one_out,
    solve_closed,
    solve_iterative,
)
from pellucid.models.forces.summary import summary_of
from pellucid.models.forces.symmetries import check_symmetries
from pellucid.models.forces.training import TrainingData


class ForceField(BaseEstimator):
    r"""Energy-conserving force field of one molecule, symmetric under rotations and equivalent atoms.

    Energies are a Gaussian process on inverse distances, :math:`E(r) = c + f(x(r))`, and forces its exact
    negative gradient. The model is fitted to forces by kernel ridge regression with the covariance of forces,

    .. math:: \tfrac12 \sum_i \|F_i + \partial E(r_i) / \partial r\|^2 + \tfrac{\alpha}{2} \|f\|^2,

    summed over the permutations of equivalent atoms, and the constant :math:`c` to energies. Whatever the
    training data, the forces of the model conserve its energy.

    Parameters
    ----------
    kernel : {"matern52", "rbf", "rational_quadratic"} or Kernel, default="matern52"
        Kernel on inverse distances. A name leaves its length-scale to be chosen; a kernel, such as
        ``Matern(20.0, nu=2.5)``, is used as it is. It must be twice differentiable.
    symmetries : "auto", None or list of permutations, default="auto"
        Exchanges of equivalent atoms: found from the training geometries, none, or given as lists of atom
        numbers from 0, which are completed to a group.
    solver : {"auto", "closed", "iterative"}, default="auto"
        ``"closed"`` factors the covariance matrix, ``"iterative"`` takes steps of conjugate gradients without
        ever forming it. ``"auto"`` goes by memory and predicted time, and says why in ``solver_reason_``.
    alpha : float or "loo", default="loo"
        Ridge strength: the variance of noise in the forces, for a kernel of amplitude one. Larger is
        smoother. ``"loo"`` chooses it by exact leave-one-geometry-out, together with the length-scale, to
        make errors of forces small and, where energies are given, theirs, as one of ``3 n_atoms - 5`` numbers
        per geometry.
    tol : float, default=1e-6
        Relative residual at which steps of the iterative solver stop; smaller takes more steps.
    max_iter : int, default=5000
        Most steps of the iterative solver.
    warm_start : bool, default=False
        Whether a further call of ``fit`` with the same geometries goes on from the coefficients, length-scale
        and alpha of the last one.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its length-scale, in units of inverse length.
    alpha_ : float
        The ridge strength that was used.
    permutations_ : ndarray of shape (n_permutations, n_atoms)
        The group of symmetries, the identity first.
    dual_coef_ : ndarray of shape (n, n_atoms, 3)
        The coefficients of the training forces.
    constant_ : float
        The constant of energies; 0 if none were given.
    scale_ : float
        Variance of the Gaussian process in units of the kernel.
    R_fit_, F_fit_ : ndarray of shape (n, n_atoms, 3)
        Training geometries and forces.
    trials_ : Trials or None
        Length-scales and alphas that were tried, with their leave-one-out errors of forces and energies.
    atoms_ : ndarray of shape (n_atoms,)
        Atomic numbers; zeros where none were given.
    solver_, solver_reason_ : str
        The solver that was used, and why.
    residuals_ : ndarray
        Relative residual before each step of the iterative solver; empty after a closed solution.

    Notes
    -----
    Units are those of the training data: with positions in Å and energies in kcal/mol, forces are in
    kcal/mol/Å, and length-scales in 1/Å.

    References
    ----------
    Chmiela, Sauceda, Müller and Tkatchenko (2018), Towards exact molecular dynamics simulations with
    machine-learned force fields, Nature Communications 9, 3887.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import ForceField
    >>> rng = np.random.default_rng(0)
    >>> R = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]) + 0.1 * rng.normal(size=(60, 3, 3))
    >>> def pull(R):  # springs of length one between the first atom and the others
    ...     d = R[:, 1:] - R[:, :1]
    ...     f = (1 - 1 / np.linalg.norm(d, axis=2, keepdims=True)) * d
    ...     return np.concatenate([f.sum(axis=1, keepdims=True), -f], axis=1)
    >>> model = ForceField().fit(R[:50], pull(R[:50]), atoms=["O", "H", "H"])
    >>> energy, force = model.predict(R[50:])
    >>> bool(np.abs(force - pull(R[50:])).max() < 0.02), len(model.permutations_)
    (True, 2)
    """

    trials_: Trials | None
    kernel_: Any
    alpha_: float
    permutations_: np.ndarray
    R_fit_: np.ndarray
    dual_coef_: np.ndarray

    def __init__(
        self,
        kernel: Any = "matern52",
        *,
        symmetries: Any = "auto",
        solver: str = "auto",
        alpha: Any = "loo",
        tol: float = 1e-6,
        max_iter: int = 5000,
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.symmetries = symmetries
        self.solver = solver
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def fit(self, R: Any, F: Any = None, *, energies: Any = None, atoms: Any = None) -> Self:
        """Fit the force field.

        Parameters
        ----------
        R : array-like of shape (n, n_atoms, 3)
            Geometries of one molecule, its atoms always in the same order.
        F : array-like of shape (n, n_atoms, 3)
            Forces on the atoms.
        energies : array-like of shape (n,), optional
            Energies, for the constant that forces leave open; length-scale and alpha then make errors of
            energies left out small as well. Their unit is that of forces times that of positions.
        atoms : sequence of n_atoms symbols or atomic numbers, optional
            What the atoms are: only like atoms can be equivalent. Without it all are taken to be alike.

        Returns
        -------
        ForceField
            Itself.
        """
        R = check_geometries(R)
        F = check_forces(F, R)
        E = check_energies(energies, len(R))
        check_count(self.max_iter, "max_iter", 1)
        check_alphas(self.tol, "tol")
        if len(R) < 2:
            raise ValueError(f"A force field needs at least 2 geometries, got {len(R)}.")
        self.atoms_ = check_atoms(atoms, R.shape[1])
        data = TrainingData.of(R, F, E)
        warn_of_rigid_motion(F, data.unit * data.y)
        again = self.warm_start and hasattr(self, "R_fit_") and np.array_equal(self.R_fit_, R)
        with limited_threads(data.D.X):
            if again:
                problem = data.problem(ForceKernel(self.kernel_, self.permutations_), self.alpha_)
            else:
                self.permutations_ = check_symmetries(self.symmetries, R, self.atoms_)
                problem, self.trials_ = data.state(self.kernel, self.alpha, self.permutations_)
            a = self._solve(problem, data.from_atoms(self.dual_coef_) if again else None)
        if self.trials_ is not None:
            warn_of_poor_forces(self.trials_.errors[self.trials_.best], data.unit * data.y)
        self.kernel_, self.alpha_ = problem.kernel.kernel, problem.alpha
        self.scale_ = data.unit**2 * float(problem.y.ravel() @ a) / problem.size
        self.R_fit_, self.F_fit_ = R, F
        self.dual_coef_ = data.to_atoms(a)
        self.__dict__.pop("_sum", None)
        self.constant_ = 0.0
        if E is not None:
            found = self._evaluate(data.D)[0]
            if np.sum((problem.alpha * a) ** 2) < 0.5 * np.sum(data.y**2):  # a poor fit says nothing of units
                warn_of_units(E, found)
            self.constant_ = float(np.mean(E - found))
        return self

    def _solve(self, problem: ForceProblem, start: np.ndarray | None) -> np.ndarray:
        choice = choose_solver(self.solver, problem)
        self.solver_, self.solver_reason_ = choice.name, choice.reason
        if choice.name == "closed":
            self.residuals_ = np.zeros(0)
            return solve_closed(problem)[0]
        a, self.residuals_ = solve_iterative(problem, tol=self.tol, max_iter=self.max_iter, start=start)
        return a

    # ------------------------------------------------------------ predicting
    @cached_property
    def _sum(self) -> ForceSum:
        """The fitted function; made from what is stored, and not stored with the model."""
        D = Descriptors.of(self.R_fit_)
        kernel = ForceKernel(self.kernel_, self.permutations_)
        return ForceSum.of(kernel, D.X, D.push_forward(self.dual_coef_))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_sum"}

    def _evaluate(self, D: Descriptors) -> tuple[np.ndarray, np.ndarray]:
        energy, downhill = self._sum.evaluate(D.X)
        return energy, D.pull_back(downhill)

    def predict(self, R: Any, *, atoms: Any = None, return_std: bool = False) -> tuple[np.ndarray, ...]:
        """Energies and forces of geometries.

        Parameters
        ----------
        R : array-like of shape (n, n_atoms, 3)
            Geometries, atoms in the order of training.
        atoms : sequence, optional
            What the atoms are, to have their order checked.
        return_std : bool, default=False
            Whether to return the posterior standard deviation of each force as well.

        Returns
        -------
        energies : ndarray of shape (n,)
        forces : ndarray of shape (n, n_atoms, 3)
        std : ndarray of shape (n, n_atoms, 3)
            Only with ``return_std=True``. It speaks of what the training geometries leave open, under the
            kernel taken at its word.
        """
        check_is_fitted(self)
        R = check_geometries(R, len(self.atoms_))
        check_same_atoms(atoms, self.atoms_)
        D = Descriptors.of(R)
        energy, forces = self._evaluate(D)
        if not return_std:
            return energy + self.constant_, forces
        _, problem = self._fitted()
        return energy + self.constant_, forces, posterior_std(problem, D, self.scale_)

    def _fitted(self) -> tuple[TrainingData, ForceProblem]:
        """The problem that was solved."""
        data = TrainingData.of(self.R_fit_, self.F_fit_)
        return data, data.problem(ForceKernel(self.kernel_, self.permutations_), self.alpha_)

    def leave_one_out(self) -> np.ndarray:
        """Residuals of the forces of every training geometry, predicted by the model of all others.

        Exact, from one factorisation of the covariance matrix, with kernel and alpha as they are.

        Returns
        -------
        residuals : ndarray of shape (n, n_atoms, 3)
        """
        check_is_fitted(self)
        data, problem = self._fitted()
        return self.F_fit_ + data.to_atoms(leave_one_out(problem)[0] - problem.y)

    def score(self, R: Any, F: Any) -> float:
        """Share of the variance of forces explained, R²; 1 is perfect."""
        check_is_fitted(self)
        R = check_geometries(R, len(self.atoms_))
        F = check_forces(F, R)
        error = self.predict(R)[1] - F
        return float(1.0 - np.sum(error**2) / max(np.sum((F - F.mean()) ** 2), np.finfo(float).tiny))

    # --------------------------------------------------------------- reading
    def explain(self, geometry: Any) -> ForceExplanation:
        """Take the energy and the forces of one geometry apart, exactly.

        Parameters
        ----------
        geometry : array-like of shape (n_atoms, 3)

        Returns
        -------
        ForceExplanation
            The energy as the constant plus a part per training geometry; the forces as a push or pull along
            each pair of atoms.
        """
        check_is_fitted(self)
        R = check_geometries(geometry, len(self.atoms_))
        if len(R) != 1:
            raise ValueError(f"explain takes one geometry, got {len(R)}.")
        return ForceExplanation.of(self._sum, Descriptors.of(R), self.constant_)

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        check_is_fitted(self)
        return summary_of(self)
