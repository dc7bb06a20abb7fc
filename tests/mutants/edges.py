"""Guards at the edges: odd JSON, odd results of tools, files and their names."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_FILE = "accounts/canonical.py"
_CANONICAL = "tests/accounts/test_canonical.py"
_REST = "tests/rest/test_odd_json.py"

EDGES = (
    Mutant(
        number="B78",
        guard="what cannot be stored is written out",
        file=_FILE,
        old="""        clean = _UNSTORABLE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", value)\n""",
        new="        clean = value\n",
        tests=(f"{_CANONICAL}::test_b78_whatever_a_tool_returns_can_be_stored",),
    ),
    Mutant(
        number="B78",
        guard="NUL is refused at the edge",
        file=_FILE,
        old="""    if found and found[0] == "\\x00":\n""",
        new="    if False:\n",
        tests=(f"{_REST}::test_b78_nul_and_b79_half_a_character_are_refused_by_name",),
    ),
    Mutant(
        number="B78",
        guard="a success with NUL stays one",
        file="runs/node/execute.py",
        old="    value, changed = storable(output)\n",
        new="    value, changed = output, False\n",
        tests=("tests/runs/node/test_node.py::test_b78_a_result_with_nul_is_stored_and_marked",),
    ),
    Mutant(
        number="B79",
        guard="half a character is refused at the edge",
        file=_FILE,
        old="""    if found:\n        raise BadInput("lone_surrogate",""",
        new="""    if False:\n        raise BadInput("lone_surrogate",""",
        tests=(f"{_CANONICAL}::test_b79_half_a_character_is_refused_at_the_edge",),
    ),
    Mutant(
        number="B79",
        guard="a comment that cannot be stored is refused by its field",
        file="approvals/answers.py",
        old="            check_storable(value)\n",
        new="            pass\n",
        tests=("tests/approvals/test_decide.py::test_b79_signs_that_cannot_be_stored_are_refused_by_field",),
    ),
    Mutant(
        number="B79",
        guard="a file name that cannot be stored is written out",
        file="runs/uploads.py",
        old="    clean = str(storable(name.strip())[0])",
        new="    clean = str(name.strip())",
        tests=("tests/runs/pages/test_new_task.py::test_b79_a_name_that_cannot_be_stored_is_made_visible",),
    ),
    Mutant(
        number="B80",
        guard="numbers at the edge are finite",
        file=_FILE,
        old="        if not math.isfinite(value):\n",
        new="        if False:\n",
        tests=(f"{_REST}::test_b80_what_is_no_number_is_refused_at_the_edge",),
    ),
    Mutant(
        number="B80",
        guard="a number of a tool that is none is written as its name",
        file=_FILE,
        old="        return (value, False) if math.isfinite(value) else (_name(value), True)\n",
        new="        return value, False\n",
        tests=(f"{_CANONICAL}::test_b80_a_number_of_a_tool_that_is_none_is_written_as_its_name",),
    ),
    Mutant(
        number="B81",
        guard="no key stands twice",
        file=_FILE,
        old="    if len(found) != len(pairs):\n",
        new="    if False:\n",
        tests=(f"{_REST}::test_b81_a_key_that_stands_twice_deep_inside_is_refused",),
    ),
    Mutant(
        number="B82",
        guard="depth is measured on the text",
        file=_FILE,
        old="""            if depth > max_depth:\n                raise BadInput("too_deep", f"The JSON text""",
        new="""            if False:\n                raise BadInput("too_deep", f"The JSON text""",
        tests=(f"{_REST}::test_b82_nesting_without_end_is_refused_and_is_no_crash",),
    ),
    Mutant(
        number="B83",
        guard="the web process parses nothing",
        file="runs/uploads.py",
        old="    if found not in accepts:\n        raise Refused(*_refusal(found, name), status=422)\n",
        new="    if found not in accepts:\n        raise Refused(*_refusal(found, name), status=422)\n"
        '    __import__("pypdfium2").PdfDocument(stream)\n',
        tests=(
            "tests/runs/pages/test_new_task.py::test_b83_the_web_process_never_parses_what_people_upload",
        ),
    ),
    Mutant(
        number="B86",
        guard="an address is a checksum and nothing after it",
        file="runs/blobs/__init__.py",
        old='_URI = re.compile(r"sha256:([0-9a-f]{64})\\Z")',
        new='_URI = re.compile(r"sha256:([0-9a-f]{64})")',
        tests=("tests/runs/test_blobs.py::test_b86_an_address_is_never_a_path",),
    ),
    Mutant(
        number="B87",
        guard="a file leaves as a download",
        file="runs/views/files.py",
        old="as_attachment=True",
        new="as_attachment=False",
        tests=("tests/runs/pages/test_files.py::test_b87_a_file_never_runs_in_our_origin",),
    ),
    Mutant(
        number="B87",
        guard="what a browser might run is sent as plain bytes",
        file="runs/views/files.py",
        old='    return "application/octet-stream"\n',
        new="    return media_type\n",
        tests=("tests/runs/pages/test_files.py::test_b87_a_file_never_runs_in_our_origin",),
    ),
    Mutant(
        number="B87",
        guard="a file gets a sandbox of its own",
        file="runs/views/files.py",
        old='    answer["Content-Security-Policy"] = SANDBOX\n',
        new="",
        tests=("tests/runs/pages/test_files.py::test_b87_a_file_never_runs_in_our_origin",),
    ),
    Mutant(
        number="B87",
        guard="a report is cleaned before it is shown",
        file="runs/present/preview.py",
        old="    clean = nh3.clean(\n        html,",
        new="    clean = (lambda given, **_: text + given)(\n        html,",
        tests=("tests/runs/pages/test_files.py::test_b87_a_report_is_cleaned_before_it_is_shown",),
    ),
)
