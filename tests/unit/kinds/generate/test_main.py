"""The commands that write and check the modules of the built-in kinds."""

from pathlib import Path

import pytest

from steersman.kinds.generate.__main__ import main
from steersman.openapi import load_all_facts


def test_the_modules_in_the_package_are_up_to_date() -> None:
    assert main(["--check"]) == 0


def test_written_modules_are_up_to_date(tmp_path: Path) -> None:
    (tmp_path / "gone_v1.py").write_text("# Generated once.\n")
    (tmp_path / "written_by_hand.py").write_text("")

    assert main([], kinds=tmp_path) == 0

    assert main(["--check"], kinds=tmp_path) == 0
    assert {path.stem for path in tmp_path.iterdir()} == {
        *load_all_facts(),
        "builtin",
        "written_by_hand",
    }


def test_a_check_names_outdated_modules_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([], kinds=tmp_path)
    (tmp_path / "apps_v1.py").write_text("# edited\n")
    (tmp_path / "gone_v1.py").write_text("# Generated once.\n")

    assert main(["--check"], kinds=tmp_path) == 1

    assert capsys.readouterr().err == (
        "out of date: apps_v1.py, gone_v1.py\n\nhint: run `python -m steersman.kinds.generate`\n"
    )
    assert (tmp_path / "apps_v1.py").read_text() == "# edited\n"
    assert (tmp_path / "gone_v1.py").exists()


def test_without_facts_no_file_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "apps_v1.py"
    kept.write_text("# Generated.\n")

    with pytest.raises(SystemExit):
        main([], facts={}, kinds=tmp_path)

    assert kept.exists()
    assert "no facts in" in capsys.readouterr().err
