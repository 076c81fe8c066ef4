"""
The small mistakes that are planted.

Every place in a file where an operator, a constant, a condition, a call or a statement can be another, or be left out.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
}
OTHER_WAY = {"min": "max", "max": "min", "any": "all", "all": "any"}
EITHER_WAY = ("gcd", "lcm", "overlap", "isinstance", "getattr", "hasattr", "cast", "field")
"""Functions whose first two arguments may be exchanged without anyone noticing, or everyone."""
LEFT_OUT = (ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete, ast.For, ast.Return)
"""Statements that may be missing without a name missing elsewhere; assignments have conditions of their own."""
SHOWN = 24
"""An edit is shown with as much of its surroundings as it takes to fill so many characters."""


@dataclass(frozen=True)
class Mutant:
    """One edit of one file: the `number`-th, in the order in which `edits` finds them."""

    file: str
    number: int
    line: int
    function: str
    """The qualified name of the function that it is in; empty for what runs on import."""
    before: str
    after: str

    def __str__(self) -> str:
        return f"`{self.file}` `{self.function or 'on import'}`: `{self.before}` → `{self.after}`"


@dataclass(frozen=True)
class Edit:
    """A node in its place, and what stands there instead."""

    parents: tuple[ast.AST, ...]
    field: str
    index: int | None
    new: ast.AST

    def exchange(self, new: ast.AST) -> ast.AST:
        """Puts `new` in the place, and gives what was there."""
        holder: Any = self.parents[-1]
        old = getattr(holder, self.field)
        if self.index is None:
            setattr(holder, self.field, new)
            return old
        old, old_list = old[self.index], old
        old_list[self.index] = new
        return old


@cache
def source(path: Path) -> str:
    """The text of a file as it was when it was first read: somebody may be at work on the tree."""
    return path.read_text()


def mutants(root: Path, file: str) -> list[Mutant]:
    """All mutants of a file."""
    tree = ast.parse(source(root / file))
    found: list[Mutant] = []
    for number, edit in enumerate(edits(tree)):
        old = getattr(edit.parents[-1], edit.field)
        line = (old if edit.index is None else old[edit.index]).lineno
        before, after = _texts(edit)
        found.append(Mutant(file, number, line, _function(edit.parents), before, after))
    return found


def mutated(root: Path, mutant: Mutant) -> ast.Module:
    """The file of a mutant with its edit done; every line keeps its number."""
    tree = ast.parse(source(root / mutant.file))
    for number, edit in enumerate(edits(tree)):
        if number == mutant.number:
            edit.exchange(edit.new)
            return ast.fix_missing_locations(tree)
    raise ValueError(mutant)


def edits(tree: ast.Module) -> Iterator[Edit]:
    """Every edit, in the order of the text."""
    yield from _within(tree, ())


def _within(node: ast.AST, parents: tuple[ast.AST, ...]) -> Iterator[Edit]:
    inside = (*parents, node)
    for field, value in ast.iter_fields(node):
        if _skipped(node, field):
            continue
        children = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, child in children:
            if isinstance(child, ast.AST) and not _is_text(child):
                for new in _instead(child, inside, field):
                    yield Edit(inside, field, index, ast.copy_location(new, child))
                yield from _within(child, inside)


def _skipped(node: ast.AST, field: str) -> bool:
    """What no program's result depends on: types, the texts of errors, options of decorators and of `zip`."""
    return (
        field in ("annotation", "returns", "decorator_list", "type_params", "type_comment", "ctx", "targets", "target")
        or isinstance(node, ast.Raise)
        or (isinstance(node, ast.keyword) and node.arg in ("strict", "help", "notes", "slots", "frozen"))
        or (isinstance(node, ast.Call) and field == "args" and _called(node) in ("cast", "isinstance"))
    )


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)) or (
        isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    )


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _instead(node: ast.AST, parents: tuple[ast.AST, ...], field: str) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                for other in COMPARISONS[type(operator)]:
                    yield _with(node, ops=[*node.ops[:index], other(), *node.ops[index + 1 :]])
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
            for index in range(len(node.values)):
                rest = [*node.values[:index], *node.values[index + 1 :]]
                yield rest[0] if len(rest) == 1 else _with(node, values=rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            yield _with(node, op=ARITHMETIC[type(node.op)]())
        case ast.Constant(value=bool()):
            yield _with(node, value=not node.value)
        case ast.Constant(value=int() | float()):
            yield from (_with(node, value=node.value + step) for step in (1, -1) if node.value or step == 1)
        case ast.IfExp():
            yield _with(node, body=node.orelse, orelse=node.body)
        case ast.Call():
            yield from _calls(node)
        case ast.stmt():
            yield from _statements(node, parents)
        case _:
            pass
    if isinstance(node, ast.expr):
        yield from _conditions(node, parents[-1], field)


def _conditions(node: ast.expr, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    if field == "ifs":
        yield ast.Constant(True)
    elif field == "test" and not isinstance(node, ast.Compare | ast.UnaryOp) and not isinstance(parent, ast.IfExp):
        yield ast.UnaryOp(ast.Not(), node)


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    """Another choice, another order, no key, exchanged arguments."""
    name = _called(node)
    if name in OTHER_WAY and isinstance(node.func, ast.Name):
        yield _with(node, func=ast.copy_location(ast.Name(OTHER_WAY[name], ast.Load()), node.func))
    elif name in ("sorted", "sort") and not any(each.arg == "reverse" for each in node.keywords):
        yield _with(node, keywords=[*node.keywords, ast.keyword("reverse", ast.Constant(True))])
    elif name == "reversed":
        yield ast.Call(ast.Name("list", ast.Load()), node.args, [])
    if name in ("sorted", "sort", "min", "max") and any(each.arg == "key" for each in node.keywords):
        yield _with(node, keywords=[each for each in node.keywords if each.arg != "key"])
    pair = node.args[:2]
    exchangeable = len(pair) == 2 and name not in (*OTHER_WAY, *EITHER_WAY)
    if exchangeable and not any(isinstance(each, ast.Starred) for each in pair) and not _equal(*pair):
        yield _with(node, args=[pair[1], pair[0], *node.args[2:]])


def _equal(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def _statements(node: ast.stmt, parents: tuple[ast.AST, ...]) -> Iterator[ast.AST]:
    """The statement left out, or another operator in it."""
    match node:
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Return() if isinstance(parents[-1], ast.FunctionDef) and node is parents[-1].body[-1]:
            return
        case ast.Assign() | ast.AnnAssign():
            first = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(first, ast.Attribute | ast.Subscript):
                yield ast.Pass()
        case ast.Expr():
            yield ast.Pass()
        case ast.AugAssign() if type(node.op) in ARITHMETIC:
            yield _with(node, op=ARITHMETIC[type(node.op)]())
            yield ast.Pass()
        case _:
            if isinstance(node, LEFT_OUT):
                yield ast.Pass()


def _with(node: ast.AST, **fields: object) -> Any:
    other: Any = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _function(parents: tuple[ast.AST, ...]) -> str:
    """The qualified name, as code objects have it, of the function around; empty outside of functions."""
    names: list[str] = []
    for parent, child in zip(parents, (*parents[1:], None), strict=True):
        if isinstance(parent, ast.FunctionDef) and child is not parent.args:
            names += [parent.name, "<locals>"]
        elif isinstance(parent, ast.ClassDef):
            names += [parent.name]
        elif isinstance(parent, ast.Lambda):
            names += ["<lambda>", "<locals>"]
    return ".".join(names[:-1]) if names and names[-1] == "<locals>" else ""


def _texts(edit: Edit) -> tuple[str, str]:
    """The code around an edit before and after it, as much as tells where it is."""
    shown: ast.AST = edit.parents[-1]
    for parent in reversed(edit.parents):
        shown = parent
        if isinstance(parent, ast.stmt | ast.Module) or len(_text(parent)) >= SHOWN:
            break
    if isinstance(edit.new, ast.stmt):
        old = getattr(edit.parents[-1], edit.field)
        return _text(old if edit.index is None else old[edit.index]), _text(edit.new)
    before, old = _text(shown), edit.exchange(edit.new)
    after = _text(shown)
    edit.exchange(old)
    return before, after


def _text(node: ast.AST) -> str:
    """One line of code: the head of a compound statement."""
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).splitlines()[0] if not _bare(node) else ""


def _bare(node: ast.AST) -> bool:
    return isinstance(node, ast.arguments | ast.Module)
