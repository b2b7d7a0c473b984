"""Force fields against definitions: differences of energies and kernels, refits, symmetry, solvers."""

import numpy as np
import pytest
from force_molecules import ATOMS, REST, energy, forces, geometries, rotation
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from pellucid import ForceField, load, save
from pellucid.exceptions import GeometryWarning
from pellucid.features.geometry import Descriptors, inverse_distances
from pellucid.kernels import RBF, Linear, Matern, RationalQuadratic
from pellucid.models.forces import choice, solve
from pellucid.models.forces.hessian import (
    ForceKernel,
    covariance_columns,
    covariance_diagonal,
    fill_covariance,
)
from pellucid.models.forces.symmetries import find_symmetries, group_of
from pellucid.models.forces.training import TrainingData

R = geometries(40)
F, E = forces(R), energy(R)
NEW = geometries(10, seed=1)
KERNELS = [Matern(4.0, nu=2.5), RBF(3.0), RationalQuadratic(3.0, shape=1.5)]
SWAPS = group_of([[0, 2, 1, 3], [0, 2, 3, 1]])


@pytest.fixture(scope="module")
def model():
    return ForceField(Matern(8.0, nu=2.5), alpha=1e-6).fit(R, F, energies=E, atoms=ATOMS)


# ------------------------------------------------------------------------------ covariance
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_covariance_of_forces_is_the_second_difference_of_the_kernel(kernel):
    def k(r, other):
        x = inverse_distances(r[None])
        images = inverse_distances(np.array([other[p] for p in SWAPS]))
        return kernel(x, images).sum()

    D = Descriptors.of(R[:3])
    Q, JQ = D.internal()
    m = JQ.shape[2]
    K = np.empty((3 * m, 3 * m))
    fill_covariance(K, ForceKernel(kernel, SWAPS), D.X, JQ)
    block = Q[0] @ K[:m, 2 * m :] @ Q[2].T
    h = 1e-3
    steps = h * np.eye(12).reshape(12, 4, 3)
    for a, b in [(0, 0), (4, 11), (7, 2)]:
        plus = k(R[0] + steps[a], R[2] + steps[b]) + k(R[0] - steps[a], R[2] - steps[b])
        minus = k(R[0] + steps[a], R[2] - steps[b]) + k(R[0] - steps[a], R[2] + steps[b])
        assert block[a, b] == pytest.approx((plus - minus) / (4 * h * h), rel=1e-4, abs=1e-6)


def test_columns_and_diagonal_are_those_of_the_matrix():
    D = Descriptors.of(R[:6])
    _, JQ = D.internal()
    n, m = 6, JQ.shape[2]
    kernel = ForceKernel(KERNELS[0], SWAPS)
    K = np.empty((n * m, n * m))
    fill_covariance(K, kernel, D.X, JQ)
    np.testing.assert_allclose(K, K.T, atol=1e-14)
    np.testing.assert_allclose(
        covariance_columns(kernel, D.X, JQ, np.array([0, 7, 20])), K[:, [0, 7, 20]], atol=1e-13
    )
    diagonal = covariance_diagonal(kernel, D.X, JQ)
    np.testing.assert_allclose(diagonal[4], K[4 * m : 5 * m, 4 * m : 5 * m], atol=1e-13)


def test_internal_coordinates_lose_nothing():
    D = Descriptors.of(R[:4])
    Q, JQ = D.internal()
    np.testing.assert_allclose(JQ @ np.swapaxes(Q, 1, 2), D.jacobians(), atol=1e-12)
    outside = F[:4].reshape(4, -1) - np.einsum(
        "npm,nm->np", Q, np.einsum("npm,np->nm", Q, F[:4].reshape(4, -1))
    )
    assert np.abs(outside).max() < 1e-8


# ------------------------------------------------------------------------------ physics
def test_forces_are_minus_the_gradient_of_the_energy(model):
    h = 1e-4
    _, predicted = model.predict(NEW)
    for k in range(4):
        for c in range(3):
            step = np.zeros((4, 3))
            step[k, c] = h
            slope = (model.predict(NEW + step)[0] - model.predict(NEW - step)[0]) / (2 * h)
            np.testing.assert_allclose(-slope, predicted[:, k, c], atol=1e-6)


