"""Recordings of a terminal as animated images."""

from xml.etree import ElementTree

from tools.recording import Frame, Word, picture, plain, words_on

SVG = "{http://www.w3.org/2000/svg}"


def test_a_word_is_placed_at_its_column_in_its_tone() -> None:
    assert list(words_on("\x1b[1mname\x1b[0m  two words   \x1b[32mready\x1b[39m end")) == [
        [
            Word(0, "name", "strong"),
            Word(6, "two words", ""),
            Word(18, "ready", "good"),
            Word(24, "end", ""),
        ]
    ]


def test_a_tone_lasts_across_lines_until_it_is_reset() -> None:
    assert list(words_on("\x1b[2mone\ntwo\x1b[0m\n\x1b[0;1m\x1b[39m\x1b[49mthree")) == [
        [Word(0, "one", "quiet")],
        [Word(0, "two", "quiet")],
        [Word(0, "three", "strong")],
    ]


def test_each_frame_is_shown_for_its_duration_and_one_with_reduced_motion() -> None:
    frames = [Frame("one", 1.0), Frame("a < b", 2.0), Frame("three", 1.0)]

    drawn = picture(frames, columns=20, lines=2, still=1, title="demo")

    tree = ElementTree.fromstring(drawn)  # noqa: S314  ours
    assert ["".join(each.itertext()) for each in tree.iter(f"{SVG}g")] == ["one", "a < b", "three"]
    still, moving = drawn.split("@media(prefers-reduced-motion:no-preference)")
    assert "#f1{visibility:visible}" in still
    assert "@keyframes k0{0%{visibility:visible}25%{visibility:hidden}}" in moving
    assert "@keyframes k1{0%{visibility:hidden}25%{visibility:visible}75%{vis" in moving
    assert "@keyframes k2{0%{visibility:hidden}75%{visibility:visible}}" in moving


def test_a_screen_can_be_rendered_without_colors() -> None:
    assert plain("\x1b[1;32mgood\x1b[0m, \x1b[mtoo") == "good, too"
