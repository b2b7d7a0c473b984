"""Entries of docstrings that several estimators share are said once and stand in each."""

import inspect
import re

import pytest
from sklearn.base import BaseEstimator

import pellucid
from pellucid._docs import inherit_docs


@pytest.mark.parametrize("name", [n for n in pellucid.__all__ if inspect.isclass(getattr(pellucid, n))])
def test_every_parameter_is_described_and_no_entry_is_left_open(name):
    cls = getattr(pellucid, name)
    if not issubclass(cls, BaseEstimator):
        return
    doc = inspect.getdoc(cls)
    assert not re.findall(r"^ *\{[\w, ]+\}$", doc, re.MULTILINE)
    head = doc[doc.index("Parameters\n") : doc.index("Attributes\n")]
    described = {
        word.strip()
        for line in head.splitlines()
        if line and not line.startswith(" ")
        for word in line.partition(" : ")[0].split(",")
    }
    assert set(inspect.signature(cls).parameters) <= described


def test_an_entry_that_no_base_has_is_an_error():
    class Base:
        """A base.

        alpha : float
            Strength.
        """

    with pytest.raises(KeyError, match="beta"):

        @inherit_docs
        class Model(Base):
            """A model.

            {beta}
            """


def test_the_nearest_class_has_the_last_word():
    class Base:
        """A base.

        alpha, beta : float
            Strength, over
            two lines.
        gamma : int
            Other.
        """

    class Middle(Base):
        """Something.

        gamma : int
            Its own.

        Text.
        """

    @inherit_docs
    class Model(Middle):
        """A model.

        {gamma, alpha}

        Text.
        """

    entries = ["gamma : int", "    Its own.", "alpha, beta : float", "    Strength, over", "    two lines."]
    assert inspect.getdoc(Model).splitlines() == ["A model.", "", *entries, "", "Text."]
