"""``pellucid forces``: fit a force field to geometries in a file, predict with it, say what it is."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from pellucid.cli.console import say, show, show_json
from pellucid.cli.errors import UserError

forces = typer.Typer(no_args_is_help=True, help="Force fields of molecules, from geometries and forces.")

_FILES = "Geometries: .xyz, .extxyz or .npz"
Geometry = Annotated[str, typer.Argument(help=_FILES, metavar="GEOMETRIES")]
Field = Annotated[str, typer.Argument(help="A force field written by 'pellucid forces fit'", metavar="MODEL")]
Part = Annotated[str, typer.Option(help="Part of an archive with several, such as train")]


@forces.command("fit")
def fit_forces(
    data: Geometry,
    out: Annotated[str, typer.Option(help="Where to write the force field")],
    test: Annotated[str | None, typer.Option(help=f"{_FILES}, to score it on")] = None,
    part: Part = "",
    test_part: Annotated[str, typer.Option(help="Part of the archive to score on, such as test")] = "",
    kernel: Annotated[str, typer.Option(help="matern52, rbf or rational_quadratic")] = "matern52",
    solver: Annotated[str, typer.Option(help="auto, closed or iterative")] = "auto",
    alpha: Annotated[
        float | None, typer.Option(help="Ridge strength; chosen by leave-one-out if missing")
    ] = None,
    first: Annotated[
        int | None, typer.Option(help="Use only so many geometries, evenly spaced", min=2)
    ] = None,
    symmetries: Annotated[bool, typer.Option(help="Whether to look for equivalent atoms")] = True,
) -> None:
    """Fit a force field; numbers stay in the units of the file."""
    import pellucid
    from pellucid.datasets import read_geometries

    _check_place(out)
    found = read_geometries(data, part)
    if found.F is None:
        raise UserError(f"{Path(data).name!r} has geometries but no forces.")
    held = read_geometries(test or data, test_part) if test is not None or test_part else None
    rows = np.arange(len(found.R))
    if first is not None and first < len(rows):
        rows = np.linspace(0, len(rows) - 1, first).astype(int)
    field = pellucid.ForceField(
        kernel,
        solver=solver,
        alpha="loo" if alpha is None else alpha,
        symmetries="auto" if symmetries else None,
    )
    energies = None if found.E is None else found.E[rows]
    field.fit(found.R[rows], found.F[rows], energies=energies, atoms=found.atoms)
    pellucid.save(field, out)
    show(str(field.summary()))
    if held is not None:
        show(_scores(field, held))
    say(f"Written to {out}.")


@forces.command("predict")
def predict_forces(
    model: Field,
    data: Geometry,
    out: Annotated[
        str, typer.Option(help="Where to write geometries with energies and forces: .xyz or .npz")
    ],
    part: Part = "",
) -> None:
    """Energies and forces of geometries, written with them."""
    from pellucid.datasets import Geometries, read_geometries, write_geometries

    _check_place(out, (".xyz", ".extxyz", ".npz"))
    field, found = _load(model), read_geometries(data, part)
    atoms = found.atoms if field.atoms_.any() else None
    E, F = field.predict(found.R, atoms=atoms)
    write_geometries(out, Geometries(found.R, found.atoms, F, E))
    if found.F is not None:
        show(_scores(field, found))
    say(f"{len(E)} geometries written to {out}.")


@forces.command("info")
def forces_info(
    model: Field, as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs")] = False
) -> None:
    """What a force field is: atoms, symmetries, kernel, solver."""
    field = _load(model)
    if not as_json:
        show(str(field.summary()))
        return
    show_json(
        {
            "geometries": len(field.R_fit_),
            "atoms": field.atoms_.tolist(),
            "permutations": field.permutations_.tolist(),
            "kernel": str(field.kernel_),
            "alpha": field.alpha_,
            "solver": field.solver_,
            "constant": field.constant_,
        }
    )


def _check_place(out: str, endings: tuple[str, ...] = ()) -> None:
    """Whether a file can be written, asked before the work begins."""
    place = Path(out)
    if not place.parent.is_dir():
        raise UserError(f"There is no folder {str(place.parent)!r} to write {place.name!r} to.")
    if endings and place.suffix.lower() not in endings:
        raise UserError(
            f"{place.name!r} has an ending that is not known here; known are {', '.join(endings)}."
        )


def _load(path: str) -> Any:
    import pellucid
    from pellucid.exceptions import ModelFileError

    try:
        field = pellucid.load(path)
    except ModelFileError as error:
        raise UserError(f"{Path(path).name!r} cannot be used: {error}") from error
    if not isinstance(field, pellucid.ForceField):
        raise UserError(f"{Path(path).name!r} holds no force field but a {type(field).__name__}.")
    return field


def _scores(field: Any, held: Any) -> str:
    E, F = field.predict(held.R, atoms=held.atoms if field.atoms_.any() else None)
    lines = []
    if held.F is not None:
        error = F - held.F
        lines.append(f"forces    MAE {np.abs(error).mean():.4g}   RMSE {np.sqrt(np.mean(error**2)):.4g}")
    if held.E is not None and field.constant_ != 0:  # without energies in training the constant is open
        error = E - held.E
        lines.append(f"energies  MAE {np.abs(error).mean():.4g}   RMSE {np.sqrt(np.mean(error**2)):.4g}")
    return f"On {len(held.R)} geometries, in the units of the file:\n" + "\n".join(lines)
