"""The entry point where the command line cannot run."""

import subprocess
import sys
from io import BytesIO, TextIOWrapper

import pytest

from steersman.cli.entry import write_any_letter

# An import of a module that is ``None`` fails.
WITHOUT_CLICK = """
import sys
sys.modules["click"] = None
from steersman.cli import main
main()
"""


def test_without_click_the_error_says_what_to_install() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", WITHOUT_CLICK], capture_output=True, text=True, check=False
    )

    assert (finished.returncode, finished.stdout) == (1, "")
    assert finished.stderr == (
        "steersman: the command line needs click, which is not installed\n"
        "\nhint: pip install 'steersman[cli]'\n"
    )


class Terminal(TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "written"), [(TextIOWrapper, "└ Größe".encode()), (Terminal, b"? Gr??e")]
)
def test_output_works_in_every_locale(stream: type[TextIOWrapper], written: bytes) -> None:
    under = BytesIO()
    poor = stream(under, encoding="ascii")

    write_any_letter(poor)
    poor.write("└ Größe")
    poor.flush()

    assert under.getvalue() == written
