"""ISK on California housing: the published ranking of components (Fig. 2) and partial dependences (Fig. 3).

    PELLUCID_DATA=folder python benchmarks/isk_california.py [picture.png]

Prints the leading components beside the published six, and draws their effects. Income, location and
occupancy lead in both; which of two correlated components gets the larger share depends on the scaling of the
inputs, which the publication does not state.
"""

import sys

from _sets import load

PUBLISHED = (
    "MedInc",
    "Latitude",
    "Longitude",
    "Latitude × Longitude",
    "AveOccup",
    "AveRooms",
)
SHOWN = ("MedInc", "AveOccup", "AveRooms", "Latitude", "Latitude × Longitude")


def main() -> None:
    from pellucid import ISKRegressor, plot_effect, plot_importance

    X, y = load("california")
    model = ISKRegressor(n_components=40).fit(X, y)
    importances = model.importances_
    print(model.summary())
    print("\npublished top six:", ", ".join(PUBLISHED))
    print("relative importance, before and after purification:")
    pure = model.effects(purify=True)
    spread = {name: _spread(effect) for name, effect in pure.items()}
    largest = max(spread.values())
    for name in importances.top(10):
        shown = f"{importances[name] / max(importances):.2f}"
        print(f"  {name:<24}{shown:>6}{spread.get(name, 0.0) / largest:>8.2f}")
    if len(sys.argv) > 1:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(2, 3, figsize=(13, 7.5), layout="constrained")
        plot_importance(model, ax=axes.flat[0])
        for ax, term in zip(axes.flat[1:], SHOWN, strict=True):
            plot_effect(model, term, ax=ax)
        figure.savefig(sys.argv[1], dpi=100)
        pyplot.close("all")


def _spread(effect) -> float:
    mean = (effect.density * effect.values).sum()
    return float((effect.density * (effect.values - mean) ** 2).sum()) ** 0.5


if __name__ == "__main__":
    main()
