import pytest

from hlotool.errors import ParseError
from hlotool.frontends.pass_times import PassTime, pass_times

TEXT = """canonical_module_id: 3
module_group_name: "g"
pass_metadata {
  pass_id: 1
  pass_name: "algsimp"
  pipeline_name: "simplification"
  dump_filenames: "/somewhere/module_0003.f.0001.simplification.after_algsimp.before_dce.txt"
  module_changed: true
  start_timestamp_usec: 1000000
  end_timestamp_usec: 1002500
}
pass_metadata { pass_name: "dce" }
"""


def test_runs_of_passes() -> None:
    assert pass_times(TEXT) == [
        PassTime(
            "algsimp",
            "simplification",
            ("module_0003.f.0001.simplification.after_algsimp.before_dce.txt",),
            is_changed=True,
            seconds=0.0025,
        ),
        PassTime("dce", "", (), is_changed=False, seconds=0.0),
    ]


def test_another_text() -> None:
    with pytest.raises(ParseError, match="no text form of a proto"):
        pass_times("HloModule m")
