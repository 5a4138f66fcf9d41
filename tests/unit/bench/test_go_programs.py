"""The version of Go in a program."""

from bench.harness.go_programs import go_version_in


def test_a_go_program_reports_its_go_version() -> None:
    mark = b"\xff Go buildinf:"
    program = b"code " + mark + b" is a text" + mark + b"\x08\x02" + bytes(16) + b"\x08go1.26.8\x00"

    assert go_version_in(program) == "1.26.8"
    assert go_version_in(b"anything else") is None
