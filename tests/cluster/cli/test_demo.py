"""``steersman demo``, from its first object to its last."""

from pathlib import Path

from tests.cluster.cli.programs import steersman

STORY = [
    "» somebody applies AppService web: one nginx:1.28",
    "» they want three of it",
    "» a Pod is deleted: Kubernetes itself replaces it",
    "» the Service is deleted behind the operator's back: it puts it back",
    "» they want nginx:1.29: the Deployment rolls it out",
    "» the AppService is deleted, and all that it owns goes with it",
]


def test_the_demo_tells_its_story_and_leaves_nothing(tmp_path: Path) -> None:
    finished = steersman("demo", "--pause=0.3", directory=tmp_path, TMPDIR=str(tmp_path))

    assert finished.returncode == 0, finished.stderr
    told = [line[11:] for line in finished.stdout.splitlines()]
    assert [line for line in told if line.startswith("»")] == STORY
    after_the_third = told[told.index(STORY[3]) :]
    assert any("because Service default/web deleted; applied" in line for line in after_the_third)
    assert {"AppService default/web is gone", "Service default/web is gone"} <= set(told)
    assert list(tmp_path.iterdir()) == []
