"""The call graph of a module: which functions are reached, callees before callers."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from shardwright.dialects.func import CallOp
from shardwright.dialects.text.locations import fault


def functions(module: ModuleOp) -> dict[str, FuncOp]:
    """The functions of `module` by name, in order."""
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def is_private(function: FuncOp) -> bool:
    """Whether only this module can call `function`."""
    return function.sym_visibility is not None and function.sym_visibility.data == "private"


def calls_in(function: FuncOp) -> list[CallOp]:
    """The calls in the body of `function`, in order."""
    # Ops are classes of an ABC, of which `isinstance` is ten times as dear for all that are no calls.
    return [op for op in function.body.walk() if op.name == CallOp.name and isinstance(op, CallOp)]


def around(op: Operation) -> Iterator[Operation]:
    """The ops that an op stands inside of, inner ones first."""
    outer = op.parent_op()
    while outer is not None:
        yield outer
        outer = outer.parent_op()


def _public_others(module: ModuleOp) -> list[FuncOp]:
    return [function for name, function in functions(module).items() if name != "main" and not is_private(function)]


def second_entries(module: ModuleOp) -> list[FuncOp]:
    """The public functions beside `main` that the module itself neither calls nor names."""
    others = _public_others(module)
    used = _names_used(module) if others else set[str]()
    return [function for function in others if function.sym_name.data not in used]


def hide_used(module: ModuleOp) -> None:
    """Makes private what the module itself calls or names, as JAX does not with the function of `approx_max_k`."""
    entries = second_entries(module)
    for function in _public_others(module):
        if function not in entries:
            function.properties["sym_visibility"] = StringAttr("private")


def _names_used(module: ModuleOp) -> set[str]:
    """The names by which ops of a module call functions, or give them to custom calls and composites."""
    attributes = [attribute for op in module.walk() for attribute in (*op.properties.values(), *op.attributes.values())]
    listed = [item for attribute in attributes if isinstance(attribute, ArrayAttr) for item in attribute]
    return {item.string_value() for item in (*attributes, *listed) if isinstance(item, SymbolRefAttr)}


def callees_first(module: ModuleOp) -> list[FuncOp]:
    """
    The functions that the public ones reach, each after those that it calls.

    Raises SW0322 for a callee that the module lacks and SW0321 for recursion.
    """
    table = functions(module)
    ordered: dict[str, FuncOp] = {}
    for name, function in table.items():
        if not is_private(function):
            _visit(name, table, ordered)
    return list(ordered.values())


def _visit(root: str, table: dict[str, FuncOp], ordered: dict[str, FuncOp]) -> None:
    # An explicit stack: a chain of calls may be longer than Python's recursion limit.
    path: dict[str, Iterator[CallOp]] = {} if root in ordered else {root: iter(calls_in(table[root]))}
    while path:
        name = next(reversed(path))
        for call in path[name]:
            callee = call.callee.string_value()
            if callee in path:
                raise _recursion(call, [*path, callee])
            if callee not in ordered:
                path[callee] = iter(calls_in(_callee(call, table)))
                break
        else:
            ordered[name] = table[name]
            del path[name]


def _callee(call: CallOp, table: dict[str, FuncOp]) -> FuncOp:
    name = call.callee.string_value()
    if name in table and table[name].body.blocks:
        return table[name]
    message = f"'func.call' op calls @{name}, which has no body" if name in table else f"there is no function @{name}"
    known = ", ".join(f"@{function}" for function in table)
    help_text = f"the module must hold the whole program; it has {known}"
    raise fault("SW0322", message, call, help=help_text, word=f"@{name}")


def _recursion(call: CallOp, path: list[str]) -> Exception:
    cycle = path[path.index(path[-1]) :]
    return fault(
        "SW0321",
        f"@{cycle[0]} calls itself: {' -> '.join(f'@{name}' for name in cycle)}",
        call,
        word=f"@{call.callee.string_value()}",
        help="write the repetition as a loop (stablehlo.while)",
    )
