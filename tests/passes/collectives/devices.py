"""Modules whose devices differ, for the tests of passes on collectives."""

from __future__ import annotations

REDUCERS = """add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
add_bf16 {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT c = bf16[] add(a, b)
}
add_s32 {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}
"""


def on_devices(body: str, replicas: int = 2, partitions: int = 2) -> str:
    """Returns a module that runs `body` on a grid of devices.

    The body may use `p`, the parameter f32[8], its multiple `x` that is another one on each
    device, the device numbers `r`, `q` and `n`, and `i`, which is `n` as s32.
    """
    return f"""HloModule m, replica_count={replicas}, num_partitions={partitions}
{REDUCERS}
ENTRY e {{
  p = f32[8] parameter(0)
  r = u32[] replica-id()
  q = u32[] partition-id()
  k = u32[] constant({partitions})
  rk = u32[] multiply(r, k)
  n = u32[] add(rk, q)
  i = s32[] convert(n)
  one = s32[] constant(1)
  i1 = s32[] add(i, one)
  f = f32[] convert(i1)
  b = f32[8] broadcast(f), dimensions={{}}
  x = f32[8] multiply(p, b)
{body}
}}
"""


ALL = "channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}"
"""All devices of a grid of four in one group."""
PAIRS = "channel_id=1, use_global_device_ids=true, replica_groups={{0,1},{2,3}}"
"""Two groups of two devices, the replicas."""
OTHER_PAIRS = "channel_id=2, use_global_device_ids=true, replica_groups={{0,2},{1,3}}"
"""Two groups of two devices, the partitions."""
