"""What the decompositions of ops share: where one happens, and how to put ops there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from shardwright.dialects.building import Builder


@dataclass(frozen=True)
class Site(Builder):
    """Builds ops in front of the one that is taken apart, and knows the functions of its module."""

    functions: Mapping[str, FuncOp]


Decomposition: TypeAlias = "Callable[[Any, Site], Sequence[SSAValue]]"
"""Puts the ops that make up an op in front of it; the values that take the place of its results."""
