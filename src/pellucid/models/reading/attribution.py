"""Exact attribution of any fitted model here: Shapley values of rows, Sobol shares of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.effects.explanation import scale_of, unwrapped
from pellucid.effects.kernel_shapley import kernel_shapley
from pellucid.effects.shapley import ShapleyValues
from pellucid.effects.sobol import SobolShares, kernel_sobol, term_sobol
from pellucid.effects.stability import features_first
from pellucid.effects.summary import counted
from pellucid.effects.term_shapley import Evaluate, shares_of_centred, term_shapley
from pellucid.kernels.base import as_rows, object_rows

_CENTRED = "the training data, features independent"


def shapley_values(
    model: Any, X: Any, background: Any = None, *, independent: bool | None = None
) -> ShapleyValues:
    r"""Exact Shapley values of the features: what each adds to a prediction, beside the mean prediction.

    The value of a coalition S of features is the mean linear predictor over the background while the features
    in S have the values of the row: :math:`v(S) = \mathrm{E}\, f(x_S, Z_{\bar S})`. The Shapley value of a
    feature is what it adds to a coalition, averaged over all orders in which the features can enter. Nothing
    is sampled: models of terms share out each surface, and kernels that are products over features have a
    closed form, which takes seconds for hundreds of features.

    Parameters
    ----------
    model : fitted estimator, pipeline or search
        A model of terms, a model with coefficients, or a kernel model. Kernels must be sums of products of
        kernels of single columns: RBF, Laplacian, Periodic, Categorical, Linear, AdditivePairs, any kernel of
        one column, and their sums and products. A Matern kernel of several columns at once is none.
    X : array-like or data frame of shape (m, n_features)
        Rows to explain.
    background : array-like or data frame of shape (b, n_features), optional
        Rows that the predictions are compared with. By default the training data with independent features:
        the terms of additive models are centred under them, and kernel models have kept their rows. ISK
        models and kernel models of landmarks need a background, and linear models that do not know their
        means.
    independent : bool, optional
        Whether Z has independent features, each distributed as in the background, rather than being a whole
        row of it. By default whole rows of a given background, and independent features without one.
        Independent features are much cheaper for kernels, as all rows of the background then count as one.

    Returns
    -------
    ShapleyValues
        ``base + values.sum(axis=1)`` is the linear predictor: the prediction for the squared loss, its
        logarithm for counts and amounts, log-odds or scores for classes; without offset.

    Notes
    -----
    Features that hang together are taken apart: values of other rows are put in place of those of the row, as
    for all interventional Shapley values. They tell what the model does, not what would happen in the world.

    References
    ----------
    Shapley (1953), A value for n-person games. Lundberg and Lee (2017), A unified
    approach to interpreting model predictions. Owen (1972), Multilinear extensions of games.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KernelRidge, shapley_values
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> model = KernelRidge().fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    >>> found = shapley_values(model, X[:5], background=X)
    >>> bool(np.allclose(found.predictor, model.predict(X[:5])))
    True
    >>> bool(np.isclose(found.base, model.predict(X).mean()))
    True
    """
    predict = model.predict
    predictions = np.asarray(predict(X))
    model, (rows, compared) = unwrapped(model, X, background)
    check_is_fitted(model)
    if independent is None:
        independent = background is None
    if hasattr(model, "contributions") and hasattr(model, "terms_"):
        values, base, words = _of_terms(model, rows, compared, independent)
    elif hasattr(model, "_decision") and not hasattr(model, "_linear_coef"):
        values, base, words = _of_kernel(model, rows, compared, independent)
    elif getattr(model, "coef_", None) is not None:
        values, base, words = _of_coefficients(model, rows, compared)
    else:
        raise ValueError(
            f"{type(model).__name__} is neither a sum of terms, nor linear, nor a kernel machine: "
            f"its Shapley values are not known exactly."
        )
    outputs = _outputs(model, values.shape[2]) if values.shape[2] > 1 else ()
    single = not outputs
    return ShapleyValues(
        _names(model, rows, values.shape[1]),
        values[:, :, 0] if single else values,
        float(base[0]) if single else base,
        _cells(rows, values.shape[1]),
        words,
        scale_of(model),
        outputs,
        predictions,
    )


def sobol_shares(model: Any, background: Any = None, *, verbose: int = 0) -> SobolShares:
    """Exact Sobol shares: how much of a model's variance each feature makes, alone and with others.

    Features count as independent, each distributed as in the background. Nothing is sampled: models of terms
    are split into parts that share no variance, and variances of product kernels are sums over pairs of
    training rows.

    Parameters
    ----------
    model : fitted estimator, pipeline or search
        As for :func:`shapley_values`.
    background : array-like or data frame of shape (b, n_features), optional
        Rows that tell how each feature is distributed; by default the training rows of a kernel model. Time
        grows with the square of their number for models with surfaces. For kernel models it is that of
        ``2 n² b p`` operations for n rows of the model and b of the background: with thousands of rows pass a
        few hundred as background, and of very many fit the model with landmarks.
    verbose : int, default=0
        With 1, progress and the time left are told in log files and notebooks as well as on terminals.

    Returns
    -------
    SobolShares
        Shares in the variance of the linear predictor. First-order shares and interactions sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KernelRidge, sobol_shares
    >>> X = np.random.default_rng(0).normal(size=(150, 3))
    >>> model = KernelRidge(alpha=1e-3).fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    >>> found = sobol_shares(model)
    >>> bool(found.first[0] > 0.4), bool(found.first[1] < 0.1), bool(found.total[1] > 0.3)
    (True, True, True)
    """
    model, (rows,) = unwrapped(model, background)
    check_is_fitted(model)
    if hasattr(model, "contributions") and hasattr(model, "terms_"):
        if rows is None:
            raise ValueError("Models of terms do not keep their training rows: pass them as background.")
        first, total, whole = term_sobol(terms_of(model), model.terms_, model._new_rows(rows))
    elif hasattr(model, "_decision") and not hasattr(model, "_linear_coef"):
        if model._precomputed:
            raise ValueError("A precomputed kernel does not say what each feature does.")
        Z, weight = background_of(model, rows)
        first, total, whole = kernel_sobol(
            model.kernel_, model.X_fit_, predictor_of(model)[0], Z, weight, verbose
        )
    elif getattr(model, "coef_", None) is not None:
        if rows is None:
            raise ValueError("Linear models do not keep their training rows: pass them as background.")
        values, _, _ = _of_coefficients(model, rows, rows)
        first = total = values.var(axis=0)
        whole = first.sum(axis=0)
    else:
        raise ValueError(
            f"{type(model).__name__} is neither a sum of terms, nor linear, nor a kernel machine: its Sobol "
            f"shares are not known exactly."
        )
    first, total = (np.divide(v, whole, out=np.zeros_like(v), where=whole > 0) for v in (first, total))
    names = _names(model, rows, len(first))
    if len(whole) == 1:
        return SobolShares(names, first[:, 0], total[:, 0], float(whole[0]))
    return SobolShares(names, first, total, whole)


def _of_terms(model: Any, X: Any, background: Any, independent: bool) -> tuple[np.ndarray, np.ndarray, str]:
    evaluate, intercept = terms_of(model), np.atleast_1d(np.asarray(model.intercept_, dtype=float))
    rows = model._new_rows(X)
    if background is None:
        if not independent:
            raise ValueError("Models of terms do not keep their training rows: pass them as background.")
        if not hasattr(model, "tables_") and any(len(term) == 2 for term in model.terms_):
            raise ValueError(
                f"The surfaces of {type(model).__name__} have curves of single features left in them: "
                f"pass rows, such as those of the training, as background."
            )
        values = shares_of_centred(evaluate(rows), model.terms_, rows.shape[1])
        return values, intercept, _CENTRED
    Z = model._new_rows(background)
    values, base = term_shapley(evaluate, model.terms_, rows, Z, independent=independent)
    return values, base + intercept, _words(len(Z), independent)


def terms_of(model: Any) -> Evaluate:
    """Values of the terms of a model at coded rows, with an axis of outputs."""
    if hasattr(model, "_terms_at"):
        return model._terms_at
    tables = model.tables_

    def evaluate(rows: np.ndarray) -> np.ndarray:
        parts = tables.contributions(rows)
        return parts if parts.ndim == 3 else parts[:, :, None]

    return evaluate


def _of_kernel(model: Any, X: Any, background: Any, independent: bool) -> tuple[np.ndarray, np.ndarray, str]:
    if model._precomputed:
        raise ValueError("A precomputed kernel does not say what each feature does.")
    rows, Z, weight = model._check_new_rows(X), *background_of(model, background)
    dual, intercept = predictor_of(model)
    values, base = kernel_shapley(model.kernel_, rows, model.X_fit_, dual, Z, weight, independent=independent)
    words = _CENTRED if background is None and independent else _words(len(Z), independent)
    return values, base + intercept, words


def background_of(model: Any, background: Any) -> tuple[np.ndarray, np.ndarray]:
    """Checked background rows of a kernel model with their weights; its training rows by default."""
    if background is not None:
        Z = model._check_new_rows(background)
        return Z, np.ones(len(Z))
    if model._centres is not None:
        raise ValueError("This model keeps only its landmarks: pass training rows as background.")
    return model.X_fit_, np.asarray(model.weight_fit_, dtype=float)


def predictor_of(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of the kernel at the rows of a model, and the intercept, of its linear predictor."""
    dual, intercept = model._dual, model._intercept
    if not hasattr(model, "scalings_"):
        return dual, intercept
    # a discriminant: log densities of the classes are linear in the scores
    A = model.scalings_ @ model.means_.T
    level = np.log(model.priors_) - 0.5 * np.sum(model.means_**2, axis=1)
    if len(level) == 2:
        A, level = A[:, [1]] - A[:, [0]], level[[1]] - level[[0]]
    return dual @ A, intercept @ A + level