def test_rotation_and_translation(model):
    Q = rotation()
    e, f = model.predict(NEW)
    turned_e, turned_f = model.predict(NEW @ Q + np.array([3.0, -1.0, 2.0]))
    np.testing.assert_allclose(turned_e, e, atol=1e-10)
    np.testing.assert_allclose(turned_f, f @ Q, atol=1e-10)


def test_equivalent_atoms(model):
    assert len(model.permutations_) == 6
    e, f = model.predict(NEW)
    for p in model.permutations_:
        swapped_e, swapped_f = model.predict(NEW[:, p])
        np.testing.assert_allclose(swapped_e, e, atol=1e-10)
        np.testing.assert_allclose(swapped_f, f[:, p], atol=1e-10)


def test_no_net_force_and_no_torque(model):
    _, f = model.predict(NEW)
    np.testing.assert_allclose(f.sum(axis=1), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.cross(NEW, f).sum(axis=1), 0.0, atol=1e-9)


def test_it_learns():
    model = ForceField().fit(R, F, energies=E, atoms=ATOMS)
    e, f = model.predict(NEW)
    spread = np.abs(forces(NEW)).mean()
    assert np.abs(f - forces(NEW)).mean() < 0.05 * spread
    assert np.abs(e - energy(NEW)).mean() < 0.05 * energy(NEW).std()
    assert model.score(NEW, forces(NEW)) > 0.99


def test_symmetries_help():
    plain = ForceField(symmetries=None).fit(R[:10], F[:10], atoms=ATOMS)
    whole = ForceField(symmetries=SWAPS).fit(R[:10], F[:10], atoms=ATOMS)
    truth = forces(NEW)
    assert np.abs(whole.predict(NEW)[1] - truth).mean() < np.abs(plain.predict(NEW)[1] - truth).mean()


