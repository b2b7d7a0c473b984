"""Which solver, and why."""

from dataclasses import dataclass

SOLVERS = ("auto", "primal", "cholesky", "spectral")

# One eigendecomposition costs about as much as this many Cholesky factors with their leave-one-out diagonal.
_SPECTRAL_FROM = 8


@dataclass(frozen=True)
class Choice:
    """A solver's name and the reason it was taken."""

    name: str
    reason: str


def choose_solver(requested: str, *, n_rows: int, n_features: int | None, n_alphas: int) -> Choice:
    """Choose by cost: the smaller of features and rows, then the number of ridge strengths.

    Examples
    --------
    >>> choose_solver("auto", n_rows=1000, n_features=5, n_alphas=50)
    Choice(name='primal', reason='5 explicit features are fewer than 1000 rows')
    >>> choose_solver("auto", n_rows=1000, n_features=None, n_alphas=1).name
    'cholesky'
    """
    if requested not in SOLVERS:
        raise ValueError(f"Unknown solver {requested!r}; choose from {', '.join(SOLVERS)}.")
    if requested == "primal" and n_features is None:
        raise ValueError(
            "solver='primal' needs a kernel with finitely many features, such as Linear or Polynomial."
        )
    if requested != "auto":
        return Choice(requested, "asked for")
    if n_features is not None and n_features < n_rows:
        return Choice("primal", f"{n_features} explicit features are fewer than {n_rows} rows")
    if n_alphas >= _SPECTRAL_FROM:
        return Choice("spectral", f"one decomposition serves all {n_alphas} values of alpha")
    return Choice("cholesky", f"cheapest for {n_alphas} value{'s' if n_alphas > 1 else ''} of alpha")
