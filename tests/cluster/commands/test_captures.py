"""The files in docs/captures equal the current output, except for values that always differ."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cluster.commands.test_demo import AT, steps
from tests.cluster.programs import steersman
from tools.captures import HOME, RECORDED_HEIGHT, RECORDINGS, SCENES, WIDTH, plain_text

pytestmark = pytest.mark.programs

STABLE = [name for name, scene in SCENES.items() if scene.is_stable]
SCREENS = [name for name, scene in SCENES.items() if scene.shows]

MAX_PICTURE_BYTES = 100_000
SVG = "{http://www.w3.org/2000/svg}"

# A line about an object: its kind and name, and its state or that it is gone.
ABOUT = re.compile(r"(\w+ default/[\w.-]+)(.*)")
MADE_UP = ("Pod ", "ReplicaSet ")


def kept(name: str) -> str:
    return (HOME / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", STABLE)
def test_a_capture_equals_the_output_of_its_command(name: str) -> None:
    assert kept(name) == plain_text(SCENES[name])


@pytest.mark.parametrize("name", SCREENS)
def test_a_captured_screen_is_complete_and_fits_the_terminal(name: str) -> None:
    scene = SCENES[name]

    lines = kept(name).splitlines()

    assert max(map(len, lines)) <= WIDTH
    assert re.match(r"steersman dev  [\w.]+:manager  ", lines[0])
    assert lines[1].startswith("export KUBECONFIG=")
    assert any(re.fullmatch(r"OBJECT +STATE +AGE", line) for line in lines)
    assert all(word in kept(name) for word in scene.finally_shows or scene.shows)


def outcomes(text: str) -> dict[str, dict[str, str]]:
    """The objects after each step with their states, from the lines until then.

    Objects with generated names are left out, because the names differ each time.
    """
    found: dict[str, dict[str, str]] = {}
    there: dict[str, str] = {}
    for line in text.splitlines():
        words = AT.sub("", line)
        if words.startswith("» "):
            found[words] = there = dict(there)
        elif found and (about := ABOUT.fullmatch(words)) and not words.startswith(MADE_UP):
            there[about[1]] = about[2].removesuffix(", re-created")
            if about[2] == " is gone":
                del there[about[1]]
    return found


def test_the_output_of_a_demo_in_a_pipe_ends_like_its_capture(tmp_path: Path) -> None:
    finished = steersman("demo", "--pause=0.3", directory=tmp_path)

    assert finished.returncode == 0, finished.stderr
    fresh = outcomes(finished.stdout)
    assert fresh == outcomes(kept("demo"))
    assert len(fresh) == len(steps("appservice"))


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_is_a_small_self_contained_svg_of_every_step(name: str) -> None:
    drawn = (HOME / f"{name}.svg").read_text(encoding="utf-8")

    frames = [
        [(float(line.attrib["y"]), "".join(line.itertext())) for line in frame]
        for frame in ElementTree.fromstring(drawn).iter(f"{SVG}g")  # noqa: S314  ours
    ]
    for step in steps("appservice"):
        assert any(step.search(text) for frame in frames for _, text in frame), step
    assert any("becauseService" in text.replace(" ", "") for frame in frames for _, text in frame)
    assert max(len(frame) for frame in frames) <= RECORDED_HEIGHT
    assert len(drawn.encode()) < MAX_PICTURE_BYTES
    assert "prefers-color-scheme:dark" in drawn
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)|url\(|href", drawn) == []


def test_the_readmes_excerpt_of_the_demo_is_in_the_capture() -> None:
    readme = (HOME.parents[1] / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"    \$ steersman demo \| cat\n((?:    .*\n|\n(?=    ))+)", readme)
    lines = [AT.sub("", line[4:]) for line in shown.splitlines() if line.strip()]

    assert len(lines) > 5
    captured = {AT.sub("", line) for line in kept("demo").splitlines()}
    assert [line for line in lines if line not in {*captured, "…"}] == []


def test_every_capture_belongs_to_an_existing_scene() -> None:
    assert sorted(path.stem for path in HOME.glob("*.txt")) == sorted(SCENES)
    assert sorted(path.stem for path in HOME.glob("*.svg")) == sorted(RECORDINGS)
