"""
Which letters of a sequence matter
==================================

A classifier of DNA sequences learns a motif that was planted in half of them, and shows where it found it.
"""

import numpy as np
from matplotlib import pyplot as plt

from pellucid import KernelRidgeClassifier, LooSearch, deletion_fidelity, plot_sequence
from pellucid.kernels import GappedKmer

# %%
# Two hundred random sequences of fifty letters. Half of them have the box ``TATAAT`` somewhere, in every
# other case with a letter changed.
rng = np.random.default_rng(0)
sequences, labels = [], []
for i in range(200):
    letters = rng.choice(list("ACGT"), 50)
    if i % 2:
        box = np.array(list("TATAAT"))
        if i % 4 == 1:
            box[rng.integers(6)] = rng.choice(list("ACGT"))
        at = rng.integers(5, 40)
        letters[at : at + 6] = box
    sequences.append("".join(letters))
    labels.append("promoter" if i % 2 else "plain")

# %%
# Words with gaps recognise a motif of which a letter varies. How many letters are read is chosen by exact
# leave-one-out.
search = LooSearch(KernelRidgeClassifier(GappedKmer(length=6)), {"kernel__k": [3, 4, 5, 6]})
search.fit(sequences, labels)
model = search.best_estimator_
print(search.best_params_, f"leave-one-out error rate {model.loo_.error_rate:.2f}")

# %%
# The parts that matter over all sequences, with standard errors and stability from the leave-one-out fits.
# Scores are for the second class, ``promoter``.
print(model.motifs(8))

# %%
# One prediction is a sum over its parts, and over its letters. Here are sequences with a whole box, with a
# changed one, and with none.
print(model.part_contributions(sequences[3]))
figure, axes = plt.subplots(3, 1, figsize=(10, 6.4), layout="constrained")
for ax, number in zip(axes, (3, 5, 2), strict=True):
    plot_sequence(model.part_contributions(sequences[number]), ax=ax)

# %%
# Do these letters matter as much as it seems? Each is removed in turn, exactly.
print(deletion_fidelity(model, sequences))
