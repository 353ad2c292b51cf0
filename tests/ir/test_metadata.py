"""Metadata and the other annotations that do not change what an instruction means."""

from __future__ import annotations

import pytest

from hlotool.ir.annotations import NO_ANNOTATIONS, Annotations
from hlotool.ir.metadata import (
    DEFAULT_ACCURACY,
    METADATA,
    ORIGIN,
    RESULT_ACCURACY,
    FrontendAttributes,
    Metadata,
    Origin,
    OriginalArray,
    ResultAccuracy,
    Statistics,
    Tolerance,
)
from hlotool.text.parser import parse
from tests.ir.texts import annotated, fault, read, shown

EVERYTHING = (
    'metadata={op_type="t" op_name="n" source_file="f" source_line=1 source_end_line=2'
    ' source_column=3 source_end_column=4 profile_type={1,2} deduplicated_name="d"'
    ' scheduling_name="s" metadata_payload="p"}'
)

UNCHANGED = [
    EVERYTHING,
    'metadata={op_name="n" source_line=-1}',
    'metadata={op_name="n" profile_type={2,1}}',
    'metadata={op_name="it\\\'s \\"so\\"\\n\\303\\251"}',
    'frontend_attributes={a={"k":1},b="x"}',
    'frontend_attributes={Z="1",_x="x",a-b.c="3"}',
    'frontend_attributes={a="",b={}}',
    "statistics={visualizing_index=0,name=1.5}",
    "statistics={visualizing_index=3,a=1,a=2}",
    'origin={{"x"}}',
    'origin={{"x" {0,1}}}',
    'origin={({"x"}, ({"y" {0,1}}, {}))}',
    "origin={{}}",
    "origin={()}",
    "origin={[synthetic_call]}",
    'backend_config={"x":1}',
    "backend_config={ x }",
    'backend_config="hi"',
]
"""Texts that print as they stand."""

NORMALISED = [
    ('metadata={op_name="n", source_line=1}', 'metadata={op_name="n" source_line=1}'),
    ("metadata={source_file='x', op_name=\"n\"}", 'metadata={op_name="n" source_file="x"}'),
    ('metadata={op_name="n" profile_type={} stack_frame_id=0}', 'metadata={op_name="n"}'),
    ('metadata={op_name="\\u00e9"}', 'metadata={op_name="\\303\\251"}'),
    ("metadata={}", ""),
    ("metadata={source_line=4}", ""),
    ('metadata={deduplicated_name="x"}', ""),
    ('frontend_attributes={b="x",a="{\\"z\\": 2}"}', 'frontend_attributes={a={"z": 2},b="x"}'),
    ("frontend_attributes={}", ""),
    ("statistics={visualizing_index=0}", ""),
    ("statistics={}", ""),
    (
        "statistics={visualizing_index=0,a=0.1234567890123,b=1e-7,c=123456789,d=-0.0,e=1e10}",
        "statistics={visualizing_index=0,a=0.123457,b=1e-07,c=1.23457e+08,d=-0,e=1e+10}",
    ),
    ("origin={{'x' {}}}", 'origin={{"x"}}'),
    ("origin={}", "origin={()}"),
    ('backend_config="{\\"x\\":1}"', 'backend_config={"x":1}'),
    ('backend_config=""', ""),
]
"""Texts, each with the one it prints as."""