# ------------------------------------------------------------------------------ solution
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_leaving_a_geometry_out_is_a_refit(kernel):
    few = slice(0, 12)
    field = ForceField(kernel, alpha=1e-4, symmetries=SWAPS).fit(R[few], F[few], atoms=ATOMS)
    residuals = field.leave_one_out()
    for i in (0, 5, 11):
        rest = np.delete(np.arange(12), i)
        other = clone(field).fit(R[rest], F[rest], atoms=ATOMS)
        np.testing.assert_allclose(residuals[i], F[i] - other.predict(R[[i]])[1][0], atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_energies_of_geometries_left_out_are_those_of_a_refit(kernel):
    few = slice(0, 12)
    data = TrainingData.of(R[few], F[few], E[few])
    problem = data.problem(ForceKernel(kernel, SWAPS), 1e-4)
    _, found = solve.leave_one_out(problem)
    for i in (0, 5, 11):
        rest = np.delete(np.arange(12), i)
        other = ForceField(kernel, alpha=1e-4, symmetries=SWAPS)
        other.fit(R[rest], F[rest], energies=E[rest], atoms=ATOMS)
        assert data.unit * found[i] == pytest.approx(E[i] - other.predict(R[[i]])[0][0], abs=1e-8)


def test_the_choice_makes_errors_of_energies_and_forces_small():
    grown = geometries(60, seed=3)
    field = ForceField().fit(grown, forces(grown), energies=energy(grown) - 4e4, atoms=ATOMS)
    trials = field.trials_
    np.testing.assert_allclose(
        trials.losses**7, trials.errors**6 * trials.energy_errors
    )  # 6 forces, 1 energy
    assert trials.losses[trials.best] == trials.losses.min()
    assert 0.3 < trials.alphas[trials.best] / field.alpha_ < 3.2  # between its neighbours on the ladder
    error = np.abs(field.predict(NEW)[0] - energy(NEW) + 4e4).mean()
    assert error == pytest.approx(trials.energy_errors[trials.best], rel=0.7)
    alone = ForceField().fit(grown, forces(grown), atoms=ATOMS).trials_
    assert alone.energy_errors is None
    np.testing.assert_array_equal(alone.losses, alone.errors)


def test_closed_and_iterative_agree():
    settings = dict(kernel=Matern(8.0, nu=2.5), alpha=1e-5, symmetries=SWAPS)
    closed = ForceField(**settings, solver="closed").fit(R, F, energies=E, atoms=ATOMS)
    steps = ForceField(**settings, solver="iterative", tol=1e-10).fit(R, F, energies=E, atoms=ATOMS)
    for one, other in zip(closed.predict(NEW), steps.predict(NEW), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert steps.residuals_[-1] <= 1e-10 < steps.residuals_[0]


def test_solver_goes_by_memory_and_predicted_time(monkeypatch):
    def problem(n):
        D = Descriptors.of(geometries(n))
        return solve.ForceProblem(ForceKernel(KERNELS[0], SWAPS), D.X, D.jacobians(), np.zeros((n, 12)), 1.0)

    monkeypatch.setattr(solve, "available_memory", lambda: 100_000_000_000)
    assert solve.choose_solver("auto", problem(50)).name == "closed"
    large = solve.choose_solver("auto", problem(4000))
    assert large.name == "iterative"
    assert "times as fast" in large.reason
    monkeypatch.setattr(solve, "available_memory", lambda: 1_000_000)
    small = solve.choose_solver("auto", problem(50))
    assert small.name == "iterative"
    assert "left" in small.reason


def test_an_interrupted_fit_goes_on():
    settings = dict(kernel=Matern(8.0, nu=2.5), alpha=1e-6, solver="iterative", warm_start=True, tol=1e-9)
    field = ForceField(**settings, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="warm_start=True"):
        field.fit(R, F, atoms=ATOMS)
    before = field.residuals_[-1]
    field.set_params(max_iter=500).fit(R, F, atoms=ATOMS)
    assert field.residuals_[0] == pytest.approx(before, rel=1e-3)
    assert field.residuals_[-1] <= 1e-9


def test_parts_grow_while_they_cost_little():
    assert choice._parts(1000, 21) == [47, 94, 188, 376]
    assert choice._parts(200, 21) == [47, 94]
    assert choice._parts(200, 57) == [40, 80]
    assert choice._parts(60, 21) == [47]
    assert choice._parts(110, 21) == [47, 94]
    assert choice._parts(2, 5000) == [2]


def test_ridge_goes_on_to_that_of_more_geometries(monkeypatch):
    many = geometries(80, seed=2)
    data = dict(R=many, F=forces(many), atoms=ATOMS)
    whole = ForceField(Matern(8.0, nu=2.5)).fit(**data)
    assert set(whole.trials_.n_geometries) == {80}
    monkeypatch.setattr(choice, "_UNKNOWNS", 60)
    monkeypatch.setattr(choice, "_FEWEST", 10)
    grown = ForceField(Matern(8.0, nu=2.5)).fit(**data)
    assert set(grown.trials_.n_geometries) == {10, 20, 40, 80}
    monkeypatch.setattr(choice, "_CHEAP", 0)
    monkeypatch.setattr(choice, "_MOST", 0)
    alone = ForceField(Matern(8.0, nu=2.5)).fit(**data)
    assert set(alone.trials_.n_geometries) == {10}
    assert grown.alpha_ <= alone.alpha_

    def error(field):
        return np.abs(field.predict(NEW)[1] - forces(NEW)).mean()

    assert error(grown) <= 1.02 * min(error(alone), error(whole))


@pytest.mark.parametrize(("worse", "found"), [(1.0, 4.0), (1.004, 4.0), (1.006, 32.0)])
def test_a_long_length_scale_has_to_gain_on_every_part(worse, found):
    class Bench:  # losses with a valley in the ridge, and so much worse for half of the length-scale
        def __init__(self):
            self.tried = {}

        def loss(self, size, scale, ridge):
            at = np.log10(ridge) + 9 - np.log10(32.0 / scale) / np.log10(2)
            self.tried[scale, ridge] = worse ** np.log2(32.0 / scale) * (1 + 0.1 * at**2)
            return self.tried[scale, ridge]

        def lowest(self, size, scale):
            return min(loss for key, loss in self.tried.items() if key[0] == scale)

    bench = Bench()
    ridge = choice._settle(bench, 80, 32.0, 1e-8)
    scale, ridge = choice._shorten(bench, 80, 32.0, ridge, 4.0)
    assert scale == found
    assert ridge == pytest.approx(1e-9 * 10 ** np.log2(32.0 / found))


def test_ridge_knows_noise():
    many = geometries(150, seed=2)
    noise = 0.05 * np.random.default_rng(0).normal(size=many.shape)
    fields = [ForceField().fit(many, forces(many) + noise, atoms=ATOMS)]
    fields += [
        ForceField(fields[0].kernel_, alpha=k * fields[0].alpha_).fit(many, forces(many) + noise, atoms=ATOMS)
        for k in (0.01, 0.1, 10.0, 100.0)
    ]
    error = [np.abs(field.predict(NEW)[1] - forces(NEW)).mean() for field in fields]
    assert error[0] < 1.5 * min(error)
    assert 2 * error[0] < error[1]
    assert fields[0].trials_.errors.min() == pytest.approx(0.05, rel=0.3)  # the noise, which nobody predicts


def test_units_do_not_matter():
    one = ForceField().fit(R, F, energies=E, atoms=ATOMS)
    other = ForceField().fit(R, 1e6 * F, energies=1e6 * E, atoms=ATOMS)
    np.testing.assert_allclose(other.predict(NEW)[1], 1e6 * one.predict(NEW)[1], rtol=1e-6, atol=1e-1)


def test_posterior_is_that_of_the_gaussian_process():
    few = slice(0, 8)
    field = ForceField(Matern(4.0, nu=2.5), alpha=1e-3, symmetries=None).fit(R[few], F[few], atoms=ATOMS)
    std = field.predict(NEW[:2], return_std=True)[2]
    D = Descriptors.of(np.concatenate([R[few], NEW[:2]]))
    Q, JQ = D.internal()
    m = JQ.shape[2]
    K = np.empty((10 * m, 10 * m))
    fill_covariance(K, ForceKernel(Matern(4.0, nu=2.5), np.arange(4)[None]), D.X, JQ)
    old, new = slice(0, 8 * m), slice(8 * m, None)
    C = K[old, old] + field.alpha_ * np.eye(8 * m)
    left = K[new, new] - K[new, old] @ np.linalg.solve(C, K[old, new])
    for i in range(2):
        q = Q[8 + i]
        variance = np.diag(q @ left[i * m : (i + 1) * m, i * m : (i + 1) * m] @ q.T) * field.scale_
        np.testing.assert_allclose(std[i].ravel() ** 2, variance, rtol=1e-6, atol=1e-12)
    assert field.predict(R[[0]], return_std=True)[2].mean() < std.mean()


def test_the_explanation_adds_up(model):
    found = model.explain(NEW[0])
    e, f = model.predict(NEW[0])
    assert found.constant + found.parts.sum() == pytest.approx(e[0], abs=1e-10)
    assert found.parts.shape == (40,)
    total = np.zeros((4, 3))
    for (a, b), tension in zip(found.pairs, found.tension, strict=True):
        along = (NEW[0, a] - NEW[0, b]) / np.linalg.norm(NEW[0, a] - NEW[0, b])
        total[a] += tension * along
        total[b] -= tension * along
    np.testing.assert_allclose(total, f[0], atol=1e-10)
    np.testing.assert_allclose(found.forces, f[0], atol=1e-12)


@pytest.mark.parametrize("shape", ["linear", "planar"])
def test_flat_molecules(shape):
    rng = np.random.default_rng(3)
    if shape == "linear":
        flat = np.array([[0.0, 0, 0], [1.1, 0, 0], [-1.2, 0, 0], [2.3, 0, 0]])
        flat = flat + 0.1 * rng.normal(size=(40, 4, 1)) * np.array([1.0, 0, 0])
    else:
        flat = geometries(40, seed=3, spread=0.06) * np.array([1.0, 1.0, 0.0])
    field = ForceField(symmetries=None).fit(flat[:30], forces(flat[:30]), energies=energy(flat[:30]))
    found = field.predict(flat[30:], return_std=True)
    assert all(np.isfinite(part).all() for part in found)
    assert field.score(flat[30:], forces(flat[30:])) > 0.9


def test_two_atoms():
    lengths = np.linspace(0.8, 1.6, 9)
    pair = np.zeros((9, 2, 3))
    pair[:, 1, 0] = lengths
    pull = np.zeros_like(pair)
    pull[:, 0, 0] = 2 * (lengths - 1.1)
    pull[:, 1, 0] = -pull[:, 0, 0]
    field = ForceField().fit(pair, pull, atoms=["H", "Cl"])
    np.testing.assert_allclose(field.predict(pair)[1], pull, atol=0.02)


# ------------------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("factor", "message"), [(-1.0, "-1 times .*gradients"), (0.0433641, "Are their units")]
)
def test_energies_that_do_not_go_with_forces(factor, message):
    with pytest.warns(GeometryWarning, match=message):
        ForceField(Matern(8.0, nu=2.5), alpha=1e-6).fit(R, F, energies=factor * E, atoms=ATOMS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(R=R[:, :, :2]), "shape"),
        (dict(F=F[:5]), "shape of the geometries"),
        (dict(F=np.where(np.arange(40)[:, None, None] == 7, np.nan, F)), "forces of geometry 7"),
        (dict(R=np.where(np.arange(4)[:, None] == 2, R[:, [1]], R)), "Atoms 1 and 2 of geometry"),
        (dict(R=np.concatenate([R[:39], R[:1] @ rotation()])), "Geometries 0 and 39 are the same"),
        (dict(R=np.concatenate([R[:39], R[:1, [0, 2, 1, 3]]])), "Geometries 0 and 39 are the same"),
        (dict(R=np.concatenate([R[:39], R[:1] + 1e-9])), "Geometries 0 and 39 are the same"),
        (dict(R=R.reshape(40, 12)), r"got \(40, 12\)"),
        (dict(R=R + 1j), "Geometries must be one array of real numbers"),
        (dict(F=[[[0.0]], [[0.0, 1.0]]]), "Forces must be one array of real numbers"),
        (dict(energies=["low"] * 40), "energies must be one array of real numbers"),
        (dict(energies=np.where(np.arange(40) == 3, np.inf, E)), "energies of geometry 3"),
        (dict(R=R[:1], F=F[:1], energies=E[:1]), "at least 2 geometries"),
        (dict(R=R[:2], F=F[:2], energies=E[:2]), "at least 3 geometries"),
        (dict(energies=E[:7]), "7 entries"),
        (dict(atoms=["N", "H"]), "lists 2 atoms"),
        (dict(atoms=["N", "H", "H", "Qq"]), "no chemical symbol"),
        (dict(F=None), "requires forces"),
        (dict(F=1e160 * F), "choose another unit"),
    ],
)
def test_bad_data(change, message):
    data = dict(R=R, F=F, energies=E, atoms=ATOMS) | change
    with pytest.raises(ValueError, match=message):
        ForceField().fit(data["R"], data["F"], energies=data["energies"], atoms=data["atoms"])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (dict(kernel="matern"), ValueError, "Known names: matern52"),
        (dict(kernel=Linear()), ValueError, "one length-scale"),
        (dict(kernel=RBF([1.0] * 6)), ValueError, "one length-scale"),
        (dict(kernel=Matern(1.0, nu=1.5)), TypeError, "second derivative"),
        (dict(alpha=-1.0), ValueError, "positive"),
        (dict(alpha="cv"), ValueError, "'loo'"),
        (dict(tol=-1.0), ValueError, "tol must be positive"),
        (dict(solver="qr"), ValueError, "'closed' or 'iterative'"),
        (dict(symmetries="all"), ValueError, "'auto', None"),
        (dict(symmetries=[[0, 1, 2]]), ValueError, "list the 4 atoms"),
        (dict(symmetries=[[1, 0, 2, 3]]), ValueError, "different elements"),
        (dict(symmetries=[[0, 1, 1, 3]]), ValueError, "no permutation"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        ForceField(**settings).fit(R, F, atoms=ATOMS)


def test_forces_of_which_nothing_is_learned():
    rng = np.random.default_rng(0)
    with pytest.warns(GeometryWarning, match="hardly anything was learned"):
        ForceField().fit(R[:20], Descriptors.of(R[:20]).pull_back(rng.normal(size=(20, 6))), atoms=ATOMS)


def test_forces_that_move_the_whole_molecule():
    with pytest.warns(GeometryWarning, match="% of the squares of the forces"):
        ForceField(Matern(8.0, nu=2.5), alpha=1e-6).fit(R, F + np.array([0.2, 0.0, 0.0]), atoms=ATOMS)


def test_fewest_geometries():
    given = ForceField(Matern(8.0, nu=2.5), alpha=1e-6, symmetries=SWAPS)
    assert given.fit(R[:2], F[:2], energies=E[:2]).score(R[:2], F[:2]) > 0.99
    assert ForceField().fit(R[:3], F[:3], energies=E[:3], atoms=ATOMS).score(R[:3], F[:3]) > 0.99


def test_float32_is_enough():
    f = [np.float32(v) for v in (R, F, E)]
    one = ForceField(Matern(8.0, nu=2.5), alpha=1e-6).fit(f[0], f[1], energies=f[2], atoms=ATOMS)
    two = ForceField(Matern(8.0, nu=2.5), alpha=1e-6).fit(R, F, energies=E, atoms=ATOMS)
    for a, b in zip(one.predict(np.float32(NEW)), two.predict(NEW), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-3)


def test_other_molecules_are_refused(model):
    with pytest.raises(ValueError, match="4 atoms; these geometries have 3"):
        model.predict(NEW[:, :3])
    with pytest.raises(ValueError, match="another order"):
        model.predict(NEW, atoms=["H", "N", "H", "H"])
    with pytest.raises(ValueError, match="other atoms"):
        model.predict(NEW, atoms=["P", "H", "H", "H"])
    with pytest.raises(ValueError, match="fitted without atoms"):
        ForceField(Matern(8.0, nu=2.5), alpha=1e-3).fit(R, F).predict(NEW, atoms=ATOMS)
    with pytest.raises(ValueError, match="one geometry"):
        model.explain(NEW)


def test_nothing_before_fit():
    for use in (lambda m: m.predict(R), lambda m: m.score(R, F), lambda m: m.leave_one_out()):
        with pytest.raises(NotFittedError):
            use(ForceField())


# ------------------------------------------------------------------------------ symmetries
def test_groups():
    assert len(group_of([[0, 2, 1, 3], [0, 2, 3, 1]])) == 6
    assert group_of([[0, 1, 2]]).tolist() == [[0, 1, 2]]
    with pytest.raises(ValueError, match="more than 5000"):
        group_of([[1, 0, *range(2, 9)], [*range(1, 9), 0]])


def test_atoms_in_another_order():
    rng = np.random.default_rng(0)
    rest = 1.5 * rng.normal(size=(8, 3))
    many = rest + 0.05 * rng.normal(size=(30, 8, 3))
    assert len(find_symmetries(many, np.ones(8))) == 1
    many[7] = many[7][[1, 0, 2, 3, 4, 5, 6, 7]]
    many[9] = many[9][[1, 2, 3, 4, 5, 0, 6, 7]]
    with pytest.raises(ValueError, match=r"720 permutations of like atoms.* same order"):
        find_symmetries(many, np.ones(8))


def test_symmetries_are_found_only_among_like_atoms():
    turning = np.array([REST[[0, *(1 + np.roll(np.arange(3), k))]] for k in range(3)] * 4)
    turning = turning + 0.03 * np.random.default_rng(0).normal(size=turning.shape)
    one = ForceField(Matern(4.0, nu=2.5), alpha=1e-3).fit(turning, forces(turning), atoms=ATOMS)
    assert len(one.permutations_) >= 3
    other = ForceField(Matern(4.0, nu=2.5), alpha=1e-3).fit(
        turning, forces(turning), atoms=["N", "H", "F", "Cl"]
    )
    assert len(other.permutations_) == 1


def test_summary(model):
    text = str(model.summary())
    assert "N H H H" in text
    assert "6 permutations" in text


def test_model_files(model, tmp_path):
    for number, field in enumerate((model, ForceField().fit(R, F, energies=E, atoms=ATOMS))):
        save(field, tmp_path / f"{number}.pellucid")
        again = load(tmp_path / f"{number}.pellucid")
        for one, other in zip(again.predict(NEW), field.predict(NEW), strict=True):
            np.testing.assert_array_equal(one, other)
        assert str(again.summary()) == str(field.summary())
