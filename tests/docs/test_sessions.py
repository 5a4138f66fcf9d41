"""Pages as terminal sessions: the steps of a reader, and the expected output."""

from pathlib import Path

import pytest

from tools.sessions import Differs, Interrupted, Shown, Typed, Written, acts, follow, on_screen

PAGE = """
```console
$ mkdir one
$ cd one
```

<!-- goes on -->
```console
$ cat
```

<!-- now shows -->
```text
something
```

<!-- Ctrl-C -->

<!-- as made -->
```{literalinclude} made.py
:caption: src/made.py
```

```{literalinclude} other.py
:caption: src/other.py
:start-at: class
```

```{literalinclude} only-shown.py
```
"""


def page(directory: Path, text: str) -> Path:
    path = directory / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_page_is_parsed_into_steps(tmp_path: Path) -> None:
    found = list(acts(page(tmp_path, PAGE)))

    assert [type(act) for act in found] == [
        Typed,
        Typed,
        Typed,
        Shown,
        Interrupted,
        Written,
        Written,
    ]
    assert [(act.line, act.step.command) for act in found if isinstance(act, Typed)] == [
        (3, "mkdir one"),
        (4, "cd one"),
        (9, "cat"),
    ]
    assert [(act.to, act.is_there) for act in found if isinstance(act, Written)] == [
        ("src/made.py", True),
        ("src/other.py", False),
    ]


def test_a_correct_page_runs_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("noted\n")
    text = """
```console
$ mkdir one && cd one && export WORD=said
```

```{literalinclude} note.txt
:caption: note.txt
```

```console
$ cat note.txt; echo $WORD; pwd
noted
sa…
~/one
```
"""

    done = list(follow(page(tmp_path, text), kubectl=None))

    assert len(done) == 3


def test_the_error_for_a_wrong_page_has_the_actual_output(tmp_path: Path) -> None:
    text = "```console\n$ echo this\nthat\n```\n"

    with pytest.raises(Differs, match=r"page.md:2: \$ echo this\nthis\n") as caught:
        list(follow(page(tmp_path, text), kubectl=None))

    assert str(caught.value).endswith("that")


def test_commands_of_kubectl_are_skipped_without_kubectl(tmp_path: Path) -> None:
    text = "```console\n$ kubectl get pods\nanything\n$ echo on\non\n```\n"

    [done] = follow(page(tmp_path, text), kubectl=None)

    assert isinstance(done, Typed)
    assert done.step.command == "echo on"


def test_a_running_command_ends_with_the_page(tmp_path: Path) -> None:
    text = "<!-- goes on -->\n```console\n$ sh -c 'echo here; exec sleep 1000'\nhere\n```\n"

    done = list(follow(page(tmp_path, text), kubectl=None))

    assert len(done) == 1


def test_redrawn_lines_are_on_the_screen_once() -> None:
    text = "\x1b[?1049h\x1b[2J\x1b[1;1Hold\x1b[K\x1b[2;1Hsecond\x1b[K\x1b[1;1Hnew\x1b[K"

    assert on_screen(text) == ["new", "second"]


def test_lines_that_are_cleared_below_are_not_on_the_screen() -> None:
    assert on_screen("\x1b[1;1Hfirst\x1b[K\x1b[2;1Hsecond\x1b[K\x1b[2;1H\x1b[J") == ["first"]
