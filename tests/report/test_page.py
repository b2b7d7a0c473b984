"""The page as text: nothing gets out of the JSON, nothing else may run, nothing is fetched."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.report.page import Report, as_json, write_page
from pellucid.serve.assets import page_js

TEXT = st.text(st.characters(exclude_categories=()))


@given(
    st.recursive(
        TEXT | st.floats(allow_nan=False, allow_infinity=False),
        lambda s: st.lists(s) | st.dictionaries(TEXT, s),
    )
)
def test_json_comes_back_and_has_no_markup(thing):
    text = as_json(thing)
    assert json.loads(text) == thing
    assert not set("<>&\u2028\u2029") & set(text)
    assert text.isascii()


def test_what_is_no_number_is_null():
    values = {"a": [np.nan, 1.0], "b": np.array([np.inf, 2.0]), "c": np.float32("nan"), "d": (np.int64(3),)}
    assert as_json(values) == '{"a":[null,1.0],"b":[null,2.0],"c":null,"d":[3]}'


PAGE = write_page({"title": "<i>title</i> & \ud83d", "terms": ["</script>"]})


def test_the_policy_names_the_script_and_the_style():
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', PAGE.html)[1]
    assert policy.startswith("default-src 'none'")
    for element, source in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"<{element}>(.*?)</{element}>", PAGE.html, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("page", ["report", "serve"])
def test_no_name_of_a_script_is_taken_twice(page):
    (script,) = re.findall(r"<script>(.*?)</script>", PAGE.html, re.S)
    script = script if page == "report" else page_js().decode()
    names = re.findall(r"^(?:async )?(?:function|class|let|const) ([A-Za-z0-9_]+)", script, re.M)
    assert len(names) > 50
    assert sorted(names) == sorted(set(names))  # the last function of a name would serve all


def test_one_file_and_no_addresses():
    code = PAGE.html.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert not re.search(r"https?://|//cdn|url\(|@import|src=|<link", code.replace("`url(#${hatch})`", ""))
    assert "innerHTML" not in PAGE.html
    assert PAGE.html.count("<script") == 2
    assert "<title>&lt;i&gt;title&lt;/i&gt; &amp; ?</title>" in PAGE.html


def test_saving(tmp_path):
    path = PAGE.save(tmp_path / "report.html")
    assert path.read_bytes().decode("utf-8") == PAGE.html
    assert PAGE.save(str(path)) == path  # over an old one
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileNotFoundError):
        PAGE.save(tmp_path / "nowhere" / "report.html")


def test_a_failed_save_leaves_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        Report("half of an emoji", "\ud83d").save(tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_in_a_notebook():
    report = Report('a "title"', '<p class="x">')
    assert 'srcdoc="&lt;p class=&quot;x&quot;&gt;"' in report._repr_html_()
    assert "MB" in repr(report)
