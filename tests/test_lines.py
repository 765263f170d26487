"""The files that commands read line by line."""

from pathlib import Path

import pytest

from pipeline.errors import SettingsInvalid
from pipeline.lines import numbered_lines


def test_lines_have_their_numbers_without_the_blank_ones(tmp_path: Path) -> None:
    """Whatever the file begins with and its lines end with; a line is as it was written."""
    file = tmp_path / "lines"
    file.write_bytes("\ufeffone\r\n\n  \nfour\u2028still four".encode())
    assert numbered_lines(file) == [(1, "one\r"), (4, "four\u2028still four")]


@pytest.mark.parametrize("content", [b"one\ntw\xff\nthree", b"\xef\xbb\xbfone\ntw\xff", b"one\ntwo\xe4"])
def test_what_is_no_utf_8_is_named_by_its_line(tmp_path: Path, content: bytes) -> None:
    """With what to do about it."""
    file = tmp_path / "lines"
    file.write_bytes(content)
    with pytest.raises(SettingsInvalid, match="line 2 is not UTF-8; convert the file"):
        numbered_lines(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Nothing is read of a folder either."""
    for missing in (tmp_path / "none", tmp_path):
        with pytest.raises(SettingsInvalid, match="cannot be read"):
            numbered_lines(missing)
