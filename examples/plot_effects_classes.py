"""
Effects on several classes
==========================

With more than two classes every term has one function per class; they are drawn as lines in one picture.
"""

from sklearn.datasets import load_wine

from pellucid import SparseAdditiveClassifier, plot_contributions, plot_effect, plot_effects

# %%
# Three cultivars of grape, told apart by chemistry. The classifier is sparse: most features have no function.
data = load_wine(as_frame=True)
X, cultivar = data.data, data.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
model = SparseAdditiveClassifier(0.02, n_basis=4).fit(X, cultivar)
print(f"{int(model.selected_.sum())} of {X.shape[1]} features are used")

# %%
# Where a line is high, the feature speaks for that class.
plot_effects(model, 4, columns=2)

# %%
# One class alone.
plot_effect(model, "proline", output="Barolo")

# %%
# What speaks for the class that is predicted for one wine, term by term.
plot_contributions(model, X.iloc[[100]])
