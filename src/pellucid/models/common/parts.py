"""Reading kernel models of strings, graphs and molecules by the parts of these objects."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.data.unseen import collecting, tells_unseen
from pellucid.effects.deletion import DeletionFidelity, measure_deletion
from pellucid.effects.motifs import Motifs, find_motifs
from pellucid.effects.parts import counts_parts, explain_parts, without_parts
from pellucid.kernels.checks import whole

_MOST_ROWS = 5000  # rows beyond which motifs have no standard errors, as these need the kernel matrix


class PartsReading:
    """Mixin for models with a kernel, dual coefficients and training rows."""

    kernel_: Any
    X_fit_: np.ndarray
    _dual: np.ndarray
    _intercept: np.ndarray

    @tells_unseen
    def part_contributions(self, X: Any, *, output: Any = None) -> Any:
        """Say which parts of strings, graphs or molecules make their predictions.

        Each prediction is an exact sum over words, subtrees or fragments, and over the letters, or atoms and
        bonds, that these cover. For normalised kernels the sum is exact given the norm of the object, and for
        ratios such as Tanimoto's given the denominators: removing a part would change these as well, see
        :func:`pellucid.deletion_fidelity`. Kernels that are added and count no parts are one entry each;
        inside a product parts have no contribution of their own, which is an error.

        Parameters
        ----------
        X : one string, graph or molecule, or rows as for ``predict``
            What to explain.
        output : int or class, optional
            The target or class whose score is explained. By default the class that is predicted, or the first
            target; with two classes the score is for the second of them.

        Returns
        -------
        PartContributions or list of PartContributions
            One for one object, a list for rows.
        """
        check_is_fitted(self)
        _require_training_rows(self)
        single = isinstance(X, str | dict) or hasattr(X, "GetNumAtoms") or hasattr(X, "adj")
        single = single or hasattr(X, "edge_labels")
        rows = self._check_new_rows([X] if single else X)  # type: ignore[attr-defined]
        with collecting():  # what training did not have is noted already
            outputs = self._outputs_of([X] if single else X, len(rows), output)
        names: list[str] = self._outputs  # type: ignore[attr-defined]
        out: list[Any] = [None] * len(rows)
        for q in np.unique(outputs):
            chosen = np.flatnonzero(outputs == q)
            found = explain_parts(
                self.kernel_,
                rows[chosen],
                self.X_fit_,
                self._dual[:, q],
                float(self._intercept[q]),
                names[q] if names else "",
            )
            for i, one in zip(chosen, found, strict=True):
                out[i] = one
        return out[0] if single else out

    def _outputs_of(self, X: Any, n_rows: int, output: Any) -> np.ndarray:
        """Number of the score that is explained, for each row."""
        n_outputs, classes = len(self._intercept), getattr(self, "classes_", None)
        if output is None and classes is not None and n_outputs > 1:
            return np.searchsorted(classes, np.asarray(self.predict(X)))  # type: ignore[attr-defined]
        number = 0
        if output is not None and classes is not None and n_outputs > 1:
            found = np.flatnonzero(np.asarray(classes) == output)
            if not len(found):
                known = np.asarray(classes).tolist()
                raise ValueError(f"output must be one of the classes {known}, got {output!r}.")
            number = int(found[0])
        elif output is not None and classes is None:
            number = int(output)
            if not 0 <= number < n_outputs:
                raise ValueError(f"output must be below {n_outputs}, got {output!r}.")
        return np.full(n_rows, number)

    def motifs(self, n_motifs: int = 20, *, output: Any = None, least: int = 3) -> Motifs:
        """Parts that matter most over all training objects.

        The weight of a part is its mean contribution to the predictions of the training objects that have it.
        Ridge models know all fits that leave one object out: these give its standard error, by the jackknife,
        and its stability. Models with other losses, and those of more than 5000 rows, have the weights alone.

        Parameters
        ----------
        n_motifs : int, default=20
            How many to list.
        output : int or class, optional
            As in :meth:`part_contributions`, by default the first target or class.
        least : int, default=3
            Parts of fewer objects are left out.

        Returns
        -------
        Motifs
        """
        check_is_fitted(self)
        n_motifs, least = whole(n_motifs, "n_motifs"), whole(least, "least")
        classes = getattr(self, "classes_", None)
        if output is None and classes is not None:
            output = classes[0]
        q = int(self._outputs_of(None, 1, output)[0])
        deletion = self._part_deletion(q) if len(self.X_fit_) <= _MOST_ROWS else None
        return find_motifs(
            self.kernel_, self.X_fit_, self._dual[:, q], deletion, n_motifs=n_motifs, least=least
        )

    def _part_deletion(self, output: int) -> Any:
        """How linear functions of the dual coefficients change as rows leave; unknown by default."""
        return None

    @property
    def motifs_(self) -> Motifs:
        """The twenty strongest parts over all training objects; see :meth:`motifs`."""
        check_is_fitted(self)
        if not counts_parts(self.kernel_):
            raise AttributeError(without_parts(self.kernel_))
        return self.motifs()


def deletion_fidelity(model: Any, X: Any, *, how: str = "mask", output: int = 0) -> DeletionFidelity:
    """Compare the contributions of letters or atoms with the exact effect of removing them.

    Parameters
    ----------
    model : fitted kernel model of strings, graphs or molecules
        The model.
    X : rows as for ``predict``
        Objects whose places are removed, one at a time.
    how : {"mask", "mutate"}, default="mask"
        ``"mask"`` removes all parts that cover the place, as if the letter or atom were unknown;
        ``"mutate"``, for sequences, takes the mean over all other letters in its place.
    output : int, default=0
        Which score, where there are several.

    Returns
    -------
    DeletionFidelity
        Its ``r2`` says how well contributions tell what removal does.

    Examples
    --------
    >>> from pellucid import KernelRidge, deletion_fidelity
    >>> from pellucid.kernels import Spectrum
    >>> words = ["banana", "ananas", "bandana", "cabana", "panama", "savanna"]
    >>> model = KernelRidge(Spectrum(k=1, normalise=False), alpha=1.0).fit(
    ...     words, [3, 3, 3, 3, 3, 3.5]
    ... )
    >>> round(deletion_fidelity(model, words).r2, 6)
    1.0
    """
    check_is_fitted(model)
    _require_training_rows(model)
    rows = model._check_new_rows(X)
    return measure_deletion(model.kernel_, rows, model.X_fit_, model._dual[:, output], how=how)


def _require_training_rows(model: Any) -> None:
    """Raise if there are none from which contributions could be read."""
    if len(model.X_fit_) == 0:
        raise ValueError(
            "Contributions of parts are read from the training rows, and this model was made from sums by "
            "update or merge, so it has none. refit(X, y) with all rows gives a model with them."
        )
