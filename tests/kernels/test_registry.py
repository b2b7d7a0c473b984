from pellucid import kernels
from pellucid.kernels import REGISTRY, Kernel, base


def test_every_registered_class_gives_examples():
    empty = [name for name, cls in REGISTRY.items() if not cls.examples()]
    assert empty == ["Precomputed"]


def test_examples_are_of_their_class():
    for cls in REGISTRY.values():
        assert all(type(k) is cls for k in cls.examples())


def test_every_registered_class_is_public_and_vice_versa():
    public = {
        name
        for name in kernels.__all__
        if isinstance(getattr(kernels, name), type) and issubclass(getattr(kernels, name), Kernel)
    }
    assert public - {"Kernel", "CountedParts"} == {
        name for name, cls in REGISTRY.items() if cls.__module__.startswith("pellucid.")
    }


def test_a_new_kernel_cannot_escape_the_registry(monkeypatch):
    monkeypatch.setattr(base, "REGISTRY", dict(REGISTRY))

    class Mine(Kernel):
        def _gram(self, X, Y):
            return X @ Y.T

    class _Hidden(Mine):
        pass

    assert base.REGISTRY["Mine"] is Mine
    assert "_Hidden" not in base.REGISTRY
    assert "Mine" not in REGISTRY


def test_every_public_name_exists():
    assert all(hasattr(kernels, name) for name in kernels.__all__)
