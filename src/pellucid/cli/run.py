"""Running the program: its exit codes, and how errors and warnings are told."""

import warnings
from typing import Any

from pellucid.cli.app import app
from pellucid.cli.console import fail, warn
from pellucid.cli.errors import UserError, sentence
from pellucid.exceptions import WeightWarning

_EXPECTED = (UserError, ValueError, TypeError, OSError, MemoryError, ImportError, ArithmeticError)


def run(arguments: list[str]) -> int:
    """Run the program and return its exit code."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    debug = "--debug" in arguments[:end]
    arguments = [a for a in arguments[:end] if a != "--debug"] + arguments[end:]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always" if debug else "default")
            warnings.showwarning = _Told()
            app(args=arguments, prog_name="pellucid")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except Exception as error:
        if debug:
            raise
        hint = "" if isinstance(error, _EXPECTED) else f" ({type(error).__name__}; --debug shows where)"
        fail(sentence(error) + hint)
        return 1
    return 0


class _Told:
    """Tells warnings meant for users; how weights are read is said once, however many fits ask."""

    def __init__(self) -> None:
        self.weights = False

    def __call__(self, message: Any, category: type[Warning], *rest: Any, **more: Any) -> None:
        again = self.weights and issubclass(category, WeightWarning)
        self.weights |= issubclass(category, WeightWarning)
        if issubclass(category, UserWarning) and not again:
            warn(" ".join(str(message).split()))
