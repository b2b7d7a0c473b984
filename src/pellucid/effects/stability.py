"""What random splits of the data say about methods: errors, and whether coefficients keep their sign."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import rankdata


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """Coefficients and errors of one or several methods over random splits. Print it for a table.

    Coefficients of several classes or outputs have a third axis for them; ``output`` then says which one
    to read.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.effects import Stability
    >>> result = Stability(
    ...     methods=["ridge"],
    ...     coef={"ridge": np.array([[1.0, -0.1], [1.2, 0.1], [0.9, 0.2]])},
    ...     train_error=np.array([[1.0], [1.1], [0.9]]),
    ...     test_error=np.array([[1.2], [1.4], [1.3]]),
    ...     names=["age", "dose"],
    ...     measure="RMSE",
    ... )
    >>> print(result)
    3 random splits: median RMSE, mean rank (1 is best), coefficients of constant sign
    method    train     test   train rank   test rank   constant sign
    ridge         1      1.3         1.00        1.00          1 of 2
    """

    methods: Sequence[str]
    """Names of the methods, in the order of the columns of the errors."""
    coef: Mapping[str, np.ndarray | None]
    """Coefficients by method, of shape (splits, p) or (splits, p, classes); ``None`` where there are none."""
    train_error: np.ndarray
    """Errors on the rows fitted to, of shape (splits, methods); smaller is better."""
    test_error: np.ndarray
    """Errors on the rows left out, shaped alike."""
    names: Sequence[str]
    """Names of the features."""
    coef_names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of the coefficients by method, where they are not those of the features."""
    measure: str = "error"
    """What the errors are."""
    classes: Sequence[str] = ()
    """Names along the third axis of coefficients, where there is one per class."""

    def __post_init__(self) -> None:
        methods = list(self.methods)
        for label, errors in (("train_error", self.train_error), ("test_error", self.test_error)):
            if errors.ndim != 2 or errors.shape[1] != len(methods):
                raise ValueError(
                    f"{label} must have one column per method ({len(methods)}), got shape {errors.shape}."
                )

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.test_error)

    # ----------------------------------------------------------------- errors
    @property
    def ranks_train(self) -> np.ndarray:
        """Rank of each method in each split by ``train_error``: 1 is best, ties share their average."""
        return average_ranks(self.train_error)

    @property
    def ranks_test(self) -> np.ndarray:
        """Rank of each method in each split by ``test_error``: 1 is best, ties share their average."""
        return average_ranks(self.test_error)

    @property
    def mean_ranks(self) -> dict[str, np.ndarray]:
        """Ranks averaged over splits: ``{"train": ..., "test": ...}``, each of shape (methods,)."""
        return {"train": self.ranks_train.mean(axis=0), "test": self.ranks_test.mean(axis=0)}

    # ----------------------------------------------------------- coefficients
    @property
    def constant_sign(self) -> dict[str, np.ndarray]:
        """By method, whether each coefficient has the same sign in all splits; zero has none."""
        return {
            name: np.all(coef > 0, axis=0) | np.all(coef < 0, axis=0)
            for name, coef in self.coef.items()
            if coef is not None
        }

    @property
    def zero_outside(self) -> dict[str, np.ndarray]:
        """The same, as one sees it in a box plot: whether zero lies outside [min, max] over the splits."""
        return self.constant_sign

    def which(self, method: str | None = None) -> str:
        """Return ``method`` if it has coefficients, or the only one that has them."""
        if method is not None:
            if method not in self.methods:
                raise ValueError(f"There is no method {method!r}; there are {', '.join(self.methods)}.")
            if self.coef.get(method) is None:
                raise ValueError(f"The method {method!r} has no coefficients.")
            return method
        having = [name for name in self.methods if self.coef.get(name) is not None]
        if not having:
            raise ValueError("None of the methods has coefficients.")
        if any(self.coef[name] is not self.coef[having[0]] for name in having):
            raise ValueError(f"Several methods have coefficients, say which: {', '.join(having)}.")
        return having[0]  # methods that share one fit also share its coefficients

    def names_of(self, method: str | None = None) -> list[str]:
        """Names of the coefficients of a method."""
        return list(self.coef_names.get(self.which(method), self.names))

    def replicates(self, method: str | None = None, *, output: int = 0) -> np.ndarray:
        """Coefficients of one method, for one class or output where there are several, as (splits, p)."""
        coef = self.coef[self.which(method)]
        assert coef is not None  # which() has seen to it
        if coef.ndim == 2:
            return coef
        if not 0 <= output < coef.shape[2]:
            raise ValueError(f"output must be between 0 and {coef.shape[2] - 1}, got {output!r}.")
        return coef[:, :, output]

    def frame(self, method: str | None = None, *, output: int = 0) -> Any:
        """Distribution of each coefficient over the splits, as a pandas data frame.

        Parameters
        ----------
        method : str, optional
            Which method; may be left out if only one has coefficients.
        output : int, default=0
            Which class or output, where there are several.

        Returns
        -------
        frame : pandas.DataFrame
            One row per coefficient with ``median``, ``lower_quartile``, ``upper_quartile``, ``min``, ``max``,
            ``share_positive``, ``constant_sign`` and ``zero_outside``.
        """
        pd = _pandas("frame")
        coef = self.replicates(method, output=output)
        low, lower, median, upper, high = np.quantile(coef, [0.0, 0.25, 0.5, 0.75, 1.0], axis=0)
        return pd.DataFrame(
            {
                "median": median,
                "lower_quartile": lower,
                "upper_quartile": upper,
                "min": low,
                "max": high,
                "share_positive": np.mean(coef > 0, axis=0),
                "constant_sign": (low > 0) | (high < 0),
                "zero_outside": (low > 0) | (high < 0),
            },
            index=pd.Index(self.names_of(method), name="feature"),
        )

    # ------------------------------------------------------------------ table
    def table(self) -> Any:
        """Median errors and mean ranks of the methods, as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            One row per method with the medians ``train_error`` and ``test_error``, and the mean ranks
            ``train_rank`` and ``test_rank``.
        """
        pd = _pandas("table")
        return pd.DataFrame(self._columns(), index=pd.Index(list(self.methods), name="method"))

    def _columns(self) -> dict[str, np.ndarray]:
        ranks = self.mean_ranks
        return {
            "train_error": np.median(self.train_error, axis=0),
            "test_error": np.median(self.test_error, axis=0),
            "train_rank": ranks["train"],
            "test_rank": ranks["test"],
        }

    def __str__(self) -> str:
        columns, constant = self._columns(), self.constant_sign
        width = max([len(name) for name in self.methods] + [6])
        plural = "s" if self.n_splits != 1 else ""
        lines = [
            f"{self.n_splits} random split{plural}: median {self.measure}, mean rank (1 is best), "
            f"coefficients of constant sign",
            f"{'method':<{width}}  {'train':>7}  {'test':>7}   train rank   test rank   constant sign",
        ]
        for j, name in enumerate(self.methods):
            sign = f"{constant[name].sum()} of {constant[name].size}" if name in constant else "-"
            lines.append(
                f"{name:<{width}}  {columns['train_error'][j]:>7.4g}  {columns['test_error'][j]:>7.4g}"
                f"   {columns['train_rank'][j]:>10.2f}   {columns['test_rank'][j]:>9.2f}   {sign:>13}"
            )
        return "\n".join(lines)

    __repr__ = __str__


