"""Which devices take part in a collective together."""

from __future__ import annotations

from hlotool.ir.record import AttributeKind


class ReplicaGroups:
    """Base of all forms of replica groups."""


REPLICA_GROUPS = AttributeKind[ReplicaGroups]("replica_groups", "replica groups, as {{0,1},{2,3}}")
NO_GROUPS = ReplicaGroups()
