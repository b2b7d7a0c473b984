from pellucid import linalg


def test_every_public_name_exists():
    assert all(hasattr(linalg, name) for name in linalg.__all__)
