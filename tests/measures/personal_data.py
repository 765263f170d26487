"""What masking finds in public texts with personal data, and what it takes for such in texts full of other numbers."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.domain.masking import found
from tests.measures.public_data import Missing

_CHINESE = {"Phone": "phone", "IDCard": "id", "Passport": "id", "BankCard": "card", "Email": "email"}
_ENGLISH = {
    "PHONE_NUMBER": "phone",
    "EMAIL_ADDRESS": "email",
    "CREDIT_CARD": "card",
    "IBAN_CODE": "card",
    "US_SSN": "id",
    "US_DRIVER_LICENSE": "id",
    "STREET_ADDRESS": "address",
}
_MARK = re.compile(r"⟦(\w+):([^⟧]*)⟧")


@dataclass
class Tally:
    """By kind: what is there, what of it was found, and what was found and is not there."""

    there: Counter[str] = field(default_factory=Counter)
    hit: Counter[str] = field(default_factory=Counter)
    false: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """The texts with a miss or a false find."""

    def of(self, kind: str) -> "Tally":
        there, hit, false = (Counter({kind: counts[kind]}) for counts in (self.there, self.hit, self.false))
        return Tally(there, hit, false)

    @property
    def precision(self) -> float:
        return self.hit.total() / max((self.hit + self.false).total(), 1)

    @property
    def recall(self) -> float:
        return self.hit.total() / max(self.there.total(), 1)


def counted(file: Path) -> Tally:
    """Each line has a text, an entity and how many of it are in the text."""
    tally = Tally()
    for line in map(json.loads, filter(str.strip, file.read_text(encoding="utf-8").splitlines())):
        kind, there = _CHINESE[line["entity"]], line["expected_count"]
        got = sum(one == kind for _, _, one in found(line["text"]))
        _count(tally, line["text"], Counter({kind: there}), Counter({kind: min(got, there)}), Counter({kind: got}))
    return tally


def spanned(file: Path) -> Tally:
    """Each text has the spans of its entities; one is found where something of its kind overlaps it.

    The halves of an address are spans of their own there, so that none is ever found whole.
    """
    tally = Tally()
    for text in json.loads(file.read_text(encoding="utf-8")):
        spans = [
            (span["start_position"], span["end_position"], _ENGLISH[span["entity_type"]])
            for span in text["spans"]
            if span["entity_type"] in _ENGLISH
        ]
        _overlap(tally, text["full_text"], spans, whole=())
    return tally


def marked(texts: Sequence[str]) -> Tally:
    """Texts of our own, in which ⟦kind:words⟧ marks what is personal; all but an address has to be found whole."""
    tally = Tally()
    for text in texts:
        plain, spans, place = "", [], 0
        for mark in _MARK.finditer(text):
            plain += text[place : mark.start()]
            spans.append((len(plain), len(plain) + len(mark[2]), mark[1]))
            plain, place = plain + mark[2], mark.end()
        _overlap(tally, plain + text[place:], spans, whole=("phone", "email", "card", "id"))
    return tally


def own_texts() -> dict[str, dict[str, list[str]]]:
    """The texts of `personal_data.toml`, by whether they were read while the rules were written, and by language."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _overlap(tally: Tally, text: str, there: Sequence[tuple[int, int, str]], whole: Collection[str]) -> None:
    got = found(text)

    def touches(one: tuple[int, int, str], others: Sequence[tuple[int, int, str]]) -> bool:
        return any(one[0] < end and start < one[1] and one[2] == kind for start, end, kind in others)

    def is_found(span: tuple[int, int, str]) -> bool:
        if span[2] not in whole:
            return touches(span, got)
        places = (place for place in range(*span[:2]) if text[place].isalnum())
        return all(touches((place, place + 1, span[2]), got) for place in places)

    hit = Counter(span[2] for span in there if is_found(span))
    false = Counter(span[2] for span in got if not touches(span, there))
    _count(tally, text, Counter(span[2] for span in there), hit, hit + false)


def _count(tally: Tally, text: str, there: Counter[str], hit: Counter[str], got: Counter[str]) -> None:
    tally.there += there
    tally.hit += hit
    tally.false += got - hit
    if got - hit or there - hit:
        tally.wrong.append(text)


def _file(folder: Path, name: str, whence: str) -> Path:
    files = sorted(folder.rglob(name))
    if not files:
        raise Missing(f"no {name} in {folder}: get {whence}")
    return files[0]


def _tallies(folder: Path) -> Iterator[tuple[str, Tally]]:
    yield "public zh", counted(_file(folder, "pii_zh*.jsonl", "cn_pii_anonymization"))
    yield "public en", spanned(_file(folder, "pii_en*.json", "presidio-research"))
    for half, languages in own_texts().items():
        for language, texts in languages.items():
            yield f"own {language}, {half.replace('_', ' ')}", marked(texts)


def report(folder: Path, *, show: bool) -> None:
    """Print recall and precision by language and kind; of our own texts, those held out are only counted."""
    print(f"{'texts':<20}{'kind':<9}{'there':>6}{'found':>6}{'recall':>8}{'false':>6}{'precision':>10}")
    for name, tally in _tallies(folder):
        for kind in (*sorted(tally.there | tally.false), "all"):
            of_kind = tally if kind == "all" else tally.of(kind)
            print(
                f"{name:<20}{kind:<9}{of_kind.there.total():>6}{of_kind.hit.total():>6}{of_kind.recall:>8.3f}"
                f"{of_kind.false.total():>6}{of_kind.precision:>10.3f}"
            )
        if show and not name.endswith("held out"):
            print(*map(repr, tally.wrong), sep="\n")
