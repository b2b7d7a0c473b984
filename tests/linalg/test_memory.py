import pytest

from pellucid.exceptions import NotEnoughMemoryError
from pellucid.linalg import available_memory, format_bytes, memory, require_memory


@pytest.fixture
def cgroup(monkeypatch, tmp_path):
    """A control group whose files the test writes."""
    monkeypatch.delenv("PELLUCID_MEMORY", raising=False)
    monkeypatch.setattr(memory, "_meminfo_available", lambda: 10_000)
    for name, file in [("_CGROUP_LIMIT", "max"), ("_CGROUP_USED", "current"), ("_CGROUP_STAT", "stat")]:
        monkeypatch.setattr(memory, name, tmp_path / file)

    def write(limit, used, stat=""):
        (tmp_path / "max").write_text(limit)
        (tmp_path / "current").write_text(used)
        (tmp_path / "stat").write_text(stat)

    return write


def test_some_memory_is_available(monkeypatch):
    monkeypatch.delenv("PELLUCID_MEMORY", raising=False)
    assert available_memory() > 1 << 20


def test_the_environment_overrides(monkeypatch):
    monkeypatch.setenv("PELLUCID_MEMORY", "8e9")
    assert available_memory() == 8_000_000_000
    monkeypatch.setenv("PELLUCID_MEMORY", "8 GB")
    with pytest.raises(ValueError, match="PELLUCID_MEMORY is a number of bytes, such as 8e9; got '8 GB'"):
        available_memory()


def test_no_control_group(cgroup):
    assert available_memory() == 10_000


def test_a_control_group_without_limit(cgroup):
    cgroup("max\n", "3000\n")
    assert available_memory() == 10_000


def test_the_smaller_of_machine_and_control_group(cgroup):
    cgroup("5000\n", "3000\n")
    assert available_memory() == 2000
    cgroup("50000\n", "3000\n")
    assert available_memory() == 10_000


def test_cached_files_make_way(cgroup):
    cgroup("5000\n", "4900\n", "anon 900\nfile 4000\ninactive_file 3500\nactive_file 500\n")
    assert available_memory() == 3600


def test_never_negative(cgroup):
    cgroup("5000\n", "6000\n")
    assert available_memory() == 0


def test_half_of_the_machine_where_the_system_does_not_tell(cgroup, monkeypatch):
    monkeypatch.setattr(memory, "_meminfo_available", lambda: None)
    monkeypatch.setattr(memory, "_physical_memory", lambda: 9000)
    assert available_memory() == 4500


def test_enough(monkeypatch):
    monkeypatch.setenv("PELLUCID_MEMORY", "1e6")
    require_memory(300, 1)


def test_not_enough(monkeypatch):
    monkeypatch.setenv("PELLUCID_MEMORY", str(1 << 30))
    message = (
        r"^The kernel matrix of 100000 rows needs about 149\.0 GiB, but only 1\.0 GiB of memory is "
        r"available\. About 7771 rows would fit"
    )
    with pytest.raises(NotEnoughMemoryError, match=message):
        require_memory(100_000, 2)
    require_memory(7771, 2)
    with pytest.raises(NotEnoughMemoryError, match="The inverse of 7772 rows"):
        require_memory(7772, 2, what="the inverse")


def test_it_is_a_memory_error(monkeypatch):
    monkeypatch.setenv("PELLUCID_MEMORY", "1000")
    with pytest.raises(MemoryError):
        require_memory(1000, 1)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536.0, "1.5 KiB"),
        (2**20 - 1, "1024.0 KiB"),
        (2**40, "1.0 TiB"),
        (2**50, "1.0 PiB"),
        (2.0**70, "1048576.0 PiB"),
    ],
)
def test_format_bytes(n_bytes, text):
    assert format_bytes(n_bytes) == text
