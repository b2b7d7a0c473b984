"""
Kernel Fisher discriminant
==========================

Two variates that separate three cultivars of wine, and what leave-one-out says about them.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_wine

from pellucid import KernelFisherDiscriminant

data = load_wine()
model = KernelFisherDiscriminant().fit(data.data, data.target)
print(model.summary())

# %%
# Filled: each wine where the fitted model puts it. Open: where the model that never saw it does. A
# discriminant that fooled itself would show a # gap between the two.
fitted = model.transform(data.data)
left_out = model.loo_.predictions @ model.scalings_
figure, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
for label, color in enumerate(["#0072b2", "#d55e00", "#009e73"]):
    rows = data.target == label
    ax.scatter(*fitted[rows].T, s=16, color=color, label=data.target_names[label])
    ax.scatter(*left_out[rows].T, s=30, facecolors="none", edgecolors=color, linewidths=0.7)
ax.set(xlabel="variate 1", ylabel="variate 2")
ax.legend(frameon=False)
