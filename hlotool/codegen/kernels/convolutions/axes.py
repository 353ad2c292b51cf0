"""Convolutions as nests of loops: axes of the output, with the taps that are summed along each.

Every form of a convolution is the same here: a place of the output, a tap of the kernel and an
input feature lead to an element of either operand by a sum of strides. Holes of a dilated base
are gone: positions that meet the same taps are a convolution of their own, called a *phase*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import gcd, prod

from hlotool.ir.window import WindowDimension
from hlotool.ops.convolution import Convolution

_MANY_TAPS = 8


@dataclass(frozen=True)
class Share:
    """What an axis adds to an index of the output: `position // divisor % modulus * factor`."""

    dimension: int
    factor: int = 1
    divisor: int = 1
    modulus: int = 0
    """0 where there is no remainder to take."""


@dataclass(frozen=True)
class Axis:
    """Positions of the output along a loop, and the taps that are summed for each.

    Strides count elements of the operands and of the output. A tap counts where
    `first + step * position + tap_step * tap` is one of `size` elements.
    """

    count: int
    shares: tuple[Share, ...]
    lhs: int
    rhs: int = 0
    out: int = 0
    taps: int = 1
    lhs_tap: int = 0
    rhs_tap: int = 0
    first: int = 0
    step: int = 0
    tap_step: int = 0
    size: int = 1

    def is_met(self, position: int, tap: int) -> bool:
        """Whether a tap meets an element, not padding, at a position."""
        return 0 <= self.first + self.step * position + self.tap_step * tap < self.size

    def inner(self) -> range:
        """Returns the positions at which all taps meet elements."""
        low, high = 0, self.count
        while low < high and not self._is_whole(low):
            low += 1
        while high > low and not self._is_whole(high - 1):
            high -= 1
        return range(low, high)

    def _is_whole(self, position: int) -> bool:
        return self.is_met(position, 0) and self.is_met(position, self.taps - 1)


@dataclass(frozen=True)
class Place:
    """Where an operand lies: the element with index 0, and how far apart neighbours are."""

    offset: int
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Problem:
    """A convolution, or a phase of one, as axes.

    `channels` is the axis that lanes run along: output channels, groups or positions.
    `features` are summed: their count, and the strides of both operands.
    """

    lhs_offset: int
    rhs_offset: int
    starts: tuple[int, ...]
    """What is added to each index of the output."""
    axes: tuple[Axis, ...]
    channels: Axis
    features: tuple[int, int, int]
    rhs_block: int = 0
    """How far apart blocks of channels lie in the kernel; 0 where the channels' stride says it."""

    @property
    def has_lone_weights(self) -> bool:
        """Whether all lanes need the same element of the kernel."""
        return self.channels.rhs == 0 and self.channels.count > 1

    @property
    def product_count(self) -> int:
        """How many products of two elements there are, those with padding included."""
        return self.features[0] * self.channels.count * prod(a.count * a.taps for a in self.axes)

    @property
    def is_empty(self) -> bool:
        """Whether all sums are zero: no tap meets anything."""
        return self.features[0] == 0 or any(axis.taps == 0 for axis in self.axes)


def problems(
    op: Convolution,
    sizes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
    places: tuple[Place, Place, Place],
    lanes: int,
) -> Iterator[Problem]:
    """Yields the phases of a convolution.

    `sizes` and `places` are those of both operands and of the output.
    """
    labels = op.dim_labels
    _, rhs_sizes, out_sizes = sizes
    lhs, rhs, out = places
    groups = op.feature_group_count * op.batch_group_count
    inputs = rhs_sizes[labels.kernel_input_feature]
    outputs = rhs_sizes[labels.kernel_output_feature] // groups
    batch = out_sizes[labels.output_batch]
    group_stride = (
        lhs.strides[labels.input_feature] * inputs
        if op.feature_group_count > 1
        else lhs.strides[labels.input_batch] * batch
    )
    of_output = labels.output_feature
    beside, apart = rhs.strides[labels.kernel_output_feature], out.strides[of_output]
    group = Axis(
        groups, (Share(of_output, outputs),), group_stride, beside * outputs, apart * outputs
    )
    channel = Axis(outputs, (Share(of_output),), 0, beside, apart)
    channels, other = (channel, group)
    if groups > outputs and (outputs < lanes or groups >= lanes) and group_stride == 1:
        channels, other = (group, channel)
    rows = Axis(
        batch,
        (Share(labels.output_batch),),
        lhs.strides[labels.input_batch],
        out=out.strides[labels.output_batch],
    )
    features = (inputs, lhs.strides[labels.input_feature], rhs.strides[labels.kernel_input_feature])
    along = [list(_phases(one, number, op, sizes, places)) for number, one in enumerate(op.window)]
    for chosen in product(*along):
        starts = [0] * len(out_sizes)
        lhs_offset, rhs_offset = lhs.offset, rhs.offset
        for number, phase in enumerate(chosen):
            starts[labels.output_spatial[number]] = phase.start
            lhs_offset += phase.axis.first * lhs.strides[labels.input_spatial[number]]
            rhs_offset += phase.rhs_offset
        spatial = [phase.axis for phase in chosen]
        around, summed = _summed(features, spatial)
        axes = tuple(axis for axis in (other, rows, *around, *spatial) if _has_loop(axis))
        yield Problem(lhs_offset, rhs_offset, tuple(starts), axes, channels, summed)


