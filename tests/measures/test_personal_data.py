"""The measure of masking counts what it says, and the texts of our own reach their mark."""

import json
from pathlib import Path

import pytest

from tests.measures.personal_data import counted, main, marked, own_texts, spanned


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


@pytest.mark.parametrize("language", ["en", "zh"])
def test_texts_full_of_other_numbers(language: str) -> None:
    """At least 95 of 100 finds among prices, versions, orders, dates and code are personal data; none is missed."""
    tally = marked(own_texts()[language])
    assert tally.precision >= 0.95, tally.wrong
    assert tally.recall >= 0.99, tally.wrong


def test_missing_data_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and where it is to be had."""
    assert main([str(tmp_path)]) == 2
    assert "cn_pii_anonymization" in capsys.readouterr().err
