"""The errors and warnings of pellucid, each written for the person who meets it."""

__all__ = [
    "FidelityWarning",
    "GeometryWarning",
    "IllConditionedWarning",
    "IndefiniteKernelError",
    "ModelFileError",
    "NotEnoughMemoryError",
    "RateWarning",
    "SearchWarning",
    "UnseenLevelWarning",
    "WeightWarning",
]


class IndefiniteKernelError(ValueError):
    """A kernel matrix is not symmetric, or has eigenvalues below zero beyond rounding."""


class NotEnoughMemoryError(MemoryError):
    """A matrix would not fit in memory; raised before it is allocated."""


class ModelFileError(ValueError):
    """A model cannot be written to a file, or a file is not a model that can be read."""


class IllConditionedWarning(UserWarning):
    """A factorisation needed jitter on the diagonal, so results carry extra rounding error."""


class SearchWarning(UserWarning):
    """A search for parameters stopped before it had converged."""


class UnseenLevelWarning(UserWarning):
    """Rows have levels of a categorical column that no training row had, and count as average there."""


class FidelityWarning(UserWarning):
    """Coefficients are about to be used for prediction where they follow the kernel model poorly."""


class GeometryWarning(UserWarning):
    """Geometries, forces and energies do not go together: units, signs, the order of atoms, too few."""


class RateWarning(UserWarning):
    """Fractions were given where counts are expected, and are taken as rates."""


class WeightWarning(UserWarning):
    """Weights have a mean far from one, and are taken for precisions rather than counts."""
