"""What xDSL says about a text, in words for those who wrote the text."""

from __future__ import annotations

import re

__all__ = ["worded"]

_TERMS = {
    "type": "a type",
    "shape type": "an element type like f32 at the end of the shape",
    "'x' in shape delimiter": "'x' and an element type, as in tensor<4x8xf32>",
    "vector element type": "an element type like f32 at the end of the shape",
    "function type": "the types of operands and results, as in (tensor<4xf32>) -> tensor<4xf32>",
    "attribute": 'a value like 1, "text" or dense<1.0> : tensor<4xf32>',
    "bare-id or string-literal here as part of attribute entry": "the name of an attribute",
    "attribute name": "the name of an attribute",
    "operand": "an operand like %x",
    "an operand": "an operand like %x",
    "argument or type": "an argument like %x, or a type",
    "block argument": "an argument like %x",
    "operation name": "the name of an operation in double quotes",
    "integer literal": "a whole number",
    "integer value": "a whole number",
    "float literal": "a number like 1.0",
    "integer or float literal": "a number",
    "boolean literal": "true or false",
    "string literal": "a text in double quotes",
    "string literal naming a mesh axis": "the name of a mesh axis in double quotes",
    "bytes literal": "a text in double quotes",
    "identifier": "a name",
    "identifier or string literal": "a name, or a text in double quotes",
    "symbol name": "a name like @main",
    "symbol visibility keyword": "public, private or nested",
    "region": "a region in braces",
    "successor": "a block like ^next",
    "block-id": "a block like ^next",
    "integer as SSA value tuple index": "the number of a result behind '#'",
}
"""What can be missing, by what xDSL calls it."""

_CONTEXTS = {
    " after operation result list": " behind the names of the results",
    " after block argument name": " behind the name of the argument",
    " after builtin parameter list": " at the end of the type",
    " after builtin name": " behind the name of the type",
    "function type signature expected": " and the types of operands and results",
}
"""Where a mark is missing, by what xDSL adds."""

_DUE = re.compile(r"expect(?:ed)? (?P<behind>.+?)(?:, got \w+)?|(?P<before>.+) expected(?P<more> naming .+)?", re.I)
_MARK = re.compile(r"(?P<mark>'[^']+'|`[^`]+`)(?P<context>.*)")
_LIST = re.compile(r"one of '[^']+'.*|`\w+`(?:, `\w+`)*,? or `\w+`")

_SAID = (
    (r"could not parse entire input", r"no operation begins here"),
    (r"unexpected character: (.+)", r"no program has the character '\1' here"),
    (r" in block definition", r"expected an operation or '}'"),
    (r"duplicate key '(.*)' in .*", r"the attribute '\1' is given twice"),
    (r"integer value (\S+) is out of range for type (\S+) .*", r"\1 is out of range for \2"),
    (r"expected (\d+) operand types but had (\d+)", r"there are \1 types for \2 operands"),
    (r"'(.+)' has (\d+) results, but (\d+) names", r"'\1' has \2 results, but \3 names"),
    (r"@ identifier expected .*", "a name of ASCII letters, digits and $._- must follow '@'"),
    (r"opaque expects 2 .*", "opaque<...> takes two texts in double quotes"),
    (r"expected an integer literal or `\?`.*", "expected a whole number or '?'"),
    (r"property '(\w+)' expected in operation '.+'", r"lacks its attribute '\1'"),
    (r"(.+) should be of base attribute array", r"has \1 where a list like array<i64: 1, 0> is due"),
    (r"(.+) should be of base attribute (\w+)", r"has \1 where another kind of attribute is due"),
    (r"expected (\d+) (operand|result|region)s?, but got (\d+)", r"takes \1 \2s, and has \3"),
    (r"expected arguments to have the same types as the function output types: expected \[(.*)\], got \[(.*)\]",
     r"returns (\2), but the function's results are (\1)"),
)  # fmt: skip


def worded(message: str, word: str = "") -> str:
    """
    `message` of xDSL's parser or verifier in our words, where `word` is what stands there; our own stay as they are.

    >>> worded("Expected integer literal", "two")
    "expected a whole number, not 'two'"
    >>> worded("type expected", "tensr")
    "expected a type, not 'tensr'"
    >>> worded("Could not parse entire input!")
    'no operation begins here'
    >>> worded("the alias #a is not defined", "#a")
    'the alias #a is not defined'
    """
    message = message.rstrip("!.")
    for theirs, ours in _SAID:
        if (found := re.fullmatch(theirs, message, re.IGNORECASE | re.DOTALL)) is not None:
            return found.expand(ours)
    term = _term(message)
    if term is None:
        return message[:1].lower() + message[1:] if message[1:2].islower() else message
    return f"expected {term}" + (f", not '{word}'" if word.strip() else "")


def _term(message: str) -> str | None:
    """What is missing, where a message of xDSL says that something is."""
    for mark, more in _CONTEXTS.items():
        found = re.fullmatch(r"expected ('.+?')", message.removesuffix(mark), re.IGNORECASE)
        if found is not None and message.endswith(mark):
            return found[1] + more
    due = _DUE.fullmatch(message)
    if due is None:
        return None
    term = due["behind"] or due["before"] + (due["more"] or "")
    if term in _TERMS:
        return _TERMS[term]
    if _LIST.fullmatch(term):
        return term.replace("`", "").replace(", or", " or")
    mark = _MARK.fullmatch(term)
    return mark["mark"] if mark is not None and " or " not in mark["context"] else None
