"""A model as one SELECT statement: tables of its functions, a look-up per feature, a sum.

:mod:`statement` adds one common table expression after the other: input, points on the axes, values of the
functions there, terms, scores; :mod:`response` goes on to predictions, and :mod:`text` has the phrases of
SQL that mean the same to every engine.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pellucid.export.scoring.read import scoring_of
from pellucid.export.sql.statement import Statement

__all__ = ["to_sql"]


def to_sql(
    model: Any,
    table: str | Sequence[str] = "data",
    *,
    keep: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    contributions: bool = False,
    output: str = "prediction",
    path: str | os.PathLike[str] | None = None,
) -> str:
    """Write a model of terms or coefficients as one SELECT statement that scores the rows of a table.

    The statement is standard SQL with common table expressions, and the same for all engines; it is tested
    with SQLite and DuckDB. NULL is a missing value. Where the model has no place for missing values, the
    prediction of such a row is NULL. Categories may come as text, numbers or truth values, and dates have to
    come as days since 1970.

    Parameters
    ----------
    model : estimator
        A fitted additive, sparse additive, ISK or interpretable model, or one with a linear kernel.
    table : str or sequence of str, default="data"
        Name of the table; a sequence for a qualified name such as ``("schema", "table")``.
    keep : sequence of str
        Columns of the table to pass on, such as a key: without one, rows cannot be told apart in the result.
    columns : mapping, optional
        Names of the columns in the table by names of features, where they differ.
    contributions : bool, default=False
        Whether to add one column per term, in the unit of the scores.
    output : {"prediction", "score"}, default="prediction"
        "score" leaves out everything that needs the function EXP, which not every build of SQLite has.
        (ISK models need COS.)
    path : str or path, optional
        File to write.

    Returns
    -------
    str
        The statement, without a semicolon. Its columns are those kept, then ``prediction``; for classifiers
        also ``probability_<class>`` (of the second of two classes, or of each class) or scores; then
        contributions.

    Examples
    --------
    >>> import sqlite3, numpy as np, pellucid
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> model = pellucid.SparseAdditiveRegressor(0.01, n_basis=4).fit(X, X[:, 0] ** 2)
    >>> db = sqlite3.connect(":memory:")
    >>> _ = db.execute("CREATE TABLE data (x0, x1)")
    >>> _ = db.execute("INSERT INTO data VALUES (0.5, 0.0)")
    >>> [(prediction,)] = db.execute(pellucid.to_sql(model)).fetchall()
    >>> bool(np.isclose(prediction, model.predict([[0.5, 0.0]])[0]))
    True
    """
    if output not in ("prediction", "score"):
        raise ValueError(f"output must be 'prediction' or 'score', got {output!r}.")
    scoring, columns = scoring_of(model, "to_sql"), dict(columns or {})
    unknown = sorted(set(columns) - {feature.name for feature in scoring.features})
    if unknown:
        raise ValueError(f"columns names features that the model does not have: {unknown}.")
    statement = Statement(scoring, [table] if isinstance(table, str) else list(table), list(keep), columns)
    text = statement.text(contributions=contributions, exponential=output == "prediction")
    if path is not None:
        Path(path).write_text(text + ";\n", encoding="utf-8")
    return text
