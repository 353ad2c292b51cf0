"""Modules made at random of ops that move, fold and combine elements."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from random import Random

Sizes = tuple[int, ...]


class Program:
    """The text of an entry computation that grows by one instruction after the other."""

    def __init__(self, seed: int, element_type: str) -> None:
        self._random = Random(seed)  # noqa: S311  # not for secrets
        self._type = element_type
        self._lines: list[str] = []
        self._arrays: list[tuple[str, Sizes]] = []
        for number in range(3):
            sizes = tuple(self._random.choice((1, 2, 3, 4)) for _ in range(number))
            self._add(sizes, f"parameter({number})")
        self._add((), "constant(0)")

    def text(self, length: int) -> str:
        """Returns the module after so many more instructions; the last three are its results."""
        makers: list[Callable[[str, Sizes], None]] = [
            self._broadcast, self._reshape, self._transpose, self._slice, self._pad,
            self._reverse, self._concatenate, self._combine, self._reduce, self._update,
            self._dynamic_slice,
        ]  # fmt: skip
        for _ in range(length):
            name, sizes = self._random.choice(self._arrays[-4:])
            self._random.choice(makers)(name, sizes)
        results = self._arrays[-3:]
        shapes = ", ".join(self._shape(sizes) for _, sizes in results)
        names = ", ".join(name for name, _ in results)
        body = "\n".join([*self._lines, f"  ROOT results = ({shapes}) tuple({names})"])
        reducers = "".join(
            f"{name} {{\n  a = {self._type}[] parameter(0)\n  b = {self._type}[] parameter(1)\n"
            f"  ROOT r = {self._type}[] {opcode}(a, b)\n}}\n"
            for name, opcode in (("add", "add"), ("max", "maximum"))
        )
        return f"HloModule random\n{reducers}ENTRY e {{\n{body}\n}}\n"

    def _shape(self, sizes: Sizes) -> str:
        return f"{self._type}[{','.join(map(str, sizes))}]"

    def _add(self, sizes: Sizes, call: str) -> str:
        name = f"v{len(self._arrays)}"
        self._lines.append(f"  {name} = {self._shape(sizes)} {call}")
        self._arrays.append((name, sizes))
        return name

    def _scalar(self) -> str:
        return self._random.choice([name for name, sizes in self._arrays if not sizes])

    def _broadcast(self, name: str, sizes: Sizes) -> None:
        rank = min(4, len(sizes) + self._random.choice((0, 1, 1, 2)))
        places = self._random.sample(range(rank), len(sizes)) if rank >= len(sizes) else []
        if len(places) != len(sizes):
            return
        if self._random.random() < 0.6:
            places.sort()
        result = [self._random.choice((1, 2, 3)) for _ in range(rank)]
        for size, place in zip(sizes, places, strict=True):
            result[place] = size
        if prod(result) <= 400:
            self._add(tuple(result), f"broadcast({name}), dimensions={{{_listed(places)}}}")

    def _reshape(self, name: str, sizes: Sizes) -> None:
        left, result = prod(sizes), []
        while left > 1 and self._random.random() < 0.8:
            size = self._random.choice([n for n in range(1, left + 1) if left % n == 0])
            result.append(size)
            left //= size
        if left != 1 or self._random.random() < 0.3:
            result.insert(self._random.randint(0, len(result)), left)
        if prod(result) == prod(sizes):
            self._add(tuple(result), f"reshape({name})")

    def _transpose(self, name: str, sizes: Sizes) -> None:
        order = self._random.sample(range(len(sizes)), len(sizes))
        result = tuple(sizes[d] for d in order)
        self._add(result, f"transpose({name}), dimensions={{{_listed(order)}}}")

    def _slice(self, name: str, sizes: Sizes) -> None:
        bounds, result = [], []
        for size in sizes:
            start = self._random.randint(0, max(0, size - 1))
            end = self._random.choice((size, self._random.randint(start, size)))
            stride = self._random.choice((1, 1, 1, 2, 3))
            bounds.append(f"[{start}:{end}:{stride}]")
            result.append(-(-(end - start) // stride))
        self._add(tuple(result), f"slice({name}), slice={{{', '.join(bounds)}}}")

    def _pad(self, name: str, sizes: Sizes) -> None:
        parts, result = [], []
        for size in sizes:
            low, high = (self._random.choice((-1, 0, 0, 0, 1, 2)) for _ in range(2))
            interior = self._random.choice((0, 0, 0, 0, 1))
            padded = low + size + max(0, size - 1) * interior + high
            if padded < 0:
                return
            parts.append(f"{low}_{high}_{interior}")
            result.append(padded)
        if sizes:
            call = f"pad({name}, {self._scalar()}), padding={'x'.join(parts)}"
            self._add(tuple(result), call)

    def _reverse(self, name: str, sizes: Sizes) -> None:
        turned = [d for d in range(len(sizes)) if self._random.random() < 0.5]
        self._add(sizes, f"reverse({name}), dimensions={{{_listed(turned)}}}")

    def _concatenate(self, name: str, sizes: Sizes) -> None:
        if not sizes:
            return
        along = self._random.randrange(len(sizes))
        fitting = [
            (other, shape[along])
            for other, shape in self._arrays
            if len(shape) == len(sizes)
            and all(shape[d] == sizes[d] for d in range(len(sizes)) if d != along)
        ]
        pieces = self._random.choices(fitting, k=self._random.randint(0, 2))
        pieces.insert(self._random.randint(0, len(pieces)), (name, sizes[along]))
        result = list(sizes)
        result[along] = sum(size for _, size in pieces)
        names = ", ".join(piece for piece, _ in pieces)
        self._add(tuple(result), f"concatenate({names}), dimensions={{{along}}}")

    def _combine(self, name: str, sizes: Sizes) -> None:
        others = [other for other, shape in self._arrays if shape == sizes]
        opcode = self._random.choice(("add", "multiply", "maximum", "subtract"))
        self._add(sizes, f"{opcode}({name}, {self._random.choice(others)})")

    def _reduce(self, name: str, sizes: Sizes) -> None:
        gone = [d for d in range(len(sizes)) if self._random.random() < 0.5]
        result = tuple(size for d, size in enumerate(sizes) if d not in gone)
        reducer = self._random.choice(("add", "max"))
        call = f"reduce({name}, {self._scalar()}), dimensions={{{_listed(gone)}}}"
        self._add(result, f"{call}, to_apply={reducer}")

    def _starts(self, rank: int) -> str:
        names = [f"i{len(self._lines)}_{d}" for d in range(rank)]
        for name in names:
            self._lines.append(f"  {name} = s32[] constant({self._random.randint(-1, 4)})")
        return "".join(f", {name}" for name in names)

    def _dynamic_slice(self, name: str, sizes: Sizes) -> None:
        window = tuple(self._random.randint(0, size) for size in sizes)
        starts = self._starts(len(sizes))
        call = f"dynamic-slice({name}{starts}), dynamic_slice_sizes={{{_listed(window)}}}"
        self._add(window, call)

    def _update(self, name: str, sizes: Sizes) -> None:
        fitting = [
            other
            for other, shape in self._arrays
            if len(shape) == len(sizes) and all(map(int.__le__, shape, sizes))
        ]
        update = self._random.choice(fitting)
        starts = self._starts(len(sizes))
        self._add(sizes, f"dynamic-update-slice({name}, {update}{starts})")


def _listed(numbers: list[int] | Sizes) -> str:
    return ",".join(map(str, numbers))
