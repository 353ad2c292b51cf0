"""How a value is spread over devices."""

from __future__ import annotations

from hlotool.ir.record import AttributeKind


class Sharding:
    """Base of all shardings."""


SHARDING = AttributeKind[Sharding]("sharding", "a sharding, as {devices=[2]<=[2]}")
DOMAIN = AttributeKind[object]("domain", 'a domain, as {kind="sharding", entry={…}, exit={…}}')