def _of_coefficients(model: Any, X: Any, background: Any) -> tuple[np.ndarray, np.ndarray, str]:
    rows = np.asarray(as_rows(X), dtype=float)
    coef = np.asarray(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_, dtype=float)
    ours = type(model).__module__.split(".")[0] == "pellucid"
    coef = features_first(coef, rows.shape[1], rows=ours)
    coef = coef if coef.ndim == 2 else coef[:, None]
    mean, words = getattr(model, "feature_mean_", None), _CENTRED
    if background is not None:
        Z = np.asarray(as_rows(background), dtype=float)
        if Z.ndim != 2 or Z.shape[1] != rows.shape[1]:
            raise ValueError(f"background must have {rows.shape[1]} features like X, got shape {Z.shape}.")
        mean, words = Z.mean(axis=0), _words(len(Z), False)
    if mean is None:
        raise ValueError("This linear model does not know the means of its features: pass a background.")
    values = (rows - mean)[:, :, None] * coef
    return values, np.asarray(model.intercept_, dtype=float) + mean @ coef, words


def _words(n: int, independent: bool) -> str:
    return counted(n, "background row") + (", features independent" if independent else "")


def _names(model: Any, X: Any, p: int) -> tuple[str, ...]:
    names: Any = getattr(model, "feature_names_in_", [f"x{j}" for j in range(p)])
    return tuple(map(str, names))


def _cells(X: Any, p: int) -> np.ndarray | None:
    cells = np.asarray(object_rows(X), dtype=object)
    cells = cells[:, None] if cells.ndim == 1 else cells
    return cells if cells.shape[1] == p else None


def _outputs(model: Any, q: int) -> tuple[str, ...]:
    classes = getattr(model, "classes_", None)
    if classes is not None and len(classes) == q:
        return tuple(map(str, classes))
    return tuple(f"output {k}" for k in range(q))
