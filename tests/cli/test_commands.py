"""opt, verify, convert and fingerprint: what golden files cannot show about files and formats."""

import io
import json
import sys
from pathlib import Path

import pytest

from hlotool import fingerprint, load, parse, print_module
from hlotool.cli.driver import hlo_opt, main
from hlotool.errors import HloError

GOOD = "HloModule good\nENTRY e {\n  ROOT a = f32[2] parameter(0)\n}\n"
WRONG = "HloModule wrong\nENTRY e {\n  ROOT a = f32[2] parameter(0\n}\n"
PRINTED = print_module(parse(GOOD))


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.hlo"
    path.write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.hlo"
    path.write_text(WRONG, encoding="utf-8")
    return path


def test_hlo_opt_is_hlotool_opt(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hlo_opt([str(good)]) == 0
    assert main(["opt", str(good)]) == 0
    assert capsys.readouterr().out == PRINTED * 2


def test_several_files_can_be_read_again_as_one(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = tmp_path / "both.hlo"
    assert hlo_opt([str(good), str(good), "-o", str(both)]) == 0
    assert both.read_text(encoding="utf-8") == f"{PRINTED}// -----\n\n{PRINTED}"
    assert hlo_opt([str(both), "--split-input-file"]) == 0
    assert capsys.readouterr().out == both.read_text(encoding="utf-8")


def test_wrong_file_leaves_others_their_turn(
    good: Path, wrong: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hlo_opt([str(wrong), str(good)]) == 1
    shown = capsys.readouterr()
    assert shown.out == PRINTED
    assert shown.err.startswith(f"{wrong}:")


def test_output_file_is_written_only_if_all_is_well(
    good: Path, wrong: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.hlo"
    output.write_text("old", encoding="utf-8")
    assert hlo_opt([str(good), str(wrong), "-o", str(output)]) == 1
    assert output.read_text(encoding="utf-8") == "old"
    assert hlo_opt([str(good), str(tmp_path / "none.hlo"), "-o", str(output)]) == 2
    assert output.read_text(encoding="utf-8") == "old"
    assert "none.hlo: no such file" in capsys.readouterr().err


def test_output_may_be_the_input(good: Path) -> None:
    assert hlo_opt([str(good), "-o", str(good)]) == 0
    assert good.read_text(encoding="utf-8") == PRINTED


def test_opt_does_not_write_text_under_the_name_of_a_proto(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hlo_opt([str(good), "-o", str(tmp_path / "out.hlo.pb")]) == 2
    assert "hlotool convert writes protos" in capsys.readouterr().err
    assert not (tmp_path / "out.hlo.pb").exists()


def test_unwritable_output_is_refused_before_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hlo_opt([str(tmp_path / "none.hlo"), "-o", str(tmp_path / "no" / "x.hlo")]) == 2
    shown = capsys.readouterr().err
    assert "cannot write" in shown
    assert "none.hlo" not in shown


@pytest.mark.parametrize("name", ["m.hlo.pb", "m.pb", "m.pbtxt", "m.textproto", "m.txt"])
def test_convert_there_and_back(name: str, good: Path, tmp_path: Path) -> None:
    there, back = tmp_path / name, tmp_path / "back.hlo"
    assert main(["convert", str(good), str(there)]) == 0
    assert main(["convert", str(there), "-o", str(back)]) == 0
    assert back.read_text(encoding="utf-8") == PRINTED
    assert fingerprint(load(there)) == fingerprint(parse(GOOD))


def test_convert_between_streams(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert main(["convert", "-", "--to=pb"]) == 0
    proto = capsysbinary.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(proto)))
    assert main(["convert", "-", "-", "--from=pb", "--to=hlo"]) == 0
    assert capsysbinary.readouterr().out.decode() == PRINTED


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["IN"], "the name of standard output speaks of no format"),
        (["IN", "m.xyz"], "the name of m.xyz speaks of no format"),
        (["IN", "a.pb", "-o", "b.pb"], "two outputs are given, a.pb and b.pb"),
        (["IN", "a.pb", "--to=xyz"], "invalid choice: 'xyz'"),
    ],
)
def test_convert_usage(
    words: list[str], message: str, good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(good) if word == "IN" else word for word in words]
    assert main(["convert", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_wrong_module_is_not_converted(
    wrong: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(wrong), str(tmp_path / "m.pb")]) == 1
    assert f"{wrong}:" in capsys.readouterr().err
    assert not (tmp_path / "m.pb").exists()


def test_bytes_that_are_no_proto(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("m.pb", "m.pbtxt"):
        path = tmp_path / name
        path.write_bytes(b"\x07not a proto")
        assert main(["verify", str(path)]) == 1
        assert capsys.readouterr().err.startswith(f"{path}")


def test_proto_read_as_text_says_how_to_read_it(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proto = tmp_path / "m.pb"
    assert main(["convert", str(good), str(proto)]) == 0
    assert hlo_opt([str(proto), "--format=hlo"]) == 1
    assert "or with --format=pb" in capsys.readouterr().err


def test_fingerprints_of_a_folder(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "sub" / "other.hlo.pb"
    other.parent.mkdir()
    assert main(["convert", str(good), str(other)]) == 0
    assert main(["fingerprint", "--json", str(tmp_path)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["file"] for line in lines] == [str(good), str(other)]
    assert len({line["fingerprint"] for line in lines}) == 1
    assert {line["module"] for line in lines} == {"good"}


def test_verdicts_of_verify_as_json(
    good: Path, wrong: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--json", str(wrong), str(good)]) == 1
    shown = capsys.readouterr()
    verdicts = [json.loads(line) for line in shown.out.splitlines()]
    assert [verdict["good"] for verdict in verdicts] == [False, True]
    assert verdicts[0]["errors"][0]["file"] == str(wrong)
    assert verdicts[0]["errors"][0]["line"] in (3, 4)
    assert shown.err == ""


@pytest.mark.parametrize("command", ["opt", "verify", "fingerprint"])
def test_missing_file_is_a_usage_error(
    command: str, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path / "none.hlo"), str(good)]) == 2
    shown = capsys.readouterr()
    assert shown.err.endswith("none.hlo: no such file or directory\n")
    assert shown.out != ""


def test_lenient_keeps_what_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.hlo"
    path.write_text("ENTRY e { a = f32[] parameter(0) ROOT b = f32[] novel(a), size=3 }")
    assert hlo_opt([str(path)]) == 1
    assert hlo_opt(["--lenient", str(path)]) == 0
    assert "%b = f32[] novel(%a), size=3\n" in capsys.readouterr().out


def test_load_reads_and_does_not_verify(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo"
    path.write_text("ENTRY e { a = f32[2] parameter(0) ROOT b = f32[3] negate(a) }")
    assert load(path).entry.name == "e"
    with pytest.raises(HloError, match="cannot read"):
        load(str(tmp_path / "none.hlo"))
    (tmp_path / "bad.hlo").write_bytes(b"\xff")
    with pytest.raises(HloError, match=r"bad\.hlo:1:1: byte 0xff is not valid UTF-8"):
        load(tmp_path / "bad.hlo")
