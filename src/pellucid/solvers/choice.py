"""Which solver, and why."""

from dataclasses import dataclass

SOLVERS = ("auto", "primal", "cholesky", "spectral", "iterative", "landmarks")
TALL = ("iterative", "landmarks")  # those that never store the kernel matrix

# Rows from which steps of n² operations cost less than a factorisation of n³ with its exact leave-one-out,
_DENSE_ROWS = 8000
# and rows from which a step takes so long that an approximation by landmarks is the better use of the time.
ITERATIVE_ROWS = 50_000

# One eigendecomposition costs about as much as this many Cholesky factors with their leave-one-out diagonal.
_SPECTRAL_FROM = 8


@dataclass(frozen=True)
class Choice:
    """A solver's name and the reason it was taken."""

    name: str
    reason: str


def choose_solver(
    requested: str, *, n_rows: int, n_features: int | None, n_alphas: int, dense: bool = False
) -> Choice:
    """Choose by cost: the smaller of features and rows, then rows, then the number of ridge strengths.

    ``dense`` says that only the solvers with a stored matrix will do.

    Examples
    --------
    >>> choose_solver("auto", n_rows=1000, n_features=5, n_alphas=50)
    Choice(name='primal', reason='5 explicit features are fewer than 1000 rows')
    >>> choose_solver("auto", n_rows=1000, n_features=None, n_alphas=1).name
    'cholesky'
    >>> choose_solver("auto", n_rows=40_000, n_features=None, n_alphas=1).name
    'iterative'
    """
    if requested not in SOLVERS:
        raise ValueError(f"Unknown solver {requested!r}; choose from {', '.join(SOLVERS)}.")
    if requested == "primal" and n_features is None:
        raise ValueError(
            "solver='primal' needs a kernel with finitely many features, such as Linear or Polynomial."
        )
    if requested in TALL and dense:
        raise ValueError(
            f"solver={requested!r} forms the kernel matrix block by block from rows: it needs a positive "
            f"semi-definite kernel that is not precomputed. Use solver='auto'."
        )
    if requested != "auto":
        return Choice(requested, "asked for")
    if n_features is not None and n_features < n_rows:
        return Choice("primal", f"{n_features} explicit features are fewer than {n_rows} rows")
    if n_rows > ITERATIVE_ROWS and not dense:
        return Choice("landmarks", f"{n_rows} rows make n² kernel values too many to go through repeatedly")
    if n_rows > _DENSE_ROWS and not dense:
        return Choice("iterative", f"{n_rows} rows: steps of n² operations cost less than a factor of n³")
    if n_alphas >= _SPECTRAL_FROM:
        return Choice("spectral", f"one decomposition serves all {n_alphas} values of alpha")
    return Choice("cholesky", f"cheapest for {n_alphas} value{'s' if n_alphas > 1 else ''} of alpha")
