"""The smoother of curves: what stays, and the penalised problem written out."""

import numpy as np
import pytest

from pellucid.linalg import smooth_curve


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    return np.sort(rng.uniform(2, 5, 40)), rng.uniform(0.1, 1, 40), rng.normal(size=40)


def test_lines_and_the_mean_stay(points):
    x, w, t = points
    np.testing.assert_allclose(smooth_curve(3 * x - 1, w, x, 1.0), 3 * x - 1, rtol=1e-6)
    f = smooth_curve(t, w, x, 0.4)
    assert w @ f == pytest.approx(w @ t, abs=1e-8)
    assert w @ (f * x) == pytest.approx(w @ (t * x), abs=1e-8)


def test_the_minimum_of_the_penalised_sum(points):
    x, w, t = points
    width, f = 0.3, smooth_curve(t, w, x, 0.3)
    u = (x - x[0]) / (x[-1] - x[0])

    def loss(g):
        bend = 0.0
        for i in range(1, len(u) - 1):
            a, b = u[i] - u[i - 1], u[i + 1] - u[i]
            second = 2 * ((g[i + 1] - g[i]) / b - (g[i] - g[i - 1]) / a) / (a + b)
            bend += (a + b) / 2 * second**2
        return np.sum(w / w.sum() * (g - t) ** 2) + (width / (2 * np.pi)) ** 4 * bend

    best, rng = loss(f), np.random.default_rng(1)
    assert all(loss(f + 1e-4 * rng.normal(size=len(f))) > best for _ in range(20))


def test_limits_and_several_curves(points):
    x, w, t = points
    np.testing.assert_allclose(smooth_curve(t, w, x, 1e-3), t, atol=1e-3)
    slope, start = np.polyfit(x, t, 1, w=np.sqrt(w))
    np.testing.assert_allclose(smooth_curve(t, w, x, 100.0), slope * x + start, atol=1e-3)
    both = smooth_curve(np.column_stack([t, -t]), w, x, 0.3)
    np.testing.assert_allclose(both[:, 0], -both[:, 1])
    np.testing.assert_array_equal(smooth_curve(t[:2], w[:2], x[:2], 1.0), t[:2])
    tied = smooth_curve(np.array([0.0, 1.0, 1.0, 0.0]), np.ones(4), np.array([0.0, 1.0, 1.0, 2.0]), 0.5)
    assert np.all(np.isfinite(tied))
