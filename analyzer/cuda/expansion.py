"""Macro expansion in conditions and computed includes (C++ [cpp.replace]), with names that may be unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analyzer.cuda import tokens
from analyzer.cuda.directives import Macro


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that could not be decided, and why."""

    reason: str


#: What a name stands for: a macro, None where it is defined nowhere, Unknown where that is not known.
Lookup = Callable[[str], Macro | Unknown | None]
#: Answers ``__has_include`` and its kin: operator, operand as written (``<a.h>``, ``"a.h"``, a name).
Feature = Callable[[str, str], int | Unknown]
#: A token of expanded text: its spelling, or a part that could not be expanded.
Item = str | Unknown

#: Nesting and length at which a compiler would give up too, or a file means harm.
LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    hidden: frozenset[str]
    unknown: Unknown | None = None


_NOTHING: frozenset[str] = frozenset()
_FEATURES = frozenset(
    {
        "__has_include",
        "__has_include_next",
        "__has_builtin",
        "__has_attribute",
        "__has_cpp_attribute",
        "__has_feature",
        "__has_extension",
        "__has_embed",
        "__is_identifier",
    }
)


class TooLongError(Exception):
    """The expansion grew beyond any sensible size."""


def expand(source: Sequence[str], lookup: Lookup, feature: Feature, *, condition: bool = True) -> list[Item]:
    """The tokens after macro replacement.

    In a condition ``defined`` and ``__has_include(...)`` are answered on the way, also where they come
    out of a macro, as gcc and clang do.

    Raises:
        TooLongError: the text explodes.
    """
    expander = _Expander(lookup, feature, condition)
    result = expander.run([_Token(t, _NOTHING) for t in source])
    return [token.unknown or token.text for token in result]


class _Expander:
    def __init__(self, lookup: Lookup, feature: Feature, condition: bool) -> None:
        self._lookup = lookup
        self._feature = feature
        self._condition = condition
        self._asks = condition
        """Whether ``defined`` asks for the name that follows; in the argument of a macro it does not."""
        self._steps = 0

    def run(self, source: list[_Token]) -> list[_Token]:
        """Replace until nothing is left to replace."""
        todo = source[::-1]
        done: list[_Token] = []
        while todo:
            self._steps += 1
            if self._steps > LIMIT or len(todo) > LIMIT:
                raise TooLongError
            token = todo.pop()
            text = token.text
            if token.unknown or not (text[0].isalpha() or text[0] in "_$"):
                done.append(token)
            elif self._asks and text == "defined":
                done.append(self._defined(todo))
            elif self._condition and text in _FEATURES and _opens(todo):
                done.append(self._answer(text, todo))
            elif text in token.hidden:
                done.append(token)
            else:
                self._name(token, todo, done)
        return done

    def _name(self, token: _Token, todo: list[_Token], done: list[_Token]) -> None:
        macro = self._lookup(token.text)
        if macro is None:
            done.append(token)
        elif isinstance(macro, Unknown):
            if _opens(todo):  # only a function-like macro can stand before a parenthesis in a condition
                _arguments(todo)
            done.append(_Token(token.text, _NOTHING, macro))
        elif macro.parameters is None:
            hidden = token.hidden | {token.text}
            todo.extend(reversed(_concatenate([_Token(t, hidden) for t in macro.body])))
        elif _opens(todo):
            arguments, closing = _arguments(todo)
            hidden = (token.hidden & closing) | {token.text}
            todo.extend(reversed(self._substitute(macro, arguments, hidden)))
        else:
            done.append(token)

    def _defined(self, todo: list[_Token]) -> _Token:
        _skip_space(todo)
        token = todo.pop() if todo else None
        if token is not None and token.text == "(":
            _skip_space(todo)
            token = todo.pop() if todo else None
            _skip_space(todo)
            if not todo or todo.pop().text != ")":
                token = None
        if token is None or not tokens.is_name(token.text):
            return _Token("defined", _NOTHING, Unknown("malformed 'defined'"))
        macro = self._lookup(token.text)
        if isinstance(macro, Unknown):
            return _Token(token.text, _NOTHING, macro)
        return _Token("0" if macro is None else "1", _NOTHING)

    def _answer(self, operator: str, todo: list[_Token]) -> _Token:
        arguments, _ = _arguments(todo)
        operand = [t for argument in arguments for t in (*argument, _Token(",", _NOTHING))][:-1]
        text = "".join(t.text for t in operand).strip()
        if text[:1] not in ("<", '"') and operator.startswith("__has_include"):
            inner = _Expander(self._lookup, self._feature, False).run(operand)
            unknown = next((t.unknown for t in inner if t.unknown), None)
            if unknown:
                return _Token(operator, _NOTHING, unknown)
            text = "".join(t.text for t in inner).strip()
        answer = self._feature(operator, text)
        if isinstance(answer, Unknown):
            return _Token(operator, _NOTHING, answer)
        return _Token(str(answer), _NOTHING)

    def _argument(self, source: list[_Token]) -> list[_Token]:
        """An argument as it is before it takes the place of a parameter.

        ``defined X`` in it has undefined behaviour (C++ [cpp.cond]); gcc replaces X like any other name,
        and asks for what is left once the whole condition is expanded.
        """
        asks, self._asks = self._asks, False
        try:
            return self.run(list(source))
        finally:
            self._asks = asks

    def _substitute(
        self, macro: Macro, arguments: list[list[_Token]], hidden: frozenset[str]
    ) -> list[_Token]:
        bound = _bind(macro, arguments)
        body = macro.body
        result: list[_Token] = []
        for index, text in enumerate(body):
            if text == "#" and _next_word(body, index) in bound:
                continue
            previous, following = _last_word(body, index), _next_word(body, index)
            if text not in bound:
                result.append(_Token(text, hidden))
            elif previous == "#":
                spelled = "".join(t.text for t in bound[text]).strip()
                escaped = spelled.replace("\\", "\\\\").replace('"', '\\"')
                result.append(_Token(f'"{escaped}"', hidden))
            elif previous == "##" or following == "##":
                own = _trim(bound[text])
                result.extend(_Token(t.text, t.hidden | hidden, t.unknown) for t in own)
                if not own:
                    result.append(_Token(_PLACEMARKER, hidden))
            else:
                expanded = self._argument(bound[text])
                result.extend(_Token(t.text, t.hidden | hidden, t.unknown) for t in expanded)
        return _concatenate(result)


