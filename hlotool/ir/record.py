"""Immutable values made of named attributes, each with a kind that gives it text.

Opcodes, annotations and module headers are records: parser and printer loop over their fields
and so know no attribute by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeVar, dataclass_transform

T = TypeVar("T")


class AttributeKind(Generic[T]):
    """A kind of attribute value: how it is read from text and written.

    `rule` names the grammar rule that reads the text into plain Python values; `read` turns
    those into the typed value and raises `ValueError` for what the grammar cannot see (an
    unknown word, say); `write` gives the text. `words` describes the kind in messages.
    """

    __slots__ = ("read", "rule", "words", "write")

    def __init__(
        self,
        rule: str,
        words: str,
        *,
        read: Callable[[Any], T] | None = None,
        write: Callable[[T], str] = str,
    ) -> None:
        self.rule = rule
        self.words = words
        self.read: Callable[[Any], T] = read or _as_it_is
        self.write = write

    def __repr__(self) -> str:
        return f"AttributeKind({self.rule})"


def _as_it_is(value: Any) -> Any:
    return value


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()
"""The default of an attribute that must be given."""


class Field:
    """One attribute of a record class.

    `name` is the Python name, `text_name` the one in the text; `aliases` are older names that
    are read too. An attribute equal to its default is not printed unless `always` is set;
    one with `read_only` is never printed; `after_calls` prints it behind called computations.
    One that is not `named` stands in a place of its own in the text, without `name=`.
    """

    __slots__ = (
        "after_calls", "aliases", "always", "default", "kind", "name", "named", "read_only",
        "text_name",
    )  # fmt: skip

    def __init__(
        self,
        kind: AttributeKind[Any],
        default: Any,
        text_name: str,
        aliases: Sequence[str],
        *,
        always: bool,
        read_only: bool,
        after_calls: bool,
        named: bool,
    ) -> None:
        self.kind = kind
        self.default = default
        self.text_name = text_name
        self.aliases = tuple(aliases)
        self.always = always
        self.read_only = read_only
        self.after_calls = after_calls
        self.named = named

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.text_name = self.text_name or name

    @property
    def is_required(self) -> bool:
        """Whether the attribute has no default."""
        return self.default is REQUIRED


def attr(
    kind: AttributeKind[T],
    *,
    default: Any = REQUIRED,
    name: str = "",
    aliases: Sequence[str] = (),
    always: bool = False,
    read_only: bool = False,
    after_calls: bool = False,
    named: bool = True,
) -> Any:
    """Declares an attribute of a record class; `name` is for texts that Python cannot spell."""
    return Field(
        kind, default, name, aliases,
        always=always, read_only=read_only, after_calls=after_calls, named=named,
    )  # fmt: skip


@dataclass_transform(frozen_default=True, field_specifiers=(attr,))
class Record:
    """Base of immutable values with named attributes; equal when class and attributes are.

    Field order is print order.
    """

    fields: ClassVar[tuple[Field, ...]] = ()
    readable: ClassVar[dict[str, Field]] = {}
    """The fields by every name that the text may use."""

    _defaults: ClassVar[dict[str, Any]] = {}
    _names: ClassVar[dict[str, None]] = {}
    _hash: int | None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own = {name: f for name, f in vars(cls).items() if isinstance(f, Field)}
        if not own:
            return
        for name, field in own.items():
            if field.is_required:
                delattr(cls, name)
            else:
                setattr(cls, name, field.default)
        kept = [field for field in cls.fields if field.name not in own]
        cls.fields = (*kept, *own.values())
        cls._defaults = {field.name: field.default for field in cls.fields if not field.is_required}
        cls._names = dict.fromkeys(field.name for field in cls.fields)
        cls.readable = {n: f for f in cls.fields if f.named for n in (f.text_name, *f.aliases)}
        # The checker derives these from the fields, as for dataclasses, and takes no other.
        type.__setattr__(cls, "__match_args__", tuple(field.name for field in cls.fields))

    def __init__(self, *positional: Any, **named: Any) -> None:
        names = self._names
        if positional:
            values = dict(zip(names, positional, strict=False))
            if len(positional) > len(names) or not values.keys().isdisjoint(named):
                raise TypeError(f"{type(self).__name__}: too many or repeated attributes")
            named |= values
        own = self.__dict__
        own.update(self._defaults)
        own.update(named, _hash=None)
        # One more than the attributes is there: the hash.
        if len(own) != len(names) + 1 or not named.keys() <= names.keys():
            self._refuse(named.keys())

    def _refuse(self, given: Collection[str]) -> NoReturn:
        for field in self.fields:
            if field.is_required and field.name not in given:
                raise TypeError(f"{type(self).__name__}: attribute {field.name} is missing")
        unknown = sorted(set(given) - self._names.keys())
        raise TypeError(f"{type(self).__name__}: unknown attributes {unknown}")

    def written(self, *, after_calls: bool = False) -> Iterator[tuple[str, str]]:
        """Yields name and text of each attribute that is printed as both, in print order."""
        for field in self.fields:
            if field.named and field.after_calls is after_calls and not field.read_only:
                value = getattr(self, field.name)
                if field.always or value != field.default:
                    yield field.text_name, field.kind.write(value)

    def replace(self, **changes: Any) -> Self:
        """Returns a copy with other values for some attributes."""
        return type(self)(**(self._values() | changes))

    def _values(self) -> dict[str, Any]:
        own = self.__dict__
        return {name: own[name] for name in self._names}

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return False
        own, others = self.__dict__, other.__dict__
        return all(own[name] == others[name] for name in self._names)

    def __hash__(self) -> int:
        found = self._hash
        if found is None:
            own = self.__dict__
            own["_hash"] = found = hash((type(self), *map(own.__getitem__, self._names)))
        return found

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._values().items())
        return f"{type(self).__name__}({shown})"
