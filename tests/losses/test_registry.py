import pytest

from pellucid import losses
from pellucid.losses import REGISTRY, Hinge, Loss, Poisson, as_loss, base
from pellucid.losses.hinge import _Margin

NAMES = {"squared", "logistic", "multinomial", "poisson", "gamma", "hinge", "squared_hinge"} | {
    "huber",
    "expectile",
    "quantile",
    "tweedie",
    "negative_binomial",
    "binomial",
    "ordinal",
    "cox",
}


def test_names():
    assert set(REGISTRY) == NAMES
    assert all(cls.name == name for name, cls in REGISTRY.items())


def test_kinds(loss):
    assert loss.kind in {"regression", "counts", "proportions", "classification", "ordinal", "survival"}
    assert loss.smooth is (loss.name != "hinge")
    assert loss.linked is ("hinge" not in loss.name)
    assert loss.multiclass is (loss.name == "multinomial")


def test_every_registered_class_is_public_and_vice_versa():
    public = [getattr(losses, name) for name in losses.__all__]
    classes = {x for x in public if isinstance(x, type) and issubclass(x, Loss)}
    assert classes - {Loss} == set(REGISTRY.values())


def test_as_loss(loss):
    assert as_loss(loss) is loss
    assert as_loss(loss.name) == type(loss)()


def test_as_loss_lists_the_names():
    with pytest.raises(ValueError, match="Unknown loss 'absolute'") as error:
        as_loss("absolute")
    assert all(name in str(error.value) for name in NAMES)
    with pytest.raises(TypeError, match="Expected a loss") as error:
        as_loss(3)
    assert all(name in str(error.value) for name in NAMES)
    with pytest.raises(TypeError, match=r"Poisson\(\) instead of Poisson"):
        as_loss(Poisson)


def test_a_new_loss_cannot_escape_the_registry(monkeypatch):
    monkeypatch.setattr(base, "REGISTRY", dict(REGISTRY))

    class Wide(Hinge):
        name = "wide_hinge"

    class _Hidden(_Margin):
        pass

    assert base.REGISTRY["wide_hinge"] is Wide
    assert "wide_hinge" not in REGISTRY
    assert _Hidden not in base.REGISTRY.values()


def test_a_new_loss_needs_a_free_name_of_its_own(monkeypatch):
    monkeypatch.setattr(base, "REGISTRY", dict(REGISTRY))
    with pytest.raises(TypeError, match="needs a name of its own"):
        type("Nameless", (Hinge,), {})
    with pytest.raises(TypeError, match="'hinge' of the loss Twin is taken by Hinge"):
        type("Twin", (Hinge,), {"name": "hinge"})
    assert REGISTRY["hinge"] is Hinge


def test_options_are_part_of_a_loss(monkeypatch):
    monkeypatch.setattr(base, "REGISTRY", dict(REGISTRY))

    class Scaled(Hinge):
        name = "scaled_hinge"

        def __init__(self, scale=1.0):
            self.scale = scale

    assert repr(Scaled(2.0)) == "Scaled(scale=2.0)"
    assert Scaled(2.0) == Scaled(2.0) != Scaled(3.0)
    assert hash(Scaled(2.0)) == hash(Scaled(2.0))