_PLACEMARKER = " "


def _bind(macro: Macro, arguments: list[list[_Token]]) -> dict[str, list[_Token]]:
    parameters = list(macro.parameters or ())
    bound: dict[str, list[_Token]] = {}
    if parameters and parameters[-1].endswith("..."):
        name = parameters.pop()[:-3].strip() or "__VA_ARGS__"
        rest: list[_Token] = []
        for argument in arguments[len(parameters) :]:
            rest += [_Token(",", _NOTHING), *argument] if rest else argument
        bound[name] = _trim(rest)
    for index, name in enumerate(parameters):
        bound[name] = _trim(arguments[index]) if index < len(arguments) else []
    return bound


def _concatenate(body: list[_Token]) -> list[_Token]:
    """Apply ``##``: glue its neighbours into one token."""
    if not any(t.text == "##" for t in body):
        return body
    result: list[_Token] = []
    index = 0
    while index < len(body):
        token = body[index]
        if token.text == "##" and result:
            while result and result[-1].text == " " and len(result) > 1:
                result.pop()
            index += 1
            while index < len(body) - 1 and body[index].text == " ":
                index += 1
            left = result.pop()
            right = body[index] if index < len(body) else _Token(_PLACEMARKER, left.hidden)
            glued = (left.text + right.text).strip() or _PLACEMARKER
            result.append(_Token(glued, left.hidden & right.hidden, left.unknown or right.unknown))
        else:
            result.append(token)
        index += 1
    return result


def _opens(todo: list[_Token]) -> bool:
    index = len(todo) - 1
    while index >= 0 and todo[index].text == " ":
        index -= 1
    return index >= 0 and todo[index].text == "("


def _skip_space(todo: list[_Token]) -> None:
    while todo and todo[-1].text == " ":
        todo.pop()


def _arguments(todo: list[_Token]) -> tuple[list[list[_Token]], frozenset[str]]:
    """Take ``( a , b )`` off the stack: the arguments, and what hides the closing parenthesis."""
    _skip_space(todo)
    todo.pop()
    arguments: list[list[_Token]] = [[]]
    depth = 0
    while todo:
        token = todo.pop()
        if token.text == ")" and depth == 0:
            return arguments, token.hidden
        if token.text == "," and depth == 0:
            arguments.append([])
            continue
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        arguments[-1].append(token)
    return arguments, _NOTHING


def _trim(items: list[_Token]) -> list[_Token]:
    start, end = 0, len(items)
    while start < end and items[start].text == " ":
        start += 1
    while end > start and items[end - 1].text == " ":
        end -= 1
    return items[start:end]


def _next_word(body: Sequence[str], index: int) -> str:
    return next((t for t in body[index + 1 :] if t != " "), "")


def _last_word(body: Sequence[str], index: int) -> str:
    return next((t for t in reversed(body[:index]) if t != " "), "")
