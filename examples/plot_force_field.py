"""
A force field of a small molecule
=================================

Learn the forces on the atoms of a molecule from a few dozen geometries, get energies that the forces
conserve, and see between which atoms they arise.
"""

import numpy as np
from matplotlib import pyplot as plt

from pellucid import ForceField, plot_molecule

# %%
# A molecule with a known energy, so that errors can be seen: a nitrogen with three hydrogens on Morse
# springs, which repel each other. A quantum-mechanical program would give the same kind of data: positions in
# Å, energies in kcal/mol, forces in kcal/mol/Å.
REST = np.array([[0.0, 0.0, 0.0], [1.1, 0.0, 0.1], [-0.4, 1.0, 0.0], [-0.3, -0.5, 1.0]])
a, b = np.triu_indices(4, 1)


def energy(R):
    d = np.linalg.norm(R[:, a] - R[:, b], axis=2)
    return np.where(a == 0, 100 * (1 - np.exp(-1.5 * (d - 1.1))) ** 2, 30 / d).sum(axis=1)


def forces(R, h=1e-5):
    steps = h * np.eye(12).reshape(12, 4, 3)
    return -np.stack([(energy(R + s) - energy(R - s)) / (2 * h) for s in steps], axis=1).reshape(R.shape)


rng = np.random.default_rng(0)
train = REST + 0.1 * rng.normal(size=(200, 4, 3))
test = REST + 0.1 * rng.normal(size=(300, 4, 3))

# %%
# Length-scale and ridge are chosen by leaving one geometry out, exactly and from one factorisation; the
# six permutations of the hydrogens are found from the geometries.
model = ForceField().fit(train, forces(train), energies=energy(train), atoms=["N", "H", "H", "H"])
print(model.summary())

# %%
# How the error falls with the number of geometries, with and without the symmetry of the hydrogens:
sizes = (10, 20, 40, 80, 160)
truth = forces(test)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for label, symmetries in (("with symmetries", "auto"), ("without", None)):
    fields = [
        ForceField(symmetries=symmetries).fit(train[:n], forces(train[:n]), atoms=["N", "H", "H", "H"])
        for n in sizes
    ]
    left.loglog(sizes, [np.abs(f.predict(test)[1] - truth).mean() for f in fields], "o-", label=label)
left.set(
    xlabel="training geometries", ylabel="mean absolute error of forces (kcal/mol/Å)", title="Learning curve"
)
left.legend(frameon=False)
found = model.predict(test)[1]
right.plot(truth.ravel(), found.ravel(), ".", markersize=2)
right.axline((0, 0), slope=1, color="0.5", linewidth=1)
right.set(xlabel="true force (kcal/mol/Å)", ylabel="predicted force (kcal/mol/Å)")
right.set_title(
    f"mean absolute error {np.abs(found - truth).mean():.2g}, 1 − R² = {1 - model.score(test, truth):.0e}"
)

# %%
# Forces arise along pairs of atoms, and the parts add up to the prediction exactly. Here one bond is
# stretched: it pulls.
stretched = REST.copy()
stretched[1] *= 1.25
plot_molecule(model, stretched, energy_unit="kcal/mol")
plt.show()
