"""The SELECT statement of a scoring model, built stage by stage as common table expressions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pellucid.export.scoring.model import ScoringModel
from pellucid.export.scoring.parts import Line, Products, ScoreAxis, ScoreTerm, Waves
from pellucid.export.sql import text as sql
from pellucid.export.sql.response import response_columns

_JOINS = 40  # at most so many in one SELECT: SQLite has a limit of 64


@dataclass
class Statement:
    """The statement as it grows, one common table expression after the other."""

    scoring: ScoringModel
    table: list[str]
    keep: list[str]
    columns: dict[str, str]
    ctes: list[str] = field(default_factory=list)
    prefix: str = "pellucid_"
    carried: list[str] = field(default_factory=list)  # columns that the last stage has
    stage: str = ""

    def text(self, *, contributions: bool, exponential: bool) -> str:
        """The whole statement."""
        while any(part.lower().startswith(self.prefix) for part in self.table):
            self.prefix += "_"
        self._read_input()
        self._locate()
        self._look_up()
        self._add_up(contributions)
        return self._finish(contributions, exponential)

    # ------------------------------------------------------------------ stages
    def _cte(self, name: str, body: str, head: str = "", note: str = "") -> None:
        remark = f"-- {sql.comment(note)}\n" if note else ""
        self.ctes.append(f"{remark}{self.prefix}{name}{head} AS (\n{body}\n)")

    def _step(
        self, name: str, made: Mapping[str, str], keep: Iterable[str], joins: Sequence[str] = ()
    ) -> None:
        """A SELECT from the last stage: some of its columns, and new ones."""
        every = {column: f"r.{column}" for column in keep} | dict(made)
        source = f"{self.stage} AS r" + "".join(f"\n  LEFT JOIN {join}" for join in joins)
        self._cte(name, f"{sql.select(every.items() or [('one', '1')])}\nFROM {source}")
        self.stage, self.carried = self.prefix + name, list(every)

    def _read_input(self) -> None:
        """Columns of the table as numbers or texts; NaN, which sorts above all numbers, becomes NULL."""
        made = {f"k{n}": f"r.{sql.name(column)}" for n, column in enumerate(self.keep)}
        for j in self.scoring.used:
            feature = self.scoring.features[j]
            x = f"r.{sql.name(self.columns.get(feature.name, feature.name))}"
            if feature.levels is not None:
                made[f"x{j}"] = f"CAST({x} AS VARCHAR)"
            else:
                x = f"CAST({x} AS DOUBLE PRECISION)"
                made[f"x{j}"] = f"CASE WHEN {x} <= {sql.LARGEST} THEN {x} END"
        self.stage = ".".join(sql.name(part) for part in self.table)
        self._step("input", made, ())

    def _kept(self) -> list[str]:
        return [f"k{n}" for n in range(len(self.keep))]

    def _locate(self) -> None:
        """Point of each axis, and the value as far as the knots go."""
        made = {}
        for a, axis in enumerate(self.scoring.axes):
            x = f"r.x{axis.feature}"
            made[f"i{a}"] = self._point(axis, x)
            if _sloped(axis):
                missing = "NULL" if axis.missing is None else "0e0"
                made[f"c{a}"] = sql.clamped(x, axis.knots[0], axis.knots[-1], missing)
        if made:
            lines = [f"x{term.feature}" for term in self.scoring.terms if isinstance(term, Line)]
            self._step("place", made, [*self._kept(), *lines])

    def _point(self, axis: ScoreAxis, x: str) -> str:
        levels = self.scoring.features[axis.feature].levels
        if axis.is_levels:
            found = sql.level_of(x, levels or (), axis.other)
        else:
            found = sql.point_of(x, axis.knots) if len(axis.knots) else str(axis.size)
        missing = "NULL" if axis.missing is None else str(axis.missing)
        return f"CASE WHEN {x} IS NULL THEN {missing} ELSE {found} END"

    # ---------------------------------------------------------------- look-ups
    def _curves(self, a: int) -> tuple[list[str], np.ndarray]:
        """Names and tables of all functions on an axis."""
        functions = self.scoring.functions(a)
        names = [f"f{t}_{side}_{k}" for t, side, F in functions for k in range(F.shape[1])]
        tables = [F for _, _, F in functions]
        if a in self.scoring.warps:
            names, tables = [f"u{a}", *names], [self.scoring.warps[a][:, None], *tables]
        return names, np.hstack(tables)

    def _look_up(self) -> None:
        """Values of all functions of single features, by joins with tables of them."""
        axes = list(range(len(self.scoring.axes)))
        for start in range(0, len(axes), _JOINS):
            made, joins = {}, []
            for a in axes[start : start + _JOINS]:
                names, F = self._curves(a)
                self._axis_table(a, names, F)
                sloped = _sloped(self.scoring.axes[a])
                for n, curve in enumerate(names):
                    value = f"t{a}.v{n} + t{a}.s{n} * (r.c{a} - t{a}.k)" if sloped else f"t{a}.v{n}"
                    made[curve] = value
                joins.append(f"{self.prefix}axis{a} AS t{a} ON t{a}.i = r.i{a}")
            rest = [c for c in self.carried if not c.startswith(("i", "c"))]
            later = [
                f"{c}{a}" for a in axes[start + _JOINS :] for c in ("i", "c") if f"{c}{a}" in self.carried
            ]
            self._step(f"values{start // _JOINS}", made, [*rest, *later], joins)
            if later:  # a compound SELECT is not merged with the next one, whose joins would add up
                nothing = ", ".join(["NULL"] * len(self.carried))
                self.ctes[-1] = f"{self.ctes[-1][:-2]}\nUNION ALL SELECT {nothing} WHERE 1 = 0\n)"

    def _axis_table(self, a: int, names: list[str], F: np.ndarray) -> None:
        """Values of the functions at the points of an axis; between knots also their start and slopes."""
        axis = self.scoring.axes[a]
        head, points = ["i"], _reachable(axis)
        table = F[points]
        if _sloped(axis):
            head, inside = ["i", "k"], len(axis.knots) - 1
            slope = np.zeros_like(F)
            slope[:inside] = np.diff(F[: inside + 1], axis=0) / np.diff(axis.knots)[:, None]
            start = np.append(axis.knots[:-1], np.zeros(len(F) - inside))
            pairs = np.stack([F, slope], axis=2).reshape(len(F), -1)
            table = np.column_stack([start, pairs])[points]
        for n in range(len(names)):
            head += [f"v{n}", f"s{n}"] if _sloped(axis) else [f"v{n}"]
        rows = [", ".join([str(i), *map(sql.number, row)]) for i, row in zip(points, table, strict=True)]
        body = "VALUES " + ",\n".join(f"({row})" for row in rows)
        self._cte(f"axis{a}", body, f"({', '.join(head)})", self.scoring.features[axis.feature].name)

    # -------------------------------------------------------------------- sums
    def _add_up(self, contributions: bool) -> None:
        """Values of the terms, then scores."""
        q = self.scoring.n_outputs
        made = {
            f"g{t}_{c}": self._term(t, term, c) for t, term in enumerate(self.scoring.terms) for c in range(q)
        }
        if made:
            self._step("terms", made, self._kept())
        terms = range(len(self.scoring.terms))
        scores = {
            f"y{c}": sql.total([sql.number(self.scoring.intercept[c])] + [f"r.g{t}_{c}" for t in terms])
            for c in range(q)
        }
        self._step("scores", scores, [*self._kept(), *(made if contributions else ())])

    def _term(self, t: int, term: ScoreTerm, c: int) -> str:
        if isinstance(term, Line):
            return f"{sql.number(term.coef[c])} * r.x{term.feature}"
        if isinstance(term, Products):
            products = [
                " * ".join(f"r.f{t}_{side}_{k}" for side in range(len(term.axes)))
                for k in np.flatnonzero(term.outputs == c)
            ]
            return sql.total(products)
        return self._waves(term, c)

    def _waves(self, term: Waves, c: int) -> str:
        """Waves as amplitudes and phases: ``c cos φ + s sin φ = a cos(φ - δ)``."""
        amplitude = np.hypot(term.cos[:, c], term.sin[:, c])
        shift = np.arctan2(term.sin[:, c], term.cos[:, c])
        waves = [sql.number(term.constant[c])]
        for k, size in enumerate(amplitude):
            if size == 0:
                continue
            phase = [
                f"{sql.number(o)} * r.u{a}" for o, a in zip(term.omega[k], term.axes, strict=True) if o != 0
            ]
            waves.append(f"{sql.number(size)} * COS({' + '.join([*phase, sql.number(-shift[k])])})")
        return sql.total(waves)

    def _finish(self, contributions: bool, exponential: bool) -> str:
        made = [(column, f"r.k{n}") for n, column in enumerate(self.keep)]
        made += response_columns(
            self.scoring,
            exponential=exponential,
            add=lambda name, columns: self._step(name, columns, self.carried),
        )
        for t, term in enumerate(self.scoring.terms if contributions else ()):
            for c, label in enumerate([f" [{label}]" for label in self.scoring.outputs] or [""]):
                made.append((term.name + label, f"r.g{t}_{c}"))
        taken: dict[str, str] = {}  # code by unique name
        for column, code in made:
            unique, n = column, 2
            while unique.lower() in map(str.lower, taken):
                unique, n = f"{column}_{n}", n + 1
            taken[unique] = code
        lines = [(sql.name(column), code) for column, code in taken.items()]
        ctes = ",\n".join(self.ctes)
        return f"WITH\n{ctes}\n{sql.select(lines)}\nFROM {self.stage} AS r"


def _sloped(axis: ScoreAxis) -> bool:
    """Whether functions on the axis have slopes between its points."""
    return len(axis.knots) > 1


def _reachable(axis: ScoreAxis) -> list[int]:
    """Points at which a value can be."""
    if axis.is_levels:
        points = set(range(axis.levels)) | {axis.other}
    else:
        points = set(range(max(len(axis.knots) - 1, 1))) if len(axis.knots) else {axis.size}
    return sorted(points | (set() if axis.missing is None else {axis.missing}))