def average_ranks(errors: np.ndarray) -> np.ndarray:
    """Ranks within each row, from 1 for the smallest; ties share their average, NaN ranks last.

    Examples
    --------
    >>> average_ranks(np.array([[0.2, 0.1, 0.2]]))
    array([[2.5, 1. , 2.5]])
    """
    return rankdata(np.where(np.isnan(errors), np.inf, errors), axis=1)


def features_first(coef: np.ndarray, n_features: int | None, *, rows: bool = False) -> np.ndarray:
    """Coefficients as (p,), or (p, classes) for several classes or outputs.

    Parameters
    ----------
    coef : ndarray of shape (p,), (1, p), (p, 1), (p, classes) or (classes, p)
        Coefficients, as estimators of either convention keep them.
    n_features : int or None
        The number p, where it is known: it tells the two apart, unless there are as many classes.
    rows : bool, default=False
        Where the shape does not tell: whether features are rows, as in pellucid, rather than columns, as in
        scikit-learn.
    """
    if coef.ndim == 2 and coef.shape[0] != coef.shape[1] and n_features in coef.shape:
        rows = coef.shape[0] == n_features
    if coef.ndim == 2 and not rows:
        coef = coef.T
    return coef[:, 0] if coef.ndim == 2 and coef.shape[1] == 1 else coef


def _pandas(method: str) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(f"{method} needs pandas: pip install pandas") from None
    return pandas
