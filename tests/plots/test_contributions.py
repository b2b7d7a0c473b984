"""One prediction as a waterfall, comparisons of models, names; and the explanation behind them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import KernelRidge, plot_comparison, plot_contributions
from pellucid.effects import Explanation, Stability, explain_row
from pellucid.plots.names import labels, shorten, wrapped
from pellucid.plots.style import BLUE, ORANGE

colors = pytest.importorskip("matplotlib.colors")
ROW = np.array([[50.0, "house", 2.0]], dtype=object)


def ticks(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_bars_go_from_the_intercept_to_the_sum(model):
    ax = plot_contributions(model, ROW)
    assert [bar.get_width() for bar in ax.patches] == [2.0, 1.0, -1.0]
    assert [bar.get_x() for bar in ax.patches] == [10.0, 12.0, 13.0]
    assert [colors.to_hex(bar.get_facecolor()) for bar in ax.patches] == [BLUE, BLUE, ORANGE]
    assert ticks(ax) == ["age × dose = 50, 2", "age = 50", "kind = house"]
    assert [line.get_xdata()[0] for line in ax.lines] == [10.0, 12.0]
    assert ax.get_title(loc="left") == "Predicted 12\nfrom 10 (intercept) to 12"


def test_small_contributions_are_added_up():
    values = np.array([0.1, -3.0, 0.2, 2.0, 0.3])
    whole = Explanation(tuple("abcde"), values, 1.0)
    ax = plot_contributions(whole, top=2)
    assert ticks(ax) == ["b", "d", "3 other terms"]
    assert np.allclose([bar.get_width() for bar in ax.patches], [-3.0, 2.0, 0.6])
    assert whole.top(2).total == pytest.approx(whole.total)
    assert whole.top(4).names == ("b", "d", "e", "c", "a")  # one term left over is shown as itself


def test_the_class_that_is_predicted_or_another(classifier):
    explanation = explain_row(classifier, ROW)
    assert explanation.output == "c2"
    assert np.allclose(explanation.contributions, [3.0, -3.0, 6.0])
    assert explanation.intercept == 2.0
    assert np.allclose(explain_row(classifier, ROW, output="c0").contributions, [1.0, -1.0, 2.0])
    assert explain_row(classifier, ROW, output=1).output == "c1"
    with pytest.raises(ValueError, match="no output 'x'; there are c0, c1, c2"):
        explain_row(classifier, ROW, output="x")
    assert plot_contributions(classifier, ROW).get_xlabel() == "score of the class (c2)"


def test_coefficients_add_up_whatever_the_reference():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(5.0, 1.0, size=(30, 3)), columns=["u", "v", "w"])
    y = X @ [1.0, -2.0, 0.5] + 3
    fitted = Ridge(0.1).fit(X, y)
    for reference in (None, X, X.mean().to_numpy()):
        explanation = explain_row(fitted, X.iloc[[4]], reference=reference)
        assert explanation.total == pytest.approx(fitted.predict(X.iloc[[4]])[0])
        assert explanation.names == ("u", "v", "w")
    centred = explain_row(fitted, X.iloc[4], reference=X)  # a Series
    assert np.allclose(centred.contributions, fitted.coef_ * (X.iloc[4] - X.mean()))
    pipe = make_pipeline(StandardScaler(), Ridge(0.1)).fit(X, y)
    assert explain_row(pipe, X.iloc[[4]]).total == pytest.approx(pipe.predict(X.iloc[[4]])[0])
    labels = np.arange(30) % 3
    several = LogisticRegression().fit(X, labels)
    for k in range(3):
        total = explain_row(several, X.iloc[[7]], output=k).total
        assert total == pytest.approx(several.decision_function(X.iloc[[7]])[0, k])
    binary = LogisticRegression().fit(X, labels > 0)
    explanation = explain_row(binary, X.iloc[[7]])
    assert explanation.total == pytest.approx(binary.decision_function(X.iloc[[7]])[0])
    assert explanation.output == "True"
    with pytest.raises(ValueError, match="3 features like the row, got 2"):
        explain_row(fitted, X.iloc[[4]], reference=[1.0, 2.0])


def test_what_cannot_be_explained(model):
    with pytest.raises(ValueError, match="neither terms nor coefficients"):
        explain_row(KernelRidge(alpha=1.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]), [[1.0]])
    with pytest.raises(ValueError, match="One row"):
        plot_contributions(model, np.vstack([ROW, ROW]))
    with pytest.raises(ValueError, match="Pass the row"):
        plot_contributions(model)
    with pytest.raises(ValueError, match="top"):
        plot_contributions(model, ROW, top=0)


def test_an_explanation_prints():
    text = str(Explanation(("u", "v"), np.array([1.0, -2.0]), 3.0, inputs=("5", "")))
    assert [line.split() for line in text.splitlines()] == [
        ["intercept", "3"],
        ["v", "-2"],  # the largest first
        ["u", "=", "5", "+1"],
        ["sum", "2"],
    ]


# ---------------------------------------------------------------- comparisons

SCORES = {"a": [0.5, 0.6, 0.9], "b": [0.6, 0.7, 0.8], "c": [0.1, 0.2, 0.3]}


def dots(ax):
    return [np.sort(c.get_offsets()[:, 0]) for c in ax.collections]


def test_models_are_ordered_by_their_ranks():
    ax = plot_comparison(SCORES, measure="R²")
    assert [t.split("\n")[0] for t in ticks(ax)] == ["c", "a", "b"]
    assert [t.split("\n")[1] for t in ticks(ax)] == ["mean rank 3.00", "mean rank 1.67", "mean rank 1.33"]
    assert [list(d) for d in dots(ax)] == [sorted(SCORES[k]) for k in "cab"]
    medians = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert medians == [0.2, 0.6, 0.7]
    assert ax.get_xlabel() == "R², larger is better"
    other = plot_comparison(SCORES, lower_is_better=True)
    assert [t.split("\n")[0] for t in ticks(other)] == ["b", "a", "c"]


def test_frames_and_stability():
    pandas = pytest.importorskip("pandas")
    frame = plot_comparison(pandas.DataFrame(SCORES))
    assert ticks(frame) == ticks(plot_comparison(SCORES))
    errors = np.column_stack(list(SCORES.values()))
    stable = Stability(list(SCORES), dict.fromkeys(SCORES), errors, errors, ["x"], measure="RMSE")
    ax = plot_comparison(stable)
    assert [t.split("\n")[0] for t in ticks(ax)] == ["b", "a", "c"]
    assert ax.get_xlabel() == "test error (RMSE), smaller is better"


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0], "mapping"),
        ({}, "one score per split"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "one score per split"),
        ({"a": [np.nan]}, "NaN"),
    ],
)
def test_scores_that_cannot_be_compared(scores, message):
    with pytest.raises(ValueError, match=message):
        plot_comparison(scores)


# ---------------------------------------------------------------- names


@given(st.lists(st.text(alphabet="ab $é\n", max_size=60), unique=True, max_size=12), st.integers(8, 40))
@settings(deadline=None, max_examples=200)
def test_short_names_are_short_and_distinct(names, longest):
    short = shorten(names, longest)
    assert all(len(text) <= longest for text in short)
    full = {" ".join(name.split()) for name in names}
    assert len(set(short)) == len(full)


def test_names_alike_at_both_ends():
    names = [f"{'a' * 30}{i}{'b' * 30}" for i in range(3)]
    assert len(set(shorten(names, 20))) == 3
    assert shorten(["short", "x" * 50])[0] == "short"
    tree = ["a" * 40, "a" * 20 + "b" * 60 + "1", "a" * 20 + "b" * 60 + "2"]  # the last two differ late
    assert shorten(tree, 20)[1:] == ["aaaaaaaaaaaaaaaa…(1)", "aaaaaaaaaaaaaaaa…(2)"]
    assert labels(["cost ($)"]) == [r"cost (\$)"]
    assert wrapped("word " * 30, 20, 2).count("\n") == 1
