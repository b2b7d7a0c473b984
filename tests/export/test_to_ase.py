"""A force field in the Atomic Simulation Environment: units, relaxation, dynamics, vibrations."""

import numpy as np
import pytest
from force_molecules import ATOMS, REST, energy, forces, geometries

from pellucid import ForceField, KernelRidge, to_ase

ase = pytest.importorskip("ase")


@pytest.fixture(scope="module")
def field():
    R = geometries(120, spread=0.08)
    return ForceField().fit(R, forces(R), energies=energy(R), atoms=ATOMS)


def test_units(field):
    atoms = ase.Atoms("NHHH", REST)
    atoms.calc = to_ase(field, energy="kcal/mol")
    e, f = field.predict(REST)
    assert atoms.get_potential_energy() == pytest.approx(e[0] * ase.units.kcal / ase.units.mol)
    np.testing.assert_allclose(atoms.get_forces(), f[0] * ase.units.kcal / ase.units.mol, rtol=1e-6)
    nanometres = ase.Atoms("NHHH", 10 * REST)
    nanometres.calc = to_ase(field, energy="eV", length=10.0)
    np.testing.assert_allclose(nanometres.get_forces(), f[0] / 10.0, rtol=1e-9)
    with pytest.raises(ValueError, match="energy must be one of"):
        to_ase(field, energy="cal")


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="needs a ForceField, got KernelRidge"):
        to_ase(KernelRidge())


def test_other_molecules_are_refused(field):
    atoms = ase.Atoms("HNHH", REST)
    atoms.calc = to_ase(field)
    with pytest.raises(ValueError, match="another order"):
        atoms.get_potential_energy()


def test_relaxation_dynamics_and_vibrations(field, tmp_path):
    from ase.md.verlet import VelocityVerlet
    from ase.optimize import BFGS
    from ase.vibrations import Vibrations

    atoms = ase.Atoms("NHHH", REST)
    atoms.calc = to_ase(field, energy="eV")
    assert BFGS(atoms, logfile=None).run(fmax=1e-4, steps=200)
    assert np.abs(forces(atoms.get_positions()[None])).max() < 0.02

    vibrations = Vibrations(atoms, name=str(tmp_path / "v"), delta=0.01)
    vibrations.run()
    modes = np.real(vibrations.get_energies())
    assert np.sum(modes > 1e-3) == 6

    speed = np.sqrt(atoms.get_masses() * 50 * ase.units.kB)[:, None]  # at 50 K
    atoms.set_momenta(speed * np.random.default_rng(0).normal(size=(4, 3)))
    dynamics = VelocityVerlet(atoms, 0.25 * ase.units.fs)
    start = atoms.get_total_energy()
    dynamics.run(200)
    assert abs(atoms.get_total_energy() - start) < 1e-4


def test_without_the_package(field, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ase.calculators.calculator", None)
    with pytest.raises(ImportError, match=r"pip install pellucid\[ase\]"):
        to_ase(field)
