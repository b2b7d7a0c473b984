"""A first look at pellucid: fit a model to data whose truth is known, read it, and write its report."""

import argparse

import numpy as np
from sklearn.datasets import make_friedman1

from pellucid import AdditiveKernelRegressor, build_report
from pellucid.effects import explain_row

_ROWS, _HELD_OUT = 1500, 500


def demo_command(out: str) -> None:
    """Run the demonstration."""
    X, y = make_friedman1(_ROWS + _HELD_OUT, n_features=10, noise=1.0, random_state=0)
    print(f"Friedman's function, {_ROWS} rows to learn from and {_HELD_OUT} to test on:")
    print("  y = 10 sin(π x0 x1) + 20 (x2 - ½)² + 10 x3 + 5 x4 + noise of standard deviation 1,")
    print("with x5 to x9 playing no part. The model is told none of this, and nothing is tuned.\n")
    model = AdditiveKernelRegressor().fit(X[:_ROWS], y[:_ROWS])
    print(model.summary(8))

    unseen, truth = X[_ROWS:], y[_ROWS:]
    error = float(np.sqrt(np.mean((model.predict(unseen) - truth) ** 2)))
    known = f"the noise alone has 1 and predicting the mean has {np.std(truth):.2f}"
    print(f"\nOn the test rows: RMSE {error:.2f}, where {known}.\n")
    print("Why the first test row is predicted as it is:")
    print(explain_row(model, unseen[:1]).top(6))

    path = build_report(model, X[:_ROWS], y[:_ROWS], title="Friedman's function").save(out).resolve()
    print(f"\nThe whole model, to look at and to try out, is in {path}")
    print(f"Open it in a browser, no network needed: {path.as_uri()}")


def main(arguments: list[str] | None = None) -> None:
    """Run the demonstration with nothing but the core installed."""
    parser = argparse.ArgumentParser(prog="python -m pellucid.cli.demo", description=__doc__)
    parser.add_argument("--report", default="report.html", help="where to write the report")
    demo_command(parser.parse_args(arguments).report)


if __name__ == "__main__":
    main()
