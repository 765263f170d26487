"""The measure of masking counts what it says, and the texts of our own reach their mark."""

import json
import re
from pathlib import Path

import pytest

from tests.measures.personal_data import counted, marked, own_texts, report, spanned
from tests.measures.public_data import Missing


def test_a_find_counts_where_its_kind_and_place_are_right(tmp_path: Path) -> None:
    """A miss lowers recall, a find that nobody marked lowers precision."""
    tally = marked(["Call ⟦phone:415-555-2671⟧ or ⟦phone:nobody⟧", "my card 4111 1111 1111 1111"])
    assert (tally.recall, tally.precision) == (0.5, 0.5)
    assert len(tally.wrong) == 2
    spans = [{"entity_type": "EMAIL_ADDRESS", "start_position": 3, "end_position": 9}]
    english = tmp_path / "pii_en.json"
    english.write_text(json.dumps([{"full_text": "at a@b.co", "spans": spans}]), encoding="utf-8")
    assert spanned(english).recall == 1
    line = {"entity": "Phone", "text": "电话13812345678", "expected_count": 2}
    chinese = tmp_path / "pii_zh.jsonl"
    chinese.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert (counted(chinese).recall, counted(chinese).precision) == (0.5, 1)


@pytest.mark.parametrize("half", ["read", "held_out"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_texts_full_of_other_numbers(half: str, language: str) -> None:
    """At least 95 of 100 finds among prices, versions, orders, dates and code are personal data.

    Of what is there none is missed in the texts that the rules were mended by, and few are in the others.
    """
    tally = marked(own_texts()[half][language])
    wrong = tally.wrong if half == "read" else len(tally.wrong)
    assert tally.precision >= 0.95, wrong
    assert tally.recall >= (0.99 if half == "read" else 0.96), wrong


def test_missing_data_is_said(tmp_path: Path) -> None:
    """The message names where it is to be had."""
    with pytest.raises(Missing, match="cn_pii_anonymization"):
        report(tmp_path, show=False)


def test_the_report_gives_recall_and_precision_by_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line for a kind; what goes wrong in the texts held out is not shown."""
    line = {"entity": "Phone", "text": "电话13812345678", "expected_count": 2}
    (tmp_path / "pii_zh.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    (tmp_path / "pii_en.json").write_text("[]", encoding="utf-8")
    report(tmp_path, show=True)
    printed = capsys.readouterr().out
    assert re.search(r"^public zh +phone +2 +1 +0\.500 +0 +1\.000$", printed, re.MULTILINE)
    assert "电话13812345678" in printed
    assert not any(text in printed for text in own_texts()["held_out"]["zh"])
