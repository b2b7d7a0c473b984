"""
Changing an effect by hand
==========================

A curve that is right on average can be wrong where it matters: few rows, a rule that came later, an effect
that nobody wants to rely on. An additive kernel machine is a sum of tables, so a part of one of them can be
set, moved or smoothed, and the model says in its log that this was done. ``pellucid serve`` has the same on a
page.
"""

# %%
# Premiums that should not fall with age
# --------------------------------------
# Claims fall again beyond 70, but few people are that old, and the curve follows them.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pellucid import AdditiveKernelRegressor, edit_by_hand, plot_effect

rng = np.random.default_rng(0)
age = 18 + rng.gamma(8.0, 5.0, 600)
data = pd.DataFrame({"age": age, "town": rng.choice(["Ulm", "Bonn"], 600)})
cost = 2 + np.sin((age - 35) / 22) + 0.5 * (data["town"] == "Ulm") + 0.4 * rng.normal(size=600)
model = AdditiveKernelRegressor().fit(data, cost)

# %%
# From 70 on the effect is set to what it is at 70; then a third model fits the other terms again around that.

effect = model.effects_["age"]
at_70 = float(np.interp(70, effect.grids[0].points, effect.values))
edited = edit_by_hand(model, "age", where=(70, None), to=at_70)
again = edited.edit(data, cost, freeze=["age"])

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
for ax, shown, title in zip(axes, (model, again), ("as fitted", "from 70 on by hand"), strict=True):
    plot_effect(shown, "age", ax=ax)
    ax.set_title(title)

# %%
# What was done stays with the model, in its summary, its report and its file.

for edit in again.edits_:
    print(edit)
