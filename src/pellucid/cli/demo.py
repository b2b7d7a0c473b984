"""A first look at pellucid: fit, print and draw a model of data that come with scikit-learn."""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from pellucid import KernelRidge, LooSearch, plot_loo


def main(arguments: list[str] | None = None) -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(prog="python -m pellucid.cli.demo", description=__doc__)
    parser.add_argument(
        "--figure", type=Path, default=Path("pellucid-demo.png"), help="where to save the figure"
    )
    options = parser.parse_args(arguments)

    data = load_diabetes(scaled=False)
    X, y, names = data.data, data.target, data.feature_names
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    print("Progression of diabetes after a year:", end=" ")
    print(f"{len(y_train)} patients to learn from, {len(y_test)} to test on.")
    print("Inputs are raw: nothing was scaled, no parameter was set.\n")

    model = KernelRidge().fit(X_train, y_train)
    print(model.summary())
    error = _rmse(model, X_test, y_test)
    inside = _share_inside(model.predict_interval(X_test, coverage=0.9), y_test)
    print(f"\nOn the test patients: RMSE {error:.1f}; 90 % intervals hold {100 * inside:.0f} % of them.\n")

    learned = LooSearch(KernelRidge(), ard=True).fit(X_train, y_train)
    scales = np.asarray(learned.best_estimator_.kernel_.get_params()["length_scale"]) / X_train.std(axis=0)
    print("One length-scale per feature, learned by descent on the leave-one-out error.")
    print("Short scales mark the features that matter (unit: standard deviations):")
    for c in np.argsort(scales):
        print(f"  {names[c]:<4} {scales[c]:8.1f}")
    print(f"Leave-one-out RMSE {learned.loo_.rmse:.1f}, test RMSE {_rmse(learned, X_test, y_test):.1f}.\n")

    print("Average marginal effects of the first model:")
    print(replace(model.marginal_effects(), names=names))
    _draw(model, options.figure)
    print(f"\nFigure saved to {options.figure}")


def _rmse(model: KernelRidge | LooSearch, X: np.ndarray, y: np.ndarray) -> float:
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def _share_inside(interval: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean((interval[:, 0] <= y) & (y <= interval[:, 1])))


def _draw(model: KernelRidge, path: Path) -> None:
    ax = plot_loo(model)
    ax.figure.set_size_inches(9.0, 4.2)
    left, right = ax.figure.add_gridspec(1, 2)
    ax.set_subplotspec(left)
    plot_loo(model, "path", ax=ax.figure.add_subplot(right))
    ax.figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
