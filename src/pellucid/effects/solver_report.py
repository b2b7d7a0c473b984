"""What a solver for many rows did, what it was expected to cost, and how far it is from the exact answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class SolverReport:
    """How a model of many rows was solved.

    Examples
    --------
    >>> SolverReport(
    ...     "iterative",
    ...     "asked for",
    ...     9000,
    ...     450,
    ...     "float32",
    ...     16,
    ...     4.0,
    ...     2e8,
    ...     5.0,
    ...     80,
    ...     3e-5,
    ...     2e-5,
    ...     0.01,
    ... )
    SolverReport
      iterative: asked for
      9000 rows, preconditioner of rank 450, blocks in float32
      expected 4 s and 0.2 GB beside the data; took 5 s, 80 steps
      gap to the exact answer: 2e-05 standard deviations of the target (linear system: 3e-05)
      leave-one-out error known to 1 % (16 random probes)
    """

    solver: str
    """``"iterative"`` or ``"landmarks"``."""
    reason: str
    """Why it was chosen."""
    n_rows: int
    """Rows of positive weight."""
    rank: int
    """Rank of the preconditioner, or number of landmarks."""
    precision: str
    """Precision of the blocks of the kernel matrix, ``"float32"`` or ``"float64"``."""
    n_probes: int
    """Random vectors behind the leave-one-out error; 0 where it is exact for the landmarks."""
    expected_seconds: float
    """Time expected before the steps began, from the speed of one block and the spectrum."""
    expected_bytes: float
    """Memory expected beside the data."""
    seconds: float
    """Time that the whole fit took."""
    n_iter: int
    """Steps of conjugate gradients, for all ridge strengths together."""
    residual: float
    """Relative residual of the linear system in float64; 0 for landmarks, which are solved directly."""
    gap: float
    """Root mean square difference to the exact answer, in standard deviations of the target.

    Iterative: of the fitted values of some rows to what the equations ask of them, in float64. Landmarks: of
    the landmark model to the exact one when both are fitted to some of the rows.
    """
    loo_error: float
    """How far the leave-one-out mean squared error may be off, relatively: about two standard errors."""
    unit: str = "the target"
    """Of what the gap is in standard deviations."""

    def __repr__(self) -> str:
        what = "preconditioner of rank" if self.solver == "iterative" else "landmarks:"
        steps = f", {self.n_iter} steps" if self.n_iter else ""
        lines = [
            f"{self.solver}: {self.reason}",
            f"{self.n_rows} rows, {what} {self.rank}, blocks in {self.precision}",
            f"expected {self.expected_seconds:.2g} s and {self.expected_bytes / 1e9:.2g} GB beside the data; "
            f"took {self.seconds:.2g} s{steps}",
            f"gap to the exact answer: {self.gap:.2g} standard deviations of {self.unit}"
            + (f" (linear system: {self.residual:.2g})" if self.solver == "iterative" else ""),
        ]
        if self.n_probes:
            lines.append(
                f"leave-one-out error known to {100 * self.loo_error:.2g} % ({self.n_probes} random probes)"
            )
        return "\n  ".join(["SolverReport", *lines])
