"""Chemical elements: symbols by atomic number."""

from __future__ import annotations

from typing import Any

SYMBOLS = """
X H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr
Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir
Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl
Mc Lv Ts Og
""".split()  # noqa: SIM905
"""Symbols by atomic number; X, number 0, is an atom of which nothing is known."""


def atomic_number(atom: Any) -> int:
    """Atomic number of a symbol, in capitals or not, or of a number, which may be a text too.

    Examples
    --------
    >>> atomic_number("Cl"), atomic_number("h"), atomic_number(6), atomic_number("6")
    (17, 1, 6, 6)
    """
    if isinstance(atom, str) and not atom.strip().isdecimal():
        symbol = atom.strip().capitalize()
        if symbol not in SYMBOLS:
            raise ValueError(f"atoms holds {atom!r}, which is no chemical symbol.")
        return SYMBOLS.index(symbol)
    try:
        number = int(atom)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if (number != atom and not isinstance(atom, str)) or not 0 <= number < len(SYMBOLS):
        raise ValueError(f"atoms holds {atom!r}, which is no atomic number.")
    return number
