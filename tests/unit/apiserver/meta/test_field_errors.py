import pytest

from steersman_cluster.apiserver.meta.field_errors import shown


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("größer 😀", '"größer 😀"'),
        ('a"b\\c', r'"a\"b\\c"'),
        ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
        ("\x00\x7f", r'"\x00\x7f"'),
        ("\u200b\U000e0001", r'"\u200b\U000e0001"'),
    ],
)
def test_text_is_quoted_like_in_go(text: str, quoted: str) -> None:
    assert shown(text) == quoted
