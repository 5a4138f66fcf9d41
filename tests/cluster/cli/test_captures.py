"""What is kept in docs/captures is what a terminal shows today, as far as that is stable."""

import re

import pytest

from tools.captures import HOME, SCENES, WIDTH, told

STABLE = [name for name, scene in SCENES.items() if scene.is_stable]
SCREENS = [name for name, scene in SCENES.items() if not scene.is_stable]


def kept(name: str) -> str:
    return (HOME / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", STABLE)
def test_a_capture_says_what_the_command_says(name: str) -> None:
    assert kept(name) == told(SCENES[name])


@pytest.mark.parametrize("name", SCREENS)
def test_a_captured_screen_has_all_its_parts_and_fits(name: str) -> None:
    scene = SCENES[name]

    lines = kept(name).splitlines()

    assert max(map(len, lines)) <= WIDTH
    assert re.match(r"steersman (dev|demo)  [\w.]+:(manager|controller)  ", lines[0])
    assert lines[1].startswith("export KUBECONFIG=")
    assert any(re.fullmatch(r"OBJECT +STATE +AGE", line) for line in lines)
    assert all(word in kept(name) for word in scene.finally_shows or scene.shows)


def test_no_capture_is_of_a_scene_that_is_no_more() -> None:
    assert sorted(path.stem for path in HOME.glob("*.txt")) == sorted(SCENES)