def _has_loop(axis: Axis) -> bool:
    return axis.count > 1 or axis.taps != 1 or not axis.is_met(0, 0)


def _summed(
    features: tuple[int, int, int], spatial: Sequence[Axis]
) -> tuple[list[Axis], tuple[int, int, int]]:
    """Returns input features as an axis of taps, where the innermost loop had better be another.

    In the gradient of a kernel they are images, far apart, and taps are many and side by side.
    """
    count, lhs, rhs = features
    if not spatial or spatial[-1].taps < _MANY_TAPS or lhs <= spatial[-1].lhs_tap:
        return [], features
    return [Axis(1, (), 0, taps=count, lhs_tap=lhs, rhs_tap=rhs)], (1, 0, 0)


@dataclass(frozen=True)
class _Phase:
    start: int
    rhs_offset: int
    axis: Axis


def _phases(
    window: WindowDimension,
    number: int,
    op: Convolution,
    sizes: tuple[tuple[int, ...], ...],
    places: tuple[Place, ...],
) -> Iterator[_Phase]:
    labels = op.dim_labels
    size = sizes[0][labels.input_spatial[number]]
    count = sizes[2][labels.output_spatial[number]]
    lhs = places[0].strides[labels.input_spatial[number]]
    rhs = places[1].strides[labels.kernel_spatial[number]]
    holes = window.base_dilation
    period = holes // gcd(window.stride, holes)
    apart = holes // gcd(window.window_dilation, holes)
    begin, turned = (rhs * (window.size - 1), -rhs) if window.reversal else (0, rhs)
    for start in range(min(period, count)):
        place = window.stride * start - window.padding_low
        hit = [
            tap
            for tap in range(min(apart, window.size))
            if (place + tap * window.window_dilation) % holes == 0
        ]
        first_tap = hit[0] if hit else 0
        taps = len(range(first_tap, window.size, apart)) if hit else 0
        step = window.stride * period // holes
        tap_step = window.window_dilation * apart // holes
        axis = Axis(
            len(range(start, count, period)),
            (Share(labels.output_spatial[number], period),),
            lhs * step,
            0,
            places[2].strides[labels.output_spatial[number]] * period,
            taps,
            lhs * tap_step,
            turned * apart,
            (place + first_tap * window.window_dilation) // holes,
            step,
            tap_step,
            size,
        )
        yield _Phase(start, begin + turned * first_tap, axis)


def merged(axes: Sequence[Axis], enough: int) -> tuple[Axis, ...]:
    """Returns axes without taps as one, as far as their strides allow; the last ones first.

    It stops when an axis has `enough` positions.
    """
    found: list[Axis] = []
    for axis in reversed(axes):
        if found and found[-1].count < enough and _can_join(axis, found[-1]):
            found[-1] = _joined(axis, found[-1])
        else:
            found.append(axis)
    return tuple(reversed(found))


def _can_join(outer: Axis, inner: Axis) -> bool:
    if any(axis.taps != 1 or len(axis.inner()) < axis.count for axis in (outer, inner)):
        return False
    if outer.rhs or inner.rhs:
        return False
    return outer.lhs == inner.lhs * inner.count and outer.out == inner.out * inner.count


def _joined(outer: Axis, inner: Axis) -> Axis:
    kept = [
        replace(share, modulus=share.modulus or inner.count // share.divisor)
        for share in inner.shares
    ]
    moved = [replace(share, divisor=share.divisor * inner.count) for share in outer.shares]
    return Axis(outer.count * inner.count, (*moved, *kept), inner.lhs, out=inner.out)


def turned(problem: Problem, lanes: int) -> Problem:
    """Returns a problem with lanes along positions, where these lie side by side, not channels.

    Output channels are then an axis as others are, and elements of the kernel are read one by
    one. It is the problem itself where channels lie side by side or positions do not.
    """
    channels = problem.channels
    if channels.lhs or channels.out == 1 or not problem.axes:
        return problem
    *others, last = problem.axes
    is_even = last.taps == 1 and len(last.inner()) == last.count and not last.rhs
    if not is_even or last.lhs != 1 or last.out != 1 or last.count < lanes:
        return problem
    return replace(problem, axes=(*others, channels), channels=last)
