"""Files that were saved since the last check."""

import asyncio
import os
from itertools import count
from pathlib import Path

from steersman_cluster.commands.session.file_watcher import FileWatcher
from tests.clocks import FakeClock, ManualClock

TURNS = 4
TICKS = count(0, 1_000_000)


def save(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    # Two saves in one tick of the file system's clock would have the same time.
    saved = path.stat().st_mtime_ns + next(TICKS)
    os.utime(path, ns=(saved, saved))
    return path


async def next_of(watcher: FileWatcher) -> list[str]:
    return [path.name for path in await watcher.next(clock=FakeClock())]


async def test_saved_added_and_removed_files_are_reported(tmp_path: Path) -> None:
    old, gone = save(tmp_path / "old.py"), save(tmp_path / "gone.py")
    watcher = FileWatcher([tmp_path], endings=(".py",))

    save(old)
    save(tmp_path / "new.py")
    gone.unlink()

    assert await next_of(watcher) == ["gone.py", "new.py", "old.py"]


async def test_other_files_and_subdirectories_are_ignored(tmp_path: Path) -> None:
    watcher = FileWatcher([tmp_path], endings=(".py",))

    save(tmp_path / "notes.txt")
    save(tmp_path / "below" / "deep.py")
    save(tmp_path / "here.py")

    assert await next_of(watcher) == ["here.py"]


async def test_a_named_file_can_have_any_suffix(tmp_path: Path) -> None:
    path = save(tmp_path / "app.conf")
    watcher = FileWatcher([path], endings=(".yaml",))

    save(path)

    assert await next_of(watcher) == ["app.conf"]


async def test_existing_files_of_an_added_directory_are_not_reported(tmp_path: Path) -> None:
    save(tmp_path / "below" / "old.py")
    watcher = FileWatcher([tmp_path], endings=(".py",))
    watcher.add([tmp_path / "below", tmp_path / "nowhere"])

    save(tmp_path / "below" / "new.py")

    assert await next_of(watcher) == ["new.py"]


async def test_a_series_of_saves_is_reported_once_at_its_end(tmp_path: Path) -> None:
    clock = ManualClock()
    watcher = FileWatcher([tmp_path], endings=(".py",))

    async def pass_time() -> None:
        clock.advance(0.25)
        for _ in range(TURNS):
            await clock.sleep(0)

    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(watcher.next(clock=clock))
        for name in ("one.py", "two.py", "three.py"):
            save(tmp_path / name)
            await pass_time()
            assert not waiting.done()
        await pass_time()
        await pass_time()

    assert [each.name for each in waiting.result()] == ["one.py", "three.py", "two.py"]
