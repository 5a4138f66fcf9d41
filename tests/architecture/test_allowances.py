"""The lists of allowed violations only shrink."""

from pathlib import Path

from tests.architecture.allowances import Allowance


def test_an_allowance_may_shrink_and_move_but_not_grow(tmp_path: Path) -> None:
    found = {"a": 2, "b": 3}
    allowance = Allowance("example", "Examples.", lambda: found, directory=tmp_path)
    assert allowance.write()
    text = allowance.file.read_text(encoding="utf-8")
    assert text == '# Examples.\n"a" = 2\n"b" = 3\n'
    allowance.file.write_text(text.replace("= 2", "= 2  # the reason"), encoding="utf-8")

    found |= {"b": 4}
    assert list(allowance.differences()) == ["b: 4 found, 3 allowed"]
    assert not allowance.write()

    del found["b"]
    found |= {"moved": 1}
    assert [line.partition(":")[0] for line in allowance.differences()] == ["b", "moved"]
    assert allowance.write()
    assert list(allowance.differences()) == []
    assert '"a" = 2  # the reason\n' in allowance.file.read_text(encoding="utf-8")
