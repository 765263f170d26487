"""From a question, and those before it, to a proposed extraction."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.adapters.rules.continuing import Known, agree, goes_on, last_known, leader, links_back
from pipeline.adapters.rules.patterns import first
from pipeline.adapters.rules.reading import Reading, as_written, readings
from pipeline.domain.asks import asked_preferences
from pipeline.domain.scripts import in_script_of
from pipeline.ports import Json
from pipeline.words import words

_STATED, _DENIED_ONLY, _NEUTRAL = 0.95, 0.9, 0.2
_STATED_GOES_ON, _HINTED_GOES_ON = 0.5, 0.35
#: A subject alone is no ground for leaving what is known at once: that takes 0.5.
_STAYS_CANDIDATE = 0.49
_MAX_TRAITS, _MAX_HINTS = 3, 2
_MAX_QUOTE = 120
#: How far before a correction its clause may begin.
_SIGHT = 120


@dataclass
class _Proposed:
    identities: list[str] = field(default_factory=list)
    characteristics: list[str] = field(default_factory=list)
    evidence: dict[str, list[str]] = field(default_factory=dict)
    score: float = 0.0
    ground: str = "hinted"
    """How the first identity is known: stated now, said before, or hinted at by the subject."""

    def add(self, kind: list[str], name: str, quote: str) -> None:
        if name not in kind:
            kind.append(name)
        supports = self.evidence.setdefault(quote[:_MAX_QUOTE].strip(), [])
        if name not in supports:
            supports.append(name)


def proposed(question: str, history: Sequence[str]) -> dict[str, Json]:
    """The extraction in the shape that a language model is asked for."""
    reading, before = readings(question, history)
    made = _Proposed()
    states, denies = _corrected(reading, before)
    states, denies = states or reading.named("states"), denies or reading.named("denies")
    _add_claims(made, reading, states, denies)
    if not states:
        _add_subject(made, reading, before, denies)
    if made.identities:
        _add_traits(made, reading)
    asked = [question, *reversed(history)]

    def written(names: Iterable[str]) -> list[Json]:
        return [in_script_of(asked, name) for name in names]

    result: dict[str, Json] = {
        "identities": written(made.identities),
        "characteristics": written(made.characteristics),
        "evidence": [{"quote": quote, "supports": written(names)} for quote, names in made.evidence.items()],
        "preferences": _preferences(reading),
        "states": written(states),
        "denies": written(denies),
        "score": made.score,
        "overview": in_script_of(asked, _overview(made, reading)),
    }
    return result


def _add_claims(made: _Proposed, reading: Reading, states: list[str], denies: list[str]) -> None:
    """Statements and denials with their quotes; a past role and a wish are characteristics."""
    for name in states:
        made.add(made.identities, name, _quote_of(reading, name))
        made.score, made.ground = _STATED, "stated"
    for name in denies:
        made.add([], name, _quote_of(reading, name))
        made.score = made.score or _DENIED_ONLY
    phrases = words("traits")[reading.language]
    for claim in reading.claims:
        if claim.kind in {"past", "wishes"}:
            name = phrases[claim.kind].format(as_written(reading.text, claim))
            made.add(made.characteristics, name, reading.text[claim.start : claim.end])
            made.score = made.score or _NEUTRAL


def _quote_of(reading: Reading, name: str) -> str:
    claim = next((claim for claim in reading.claims if as_written(reading.text, claim) == name), None)
    return reading.text[claim.start : claim.end] if claim else reading.text[:_MAX_QUOTE]


def _corrected(reading: Reading, before: Sequence[Reading]) -> tuple[list[str], list[str]]:
    """ "Third-year, not second-year" after "I'm a second-year apprentice": the role with the other word in it."""
    said = [name for earlier in before for name in earlier.named("states")]
    if not said or reading.claims:
        return [], []
    for pattern in words("statements")["corrections"]["patterns"]:
        for match in re.finditer(pattern, reading.text, re.IGNORECASE):
            right, wrong = match["right"].strip(), match["wrong"].strip()
            if not _corrects(reading.text[max(match.start() - _SIGHT, 0) : match.start()], right):
                continue
            old = next((name for name in reversed(said) if wrong.casefold() in name.casefold()), None)
            if old and right.casefold() != wrong.casefold():
                return [re.sub(re.escape(wrong), right, old, flags=re.IGNORECASE)], [old]
    return [], []


def _corrects(before: str, right: str) -> bool:
    """Whether it is the user who is put right, and by a word that a role may have: "she is not a nurse" is neither."""
    lists = words("statements")["corrections"]
    clause = re.split(r"[,.;:!?，。；：！？\n]", before)[-1]
    return bool(re.fullmatch(lists["before"], clause, re.IGNORECASE)) and not re.fullmatch(
        lists["no_word"], right, re.IGNORECASE
    )


def _add_subject(made: _Proposed, reading: Reading, before: Sequence[Reading], denies: Sequence[str]) -> None:
    """What the subject hints at; where it hints at nothing new, the subject before may go on."""
    lead = leader(before)
    linked = links_back(reading.text)
    known = last_known(before) if linked else lead
    hinted = [hint for hint in reading.hints if not any(agree(hint.name, name) for name in denies)]
    if lead:
        hinted = [hint for hint in hinted if hint.sure]
        same = next((hint for hint in hinted if hint.role in lead.subjects), None)
        if same and not any(agree(hint.name, lead.name) for hint in hinted):
            return _go_on(made, lead, reading.text[same.quote.start : same.quote.end], same.score)
        beside = next((hint for hint in hinted if hint.role in words("topics")["beside"]), None)
        if beside:
            _go_on(made, lead, reading.text[beside.quote.start : beside.quote.end], beside.score)
    for hint in hinted[:_MAX_HINTS]:
        if lead and hint.everyday and agree(hint.name, lead.name):
            continue
        made.add(made.identities, hint.name, reading.text[hint.quote.start : hint.quote.end])
        made.score = made.score or (min(hint.score, _STAYS_CANDIDATE) if lead else hint.score)
    may_go_on = known and (known.sure or linked) and not hinted and not denies
    quote = goes_on(reading, known) if known and may_go_on else ""
    if known and quote:
        _go_on(made, known, quote, _STATED_GOES_ON if known.stated else _HINTED_GOES_ON)
    return None


def _go_on(made: _Proposed, known: Known, quote: str, score: float) -> None:
    made.add(made.identities, known.name, quote)
    made.score = score
    made.ground = "said" if known.stated else "hinted"


def _add_traits(made: _Proposed, reading: Reading) -> None:
    """What the wording shows of the person: looking for causes, minding safety, thinking of children."""
    for trait in words("traits")["traits"]:
        match = first(trait["signs"], "\n".join(sentence.text for sentence in reading.own.sentences))
        if match and match.group() in reading.text and len(made.characteristics) < _MAX_TRAITS:
            made.add(made.characteristics, trait[reading.language], match.group())


def _preferences(reading: Reading) -> dict[str, Json]:
    if reading.own.planted:
        return {}
    return {asked.field: {"value": asked.value, "scope": asked.scope} for asked in asked_preferences(reading.text)}


def _overview(made: _Proposed, reading: Reading) -> str:
    if not made.identities:
        return ""
    phrases = words("traits")[reading.language]
    who = phrases["and"].join(made.identities[:2])
    form = phrases[made.ground]
    text: str = form.format(article=_article(who), who=who, what=phrases["list"].join(made.characteristics[:3]))
    text = re.sub(phrases["empty"], "", text)
    return text[:1].upper() + text[1:]


def _article(name: str) -> str:
    return "an" if name[:1].casefold() in "aeio" else "a"
