"""Models are fitted once for all tests of reports."""

import pytest


@pytest.fixture(scope="session")
def models():
    from report_data import fitted

    cache = {}

    def get(kind):
        if kind not in cache:
            cache[kind] = fitted(kind)
        return cache[kind]

    return get
