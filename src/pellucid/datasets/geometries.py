"""Geometries of molecules in files: extended XYZ, and NumPy archives as sGDML and rMD17 have them."""

import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.data.elements import SYMBOLS, atomic_number

_NPZ = {
    "R": ("R", "coords", "positions"),
    "F": ("F", "forces"),
    "E": ("E", "energies", "energy"),
    "atoms": ("z", "nuclear_charges", "numbers", "atoms"),
}


@dataclass(frozen=True, eq=False)
class Geometries:
    """Geometries of one molecule, with forces and energies where the file has them."""

    R: np.ndarray  # (n, N, 3): positions
    atoms: list[str] | np.ndarray | None  # (N,): symbols or atomic numbers
    F: np.ndarray | None = None  # (n, N, 3): forces
    E: np.ndarray | None = None  # (n,): energies


def read_geometries(path: str | os.PathLike[str], part: str = "") -> Geometries:
    """Read geometries from an extended XYZ file (``.xyz``, ``.extxyz``) or a NumPy archive (``.npz``).

    Parameters
    ----------
    path : path
        The file. All its geometries must be of one molecule, atoms in one order.
    part : str, optional
        In an archive with several parts, such as ``R_train`` and ``R_test``, the one to read.

    Returns
    -------
    Geometries
        Numbers as they are in the file, whatever their units.
    """
    path = Path(path)
    if path.suffix.lower() == ".npz":
        return _read_npz(path, part)
    if path.suffix.lower() in (".xyz", ".extxyz"):
        if part:
            raise ValueError(
                f"{path.name!r} has no parts: only archives (.npz) have. Leave part={part!r} out."
            )
        return _read_xyz(path)
    raise ValueError(f"{path.name!r} has an ending that is not known here; known are .xyz, .extxyz and .npz.")


def write_geometries(path: str | os.PathLike[str], geometries: Geometries) -> None:
    """Write geometries, with forces and energies where there are any, as extended XYZ or NumPy archive."""
    path = Path(path)
    if path.suffix.lower() == ".npz":
        found = {"R": geometries.R, "F": geometries.F, "E": geometries.E, "z": geometries.atoms}
        arrays: dict[str, Any] = {key: np.asarray(v) for key, v in found.items() if v is not None}
        np.savez_compressed(path, **arrays)
    elif path.suffix.lower() in (".xyz", ".extxyz"):
        path.write_text(_xyz_text(geometries))
    else:
        raise ValueError(
            f"{path.name!r} has an ending that is not known here; known are .xyz, .extxyz and .npz."
        )


def _read_npz(path: Path, part: str) -> Geometries:
    with _opened(path) as archive:
        names = set(archive.files)
        parts = sorted({name[2:] for name in names if name.startswith("R_")})
        if not part and "R" not in names and parts:
            raise ValueError(f"{path.name!r} has the parts {', '.join(parts)}: say which one to read.")
        if part and part not in parts:
            raise ValueError(f"{path.name!r} has no part {part!r}.")

        def get(key: str) -> np.ndarray | None:
            for name in _NPZ[key]:
                for spelled in ([f"{name}_{part}"] if part else []) + [name]:
                    if spelled in names:
                        try:
                            return archive[spelled]
                        except ValueError:  # lists of Python objects, which only a pickle can hold
                            raise ValueError(
                                f"The array {spelled} of {path.name!r} is no array of numbers: do all "
                                f"geometries have the same atoms?"
                            ) from None
            return None

        R = get("R")
        if R is None:
            raise ValueError(f"{path.name!r} has no geometries: an array R, coords or positions.")
        E = get("E")
        return Geometries(R, get("atoms"), get("F"), None if E is None else E.reshape(-1))


def _opened(path: Path) -> Any:
    """An archive, or a clear error where the file is something else."""
    try:
        archive = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile):
        archive = None
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError(f"{path.name!r} is no NumPy archive.")
    return archive


def _read_xyz(path: Path) -> Geometries:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path.name!r} is no text file.") from None
    R, F, E = [], [], []
    atoms: list[str] | None = None
    at = 0
    while at < len(lines):
        if not lines[at].strip():  # between geometries, or at the end
            at += 1
            continue
        where = f"line {at + 1} of {path.name!r}"
        if not lines[at].strip().isdecimal() or int(lines[at]) < 1:
            raise ValueError(f"{where} should hold a number of atoms, and holds {lines[at][:30]!r}.")
        n = int(lines[at])
        comment = lines[at + 1] if at + 1 < len(lines) else ""
        block = [line.split() for line in lines[at + 2 : at + 2 + n]]
        columns = _columns(comment)
        if len(block) < n or any(
            len(row) < max(columns["pos"].stop, columns["species"].stop) for row in block
        ):
            raise ValueError(f"The geometry that begins at {where} is incomplete.")
        symbols = [row[columns["species"].start] for row in block]
        if atoms is not None and symbols != atoms:
            raise ValueError(
                f"The geometry that begins at {where} has other atoms, or another order of them."
            )
        atoms = symbols
        try:
            R.append([[float(v) for v in row[columns["pos"]]] for row in block])
            if "forces" in columns:
                F.append([[float(v) for v in row[columns["forces"]]] for row in block])
        except ValueError:
            raise ValueError(
                f"The geometry that begins at {where} holds something that is no number."
            ) from None
        energy = re.search(r"\benergy=(\S+)", comment, re.IGNORECASE)
        if energy:
            E.append(float(energy[1].strip('"')))
        at += 2 + n
    if atoms is None:
        raise ValueError(f"{path.name!r} holds no geometry.")
    if (F and len(F) < len(R)) or (E and len(E) < len(R)):
        raise ValueError(f"Some geometries of {path.name!r} lack forces or energies that others have.")
    return Geometries(np.array(R), atoms, np.array(F) if F else None, np.array(E) if E else None)


def _columns(comment: str) -> dict[str, slice]:
    """Which columns hold what, by the ``Properties`` of the comment; plain XYZ has symbols and positions."""
    found = re.search(r"\bProperties=(\S+)", comment)
    if not found:
        return {"species": slice(0, 1), "pos": slice(1, 4)}
    fields = found[1].strip('"').split(":")
    columns: dict[str, slice] = {}
    start = 0
    for name, _, width in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        columns["forces" if name == "force" else name] = slice(start, start + int(width))
        start += int(width)
    if "species" not in columns or "pos" not in columns:
        raise ValueError(f"The comment line {comment[:60]!r} names no species or no pos.")
    return columns


def _xyz_text(geometries: Geometries) -> str:
    n = geometries.R.shape[1]
    known = [0] * n if geometries.atoms is None else geometries.atoms
    atoms = [SYMBOLS[atomic_number(atom)] for atom in known]
    kinds = "species:S:1:pos:R:3" + ("" if geometries.F is None else ":forces:R:3")
    lines = []
    for i, positions in enumerate(geometries.R):
        energy = "" if geometries.E is None else f" energy={float(geometries.E[i])!r}"
        lines += [str(n), f"Properties={kinds}{energy}"]
        rows = positions if geometries.F is None else np.hstack([positions, geometries.F[i]])
        lines += [
            f"{atom:<2} " + " ".join(f"{v:.10f}" for v in row) for atom, row in zip(atoms, rows, strict=True)
        ]
    return "\n".join(lines) + "\n"
