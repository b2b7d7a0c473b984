"""
Which atoms of a molecule matter
================================

A kernel ridge on molecules predicts their solubility in water, and colours the atoms by what they contribute.
"""

from matplotlib import pyplot as plt

from pellucid import KernelRidge, LooSearch, deletion_fidelity, plot_structure
from pellucid.kernels import MinMax

# %%
# Forty small molecules with the logarithm of their solubility in mol per litre, approximately.
data = """
CO 1.6, CCO 1.1, CCCO 0.6, CC(C)O 0.4, CCCCO 0.0, CC(C)CO 0.1, CCCCCO -0.6, CCCCCCO -1.2, CCCCCCCO -1.8,
CCCCCCCCO -2.4, OCCO 1.2, CC(O)CO 1.1, CCC -1.9, CCCC -2.6, CC(C)C -2.6, CCCCC -3.2, CCCCCC -3.8,
CCCCCCC -4.5, CCCCCCCC -5.2, C1CCCCC1 -3.1, c1ccccc1 -1.6, Cc1ccccc1 -2.2, CCc1ccccc1 -2.8, Cc1ccccc1C -2.8,
CCCc1ccccc1 -3.4, Oc1ccccc1 0.0, Cc1ccccc1O -0.6, Nc1ccccc1 -0.4, Clc1ccccc1 -2.4, Clc1ccccc1Cl -3.1,
Clc1ccc(Cl)cc1 -3.3, CC(=O)C 1.2, CCC(=O)C 0.5, CCCC(=O)C -0.2, CCOC(=O)C 0.0, CCCOC(=O)C -0.7, CCOCC -0.1,
ClCCl -0.6, ClC(Cl)Cl -1.2, ClC(Cl)(Cl)Cl -2.3
"""
pairs = [entry.split() for entry in data.replace("\n", " ").split(",")]
smiles, solubility = [p[0] for p in pairs], [float(p[1]) for p in pairs]

# %%
# How far fragments reach is chosen by exact leave-one-out.
search = LooSearch(KernelRidge(MinMax()), {"kernel__radius": [0, 1, 2]}).fit(smiles, solubility)
model = search.best_estimator_
print(search.best_params_, f"leave-one-out RMSE {model.loo_.rmse:.2f}")

# %%
# Fragments that matter over all molecules: the weight is the mean contribution where a fragment occurs.
print(model.motifs(8))

# %%
# Molecules that the model has not seen. The contributions of atoms and bonds sum to the prediction less the
# intercept.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
for ax, new in zip(axes, ("OCCCCCC", "CC(=O)c1ccccc1", "Clc1ccccc1O"), strict=True):
    one = model.part_contributions(new)
    plot_structure(one, ax=ax)
    print(new, f"{one.prediction:.2f} = {one.intercept:.2f} + {one.positions.round(2).tolist()}")

# %%
# Each atom is removed in turn, with all fragments that it belongs to. Contributions are read with a grain of
# salt where this number is low.
print(deletion_fidelity(model, smiles))
