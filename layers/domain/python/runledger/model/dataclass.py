"""`dataclass` for classes that Lambda loads. The standard library's takes 0.3 ms of every cold start for each class.

It compiles six methods for a frozen class. This one compiles only `__init__`, and all classes share the other methods.
mypy rejects assignments to frozen classes, so they aren't checked again at run time. docs/adr/0069 has the figures.
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, kw_only: bool = False) -> Callable[[type], type]:
        def decorate(cls: type) -> type:
            cls.__doc__ = cls.__doc__ or cls.__name__  # otherwise it would be composed from the signature
            made = dataclasses.dataclass(eq=False, repr=False, slots=slots, kw_only=kw_only)(cls)
            made.__eq__, made.__repr__ = _eq, _repr
            made.__hash__ = _hash if frozen else None
            return made

        return decorate


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in self.__dataclass_fields__])