FAULTS = [
    ('metadata={op_name="n" op_name="m"}', "op_name is given twice"),
    ('metadata={op_nam="n"}', "metadata has no op_nam; did you mean op_name"),
    ("metadata={op_name=1}", "op_name takes a string"),
    ('metadata={source_line="1"}', "source_line takes an integer"),
    ("metadata={source_line=2147483648}", "source_line=2147483648 does not fit 32 bits"),
    ("metadata={profile_type={4}}", "profile_type takes numbers from 0 to 3"),
    ('metadata={op_name="n",}', "found '}'"),
    ('frontend_attributes={a="x",a="y"}', "a is given twice"),
    ("frontend_attributes={a=1}", "found '1'"),
    ('frontend_attributes={a="x" b="y"}', "found 'b'"),
    ("statistics={a=1,visualizing_index=0}", "visualizing_index=, an integer, must come first"),
    ("statistics={visualizing_index=0.5}", "visualizing_index=, an integer, must come first"),
    ("statistics={visualizing_index=0,a=inf}", "a=inf is not finite"),
    ("origin={[call]}", "call is not synthetic_call"),
    ('origin={"x"}', "found '\"'"),
    ("backend_config=hi", "found 'hi'"),
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_normal_texts_print_as_they_stand(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize(("text", "normal"), NORMALISED)
def test_other_texts_print_in_the_normal_form(text: str, normal: str) -> None:
    assert shown(text) == normal


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_faults_say_what_is_wrong(text: str, message: str) -> None:
    assert message in fault(text)


def test_annotations_print_in_one_order() -> None:
    texts = [
        "sharding={replicated}",
        'frontend_attributes={a="b"}',
        "statistics={visualizing_index=0,a=1}",
        'origin={{"x"}}',
        'metadata={op_name="n"}',
        'backend_config="c"',
    ]
    assert shown(", ".join(reversed(texts))) == ", ".join(texts)


def test_an_instruction_without_annotations_shares_one_value() -> None:
    module = parse("ENTRY e { ROOT p = f32[8] parameter(0) }")
    assert module.entry.root.annotations is NO_ANNOTATIONS
    assert Annotations() == NO_ANNOTATIONS


@pytest.mark.parametrize(
    "text",
    [
        "size_of_generated_code_in_bytes=3",
        "size_of_memory_working_set_in_bytes=3",
        "preserve_layout=true",
        "creation_pass_id=3",
        "logical_creation_pass_id=3",
    ],
)
def test_what_older_texts_have_is_read_and_dropped(text: str) -> None:
    found = annotated(f'metadata={{op_name="n" {text}}}').metadata
    assert found == Metadata(op_name="n")
    assert found.dropped == (text.partition("=")[0],)


def test_nothing_is_dropped_from_todays_texts() -> None:
    assert annotated(EVERYTHING).metadata.dropped == ()


@pytest.mark.parametrize(
    "metadata",
    [
        Metadata(op_type="t"),
        Metadata(op_name="n"),
        Metadata(source_file="f"),
        Metadata(scheduling_name="s"),
        Metadata(stack_frame_id=1),
        Metadata(metadata_payload="p"),
    ],
)
def test_metadata_is_shown_for_some_of_its_parts(metadata: Metadata) -> None:
    assert metadata.is_shown
    assert dict(Annotations(metadata=metadata).written()) == {"metadata": METADATA.write(metadata)}


def test_metadata_is_not_shown_for_the_other_parts() -> None:
    hidden = Metadata(source_line=1, profile_type=(1,), deduplicated_name="d")
    assert not hidden.is_shown
    assert not list(Annotations(metadata=hidden).written())


def test_metadata_that_is_not_shown_has_a_text_inside_a_sharding() -> None:
    assert METADATA.write(Metadata(source_line=4)) == "{source_line=4}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{mode=default}", DEFAULT_ACCURACY),
        ("{mode=HIGHEST}", ResultAccuracy("highest")),
        ("{tolerance={}}", ResultAccuracy(tolerance=Tolerance())),
        ("{tolerance={ulps=2,atol=1}}", ResultAccuracy(tolerance=Tolerance(1, 0, 2))),
        ("{tolerance={atol=1e-10,rtol=0.5,ulps=20000000000}}",
         ResultAccuracy(tolerance=Tolerance(1e-10, 0.5, 20000000000))),
    ],
)  # fmt: skip
def test_accuracies_read(text: str, value: ResultAccuracy) -> None:
    assert read(RESULT_ACCURACY, text) == value


@pytest.mark.parametrize(
    ("accuracy", "text"),
    [
        (ResultAccuracy("highest"), "{mode=highest}"),
        (ResultAccuracy(tolerance=Tolerance(1, 0.1, 2)), "{tolerance={atol=1,rtol=0.1,ulps=2}}"),
        (ResultAccuracy(tolerance=Tolerance()), "{tolerance={atol=0,rtol=0,ulps=0}}"),
    ],
)
def test_accuracies_print(accuracy: ResultAccuracy, text: str) -> None:
    assert RESULT_ACCURACY.write(accuracy) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{mode=foo}", "mode=foo is not mode=default or mode=highest"),
        ("{accuracy=highest}", "accuracy=highest is not mode="),
        ("{accuracy={atol=1}}", "accuracy={} is not tolerance={}"),
        ("{tolerance={btol=1}}", "btol is not one of atol, rtol, ulps"),
        ("{tolerance={atol=-1}}", "atol=-1 is no tolerance"),
        ("{tolerance={ulps=2.5}}", "ulps=2.5 is no integer"),
    ],
)
def test_faulty_accuracies_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(RESULT_ACCURACY, text)


def test_origins_are_trees() -> None:
    assert read(ORIGIN, '{({"x"}, ({"y" {0}}, {}))}') == Origin(
        (OriginalArray("x"), (OriginalArray("y", (0,)), None))
    )
    assert read(ORIGIN, "{[synthetic_call]}") == Origin(is_synthetic_call=True)


def test_statistics_need_a_number_to_be_shown() -> None:
    assert not Statistics(visualizing_index=3).is_shown
    assert Statistics((("a", 0.0),)).is_shown


def test_frontend_attributes_are_an_immutable_sorted_mapping() -> None:
    attributes = FrontendAttributes({"b": "1", "a": "2"})
    assert list(attributes) == ["a", "b"]
    assert dict(attributes) == {"a": "2", "b": "1"}
    assert len(attributes) == 2
    assert attributes == FrontendAttributes({"a": "2", "b": "1"})
    assert hash(attributes) == hash(FrontendAttributes({"a": "2", "b": "1"}))
    assert attributes != FrontendAttributes({"a": "2"})
    assert repr(attributes) == "FrontendAttributes({'a': '2', 'b': '1'})"
