"""Where the program starts: nothing here needs more than the core, so that it can say what is missing."""

import sys
from importlib.util import find_spec

NEEDED = ("typer", "rich", "pandas", "pyarrow")
"""Packages of the ``[cli]`` extra that the program cannot do without."""


def main(arguments: list[str] | None = None) -> None:
    """Run the program ``pellucid`` and leave with its exit code: 0, 1 after an error, 2 after wrong usage."""
    arguments = sys.argv[1:] if arguments is None else arguments
    missing = [name for name in NEEDED if not _is_here(name)]
    if missing:
        print(
            f"pellucid: the command line needs {_listed(missing)}: pip install 'pellucid[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(1)
    from pellucid.cli.run import run

    raise SystemExit(run(arguments))


def _is_here(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


if __name__ == "__main__":
    main()
