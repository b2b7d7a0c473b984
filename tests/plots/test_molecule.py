"""A molecule drawn with the forces along its pairs of atoms."""

import numpy as np
import pytest
from force_molecules import ATOMS, REST, forces, geometries

from pellucid import ForceField, plot_molecule

R = geometries(12)


@pytest.mark.parametrize(("atoms", "names"), [(ATOMS, "N0 H1 H2 H3"), (None, "0 1 2 3")])
def test_atoms_and_the_strongest_pairs(atoms, names):
    model = ForceField("rbf").fit(R, forces(R), atoms=atoms)
    ax = plot_molecule(model, REST, top=3)
    assert [text.get_text() for text in ax.texts] == names.split()
    found = model.explain(REST)
    strength = np.sort(np.abs(found.tension))[-3:]
    widths = [line.get_linewidth() for line in ax.lines]
    np.testing.assert_allclose(widths, 1.0 + 7.0 * strength / strength.max())


def test_one_geometry_at_a_time():
    model = ForceField("rbf").fit(R, forces(R), atoms=ATOMS)
    with pytest.raises(ValueError, match="one geometry"):
        plot_molecule(model, R[:2])


def test_units_are_named():
    model = ForceField("rbf").fit(R, forces(R), atoms=ATOMS)
    ax = plot_molecule(model, REST, energy_unit="kcal/mol")
    assert ax.get_title(loc="left").endswith("kcal/mol")
    assert "kcal/mol/Å" in ax.figure.axes[1].get_ylabel()
