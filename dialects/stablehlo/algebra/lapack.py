"""The shapes of LAPACK's calls: how many operands each routine takes, which options, and what its results are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.parts import shapes

Shape = tuple[int, ...]
Tail = tuple[Shape, ...]
"""The shapes of several tensors without their batch dims."""


@dataclass(frozen=True)
class Signature:
    """Ranks of the operands without batch dims, options that must be there, and the results of given operands."""

    operands: tuple[int, ...]
    options: tuple[str, ...]
    results: Callable[[Tail, Mapping[str, Any]], Tail]
    also: Callable[[Tail, Mapping[str, Any]], Tail] | None = None
    """Other results that are as good: what is not wanted may have another shape."""


def _singular(given: Tail, options: Mapping[str, Any]) -> Tail:
    ((rows, columns),) = given
    least = min(rows, columns)
    some = options["mode"] == ord("S")
    left, right = ((rows, least), (least, columns)) if some else ((rows, rows), (columns, columns))
    return (rows, columns), (least,), left, right, ()


def _without_vectors(given: Tail, options: Mapping[str, Any]) -> Tail:
    """Vectors that are not wanted may be as few as there are singular values."""
    return _singular(given, {**options, "mode": ord("S")} if options["mode"] == ord("N") else options)


def _eigen(given: Tail, options: Mapping[str, Any]) -> Tail:
    (square,) = given
    values = ((square[0],),) if options["letter"] in "cz" else ((square[0],),) * 2
    return *values, square, square, ()


def _schur(given: Tail, options: Mapping[str, Any]) -> Tail:
    """The form, the vectors, the eigenvalues (parts apart for real operands), how many were wanted first, and info."""
    (square,) = given
    values = ((square[0],),) if options["letter"] in "cz" else ((square[0],),) * 2
    return square, square, *values, (), ()


_QR = Signature((2,), (), lambda given, _: (given[0], (min(given[0]),)))
_BASIS = Signature((2, 1), (), lambda given, _: (given[0],))
_PRODUCT = Signature((2, 1, 2), ("left", "transpose"), lambda given, _: (given[2],))
_SYMMETRIC = Signature((2,), ("uplo", "mode"), lambda given, _: (given[0], given[0][:1], ()))
_SINGULAR = Signature((2,), ("mode",), _singular, _without_vectors)
_TRIDIAGONAL = Signature(
    (2,), ("uplo",), lambda given, _: (given[0], given[0][:1], (given[0][0] - 1,), (given[0][0] - 1,), ())
)

SIGNATURES: Mapping[str, Signature] = {
    "getrf": Signature((2,), (), lambda given, _: (given[0], (min(given[0]),), ())),
    "potrf": Signature((2,), ("uplo",), lambda given, _: (given[0], ())),
    "trsm": Signature((2, 2), ("side", "uplo", "trans_x", "diag"), lambda given, _: (given[1],)),
    "geqrf": _QR,
    "geqp3": Signature((2, 1), (), lambda given, _: (given[0], given[1], (min(given[0]),))),
    "orgqr": _BASIS,
    "ungqr": _BASIS,
    "ormqr": _PRODUCT,
    "unmqr": _PRODUCT,
    "syevd": _SYMMETRIC,
    "heevd": _SYMMETRIC,
    "gesdd": _SINGULAR,
    "gesvd": _SINGULAR,
    "geev": Signature((2,), ("compute_left", "compute_right"), _eigen),
    "gees": Signature((2,), ("mode", "sort"), _schur),
    "gtsv": Signature((1, 1, 1, 2), (), lambda given, _: (*given, ())),
    "gehrd": Signature((2,), ("low", "high"), lambda given, _: (given[0], (given[0][0] - 1,), ())),
    "sytrd": _TRIDIAGONAL,
    "hetrd": _TRIDIAGONAL,
}
"""Each routine that has a meaning here, without its type letter."""


def check_shapes(
    target: str, routine: str, operands: Sequence[Shape], results: Sequence[Shape], options: Mapping[str, Any]
) -> None:
    """Checks a call's tensors and options; `VerifyException` says what does not fit."""
    signature = SIGNATURES[routine]
    missing = [name for name in signature.options if name not in options]
    if missing:
        raise VerifyException(f"@{target} lacks the option {missing[0]}")
    if len(operands) != len(signature.operands):
        raise VerifyException(f"@{target} takes {len(signature.operands)} operands, not {len(operands)}")
    batch = operands[0][: len(operands[0]) - signature.operands[0]]
    for shape, rank in zip(operands, signature.operands, strict=True):
        if len(shape) != len(batch) + rank or shape[: len(batch)] != batch:
            raise VerifyException(f"operands of @{target} do not fit: {', '.join(map(shapes.text, operands))}")
    given = tuple(shape[len(batch) :] for shape in operands)
    said = {**options, "letter": target[7]}
    expected, *others = (
        [(*batch, *shape) for shape in rule(given, said)] for rule in (signature.results, signature.also) if rule
    )
    if list(results) not in (expected, *others):
        wanted = ", ".join(map(shapes.text, expected))
        raise VerifyException(f"@{target} gives {wanted}, not {', '.join(map(shapes.text, results))}")
