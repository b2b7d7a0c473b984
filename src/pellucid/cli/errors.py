"""Errors as the program tells them: one sentence, and what to install where something is missing."""

import importlib
from types import ModuleType

_EXTRAS = {
    "openpyxl": "excel",
    "pyarrow": "cli",
    "pandas": "cli",
    "matplotlib": "plot",
    "starlette": "serve",
    "uvicorn": "serve",
}


class UserError(Exception):
    """Something is wrong with what was asked for; the message is one sentence for the person who asked."""


def need(package: str, purpose: str) -> ModuleType:
    """Import an optional package, or say what to install.

    Examples
    --------
    >>> need("math", "arithmetic").sqrt(4.0)
    2.0
    >>> need("no_such_package", "Reading dreams")
    Traceback (most recent call last):
        ...
    pellucid.cli.errors.UserError: Reading dreams needs no_such_package: pip install no_such_package
    """
    try:
        return importlib.import_module(package)
    except ImportError:
        extra = _EXTRAS.get(package)
        what = f"'pellucid[{extra}]'" if extra else package
        raise UserError(f"{purpose} needs {package}: pip install {what}") from None


def sentence(error: BaseException) -> str:
    r"""The message of an error on one line, without what is of interest to programmers only.

    Examples
    --------
    >>> sentence(FileNotFoundError(2, "No such file or directory", "a.csv"))
    "There is no file 'a.csv'."
    >>> sentence(ValueError("Found NaN.\n  Fill it."))
    'Found NaN. Fill it.'
    """
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"There is no file {str(error.filename)!r}."
    if isinstance(error, IsADirectoryError) and error.filename:
        return f"{str(error.filename)!r} is a folder, not a file."
    if isinstance(error, PermissionError) and error.filename:
        return f"{str(error.filename)!r} may not be opened: permission denied."
    if isinstance(error, MemoryError) and not str(error):
        return "There is not enough memory for this."
    text = " ".join(str(error).split())
    return text or type(error).__name__
