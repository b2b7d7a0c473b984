"""Claim: dynamics with a force field conserve energy: 10 ps of ethanol at about 300 K through ASE, steps of
0.5 fs, drift of the total energy below 1 meV per atom and ps; frequencies are those of differences of forces.

    python benchmarks/force_dynamics.py          force field of 200 geometries (rMD17), 10 ps
    python benchmarks/force_dynamics.py 1000 10  of 1000 geometries
"""

import sys
import time

import numpy as np
from _measure import data_folder

try:
    import ase
    from ase.md.velocitydistribution import Stationary, ZeroRotation
    from ase.md.verlet import VelocityVerlet
    from ase.optimize import BFGS
    from ase.vibrations import Vibrations
except ImportError:
    sys.exit("This benchmark needs ASE: pip install pellucid[ase]")

import tempfile

from pellucid import ForceField, to_ase

STEP, KELVIN = 0.5, 300.0  # fs


def main(n: int = 200, picoseconds: float = 10.0) -> None:
    with np.load(data_folder() / "rmd17_ethanol.npz") as data:
        R, F, E, z = (data[key] for key in ("R_train", "F_train", "E_train", "z"))
    field = ForceField().fit(R[:n], F[:n], energies=E[:n], atoms=z)
    atoms = ase.Atoms(z, R[0])
    atoms.calc = to_ase(field)
    BFGS(atoms, logfile=None).run(fmax=1e-3, steps=500)
    print(f"relaxed: largest force {np.abs(atoms.get_forces()).max():.1e} eV/Å")

    with tempfile.TemporaryDirectory() as folder:
        vibrations = Vibrations(atoms, name=f"{folder}/v", delta=0.005)
        vibrations.run()
        waves = np.real(vibrations.get_frequencies())[6:]
    H = hessian(atoms)
    mass = np.repeat(atoms.get_masses(), 3)
    values = np.linalg.eigvalsh(H / np.sqrt(np.outer(mass, mass)))[6:]
    own = np.sqrt(values) / (2 * np.pi) * np.sqrt(ase.units._e / ase.units._amu) * 1e10 / ase.units._c / 100
    print(
        f"vibrations: {waves.min():.0f} to {waves.max():.0f} 1/cm, at most {np.abs(waves - own).max():.2f} "
        f"1/cm from those of differences with half the step"
    )

    free = 3 * len(atoms) - 6  # degrees of freedom: the molecule as a whole is at rest
    mass = atoms.get_masses()[:, None]
    atoms.set_momenta(np.sqrt(mass) * np.random.default_rng(0).normal(size=(len(atoms), 3)))
    Stationary(atoms)
    ZeroRotation(atoms)
    momenta = atoms.get_momenta()  # twice the energy of motion, as half of it goes into the bonds
    atoms.set_momenta(momenta * np.sqrt(free * ase.units.kB * KELVIN / atoms.get_kinetic_energy()))
    dynamics = VelocityVerlet(atoms, STEP * ase.units.fs)
    energy, kelvin = [], []

    def note() -> None:
        energy.append(atoms.get_total_energy())
        kelvin.append(2 * atoms.get_kinetic_energy() / (free * ase.units.kB))

    dynamics.attach(note, 20)
    start = time.perf_counter()
    dynamics.run(int(1000 * picoseconds / STEP))
    seconds = time.perf_counter() - start
    at = np.linspace(0.0, picoseconds, len(energy))
    drift = 1000 * np.polyfit(at, energy, 1)[0] / len(atoms)
    print(
        f"dynamics: {picoseconds:g} ps at {np.mean(kelvin):.0f} K in {seconds:.0f} s; "
        f"drift {drift:+.4f} meV per atom and ps, "
        f"standard deviation {1000 * np.std(energy) / len(atoms):.3f} meV per atom"
    )


def hessian(atoms: "ase.Atoms", h: float = 0.0025) -> np.ndarray:
    """Second derivatives of the energy by differences of forces."""
    rest = atoms.get_positions()
    H = np.empty((rest.size, rest.size))
    for k in range(rest.size):
        step = np.zeros(rest.size)
        step[k] = h
        forces = []
        for sign in (1, -1):
            atoms.set_positions(rest + sign * step.reshape(rest.shape))
            forces.append(atoms.get_forces().ravel())
        H[k] = (forces[1] - forces[0]) / (2 * h)
    atoms.set_positions(rest)
    return 0.5 * (H + H.T)


if __name__ == "__main__":
    main(*[float(a) if k else int(a) for k, a in enumerate(sys.argv[1:3])])
