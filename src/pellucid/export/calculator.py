"""A force field as a calculator of the Atomic Simulation Environment (extra ``ase``)."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.models import ForceField

_UNITS = {
    "eV": 1.0,
    "kcal/mol": 0.0433641153087705,
    "kJ/mol": 0.010364269656262174,
    "Hartree": 27.211386024367243,
}
"""Energies in electronvolts."""


def to_ase(model: ForceField, *, energy: str = "kcal/mol", length: float = 1.0) -> Any:
    """Return an ASE calculator that takes energies and forces from a force field.

    Parameters
    ----------
    model : ForceField
        A fitted force field.
    energy : {"kcal/mol", "eV", "kJ/mol", "Hartree"}, default="kcal/mol"
        Unit of the energies that it was fitted to. ASE works in eV.
    length : float, default=1.0
        Unit of its positions in Å.

    Returns
    -------
    ase.calculators.calculator.Calculator
        With ``energy`` and ``forces``, for relaxation, dynamics and vibrations. Atoms of another molecule, or
        in another order than in training, are refused.
    """
    try:
        from ase.calculators.calculator import Calculator, all_changes
    except ImportError:
        raise ImportError("Calculators need ASE: pip install pellucid[ase]") from None
    if not isinstance(model, ForceField):
        raise TypeError(f"A calculator needs a ForceField, got {type(model).__name__}.")
    check_is_fitted(model)
    if energy not in _UNITS:
        raise ValueError(f"energy must be one of {', '.join(_UNITS)}; got {energy!r}.")
    unit = _UNITS[energy]

    class KernelForceField(Calculator):
        """Energies in eV and forces in eV/Å of a pellucid force field."""

        implemented_properties = ["energy", "forces"]  # noqa: RUF012

        def calculate(
            self, atoms: Any = None, properties: Any = ("energy",), system_changes: Any = all_changes
        ) -> None:
            super().calculate(atoms, properties, system_changes)
            molecule: Any = self.atoms
            numbers = molecule.get_atomic_numbers() if model.atoms_.any() else None
            E, F = model.predict(molecule.get_positions()[None] / length, atoms=numbers)
            self.results = {"energy": float(E[0]) * unit, "forces": np.asarray(F[0]) * unit / length}

    return KernelForceField()
