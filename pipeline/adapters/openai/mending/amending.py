"""What code mends in a proposal before it is judged: plain statements go in, and what no word bears out goes out.

A name goes out by losing the quotes that support it: the rules that judge a proposal then drop it.
"""

import re
from collections.abc import Sequence
from typing import Any

from pipeline.adapters.openai.mending.evidence import mended_evidence
from pipeline.adapters.openai.mending.hinting import add_hints
from pipeline.adapters.openai.mending.naming import unsexed
from pipeline.adapters.rules.continuing import agree, among
from pipeline.adapters.rules.proposing import proposed
from pipeline.adapters.rules.reading import read
from pipeline.adapters.rules.topics import is_neutral
from pipeline.domain.extraction import NEUTRAL_SCORE_MAX
from pipeline.domain.guards import clauses_in, not_of_the_user, without_relations
from pipeline.domain.languages import fits_language, is_surely
from pipeline.domain.mentions import hints_at
from pipeline.domain.proposals import distinct, names_of, object_of, score_of
from pipeline.domain.quoting import own_words
from pipeline.domain.similarity import Relation, covers, relation
from pipeline.domain.spelling import fold, has_han, spans
from pipeline.ports import Json
from pipeline.words import words

_NAMES = ("identities", "characteristics", "states", "denies")
_SENTENCE_END = re.compile(r"[.!?。！？\n]+")


def amended(content: Json, question: str, history: Sequence[str]) -> Json:
    """The proposal for a question, mended; what is no object stays as it is."""
    raw = object_of(content)
    if raw is None:
        return content
    plain: dict[str, Any] = proposed(question, history)
    said = "\n".join((*history, question))
    proposal: dict[str, Any] = raw | {key: names_of(raw.get(key)) for key in _NAMES}
    proposal["preferences"] = _as_asked(_by_field(raw.get("preferences")), plain["preferences"])
    proposal["evidence"] = mended_evidence(proposal, question, history, plain)
    proposal["identities"] = distinct([*proposal["identities"], *proposal["states"]])
    _drop_unsaid(proposal, question, plain)
    _add_plain_claims(proposal, plain, said)
    add_hints(proposal, question, plain)
    if is_neutral(read(question).own) and not any(among(name, plain["identities"]) for name in proposal["identities"]):
        proposal["score"] = min(score_of(proposal.get("score")), NEUTRAL_SCORE_MAX)
    if not fits_language(str(proposal.get("overview") or ""), question):
        proposal["overview"] = ""
    return unsexed(proposal, (*history, question))


def _by_field(preferences: Any) -> Any:
    """One entry a field, as the port has it; the first of two that name one field."""
    if not isinstance(preferences, list):
        return preferences
    entries = [entry for entry in preferences if isinstance(entry, dict) and isinstance(entry.get("field"), str)]
    return {entry["field"]: entry for entry in reversed(entries)}


def _as_asked(preferences: Any, plain: Any) -> Any:
    """What plain words ask for, and how far it reaches ("just this once"), stands before what the model makes of it."""
    return preferences | plain if isinstance(preferences, dict) else preferences


def _drop_unsaid(proposal: dict[str, Any], question: str, plain: dict[str, Any]) -> None:
    """A statement names its role and its speaker, or says in the first person what its speaker does; a denial says no.

    In other languages code cannot tell.
    """
    if not is_surely(("English", "中文"), question):
        return
    sentences = _SENTENCE_END.split(own_words(question).replace("’", "'"))
    of_self = [sentence for sentence in sentences if _has("selves", without_relations(sentence))]
    proposal["states"] = [
        name
        for name in proposal["states"]
        if among(name, plain["states"]) or any(hints_at(said, name) for said in of_self) or _told(name, proposal)
    ]
    if not any(_has("denials", sentence) for sentence in sentences):
        proposal["denies"] = []


def _told(name: str, proposal: dict[str, Any]) -> bool:
    """Whether a quote for the name tells what the user does or is, in words that no guard gives to another."""
    said = [clause for item in proposal["evidence"] if name in item["supports"] for clause in clauses_in(item["quote"])]
    return any(
        _has("told", clause) and not _has("asked", clause) and not not_of_the_user(clause, name) for clause in said
    )


def _has(kind: str, sentence: str) -> bool:
    return re.search(words("amending")[kind], sentence, re.IGNORECASE) is not None


def _add_plain_claims(proposal: dict[str, Any], plain: dict[str, Any], said: str) -> None:
    """What the rules read outright is certain: it goes in with its quotes, and what it contradicts goes out.

    The model's own name for a stated role stays unless the words say more: two children's mother, and not a mother.
    """
    stated, denied = plain["states"], plain["denies"]
    proposal["states"] = [name for name in proposal["states"] if not among(name, denied) or among(name, stated)]
    proposal["denies"] = [name for name in proposal["denies"] if not among(name, stated)]
    own = {name: [its for its in proposal["states"] if _says_as_much(its, name, said)] for name in stated}
    for name in stated:
        if not own[name]:
            own[name] = [its for its in proposal["identities"] if _says_as_much(its, name, said)][:1]
            proposal["states"] = distinct([*proposal["states"], *own[name]])
    new = [
        name
        for name in stated
        if not own[name] and (_in_words_of(said, name) or not _read_otherwise(name, proposal, plain))
    ]
    proposal["states"] = [name for name in proposal["states"] if not any(covers(name, more) for more in new)] + new
    proposal["identities"] = distinct([*new, *proposal["identities"]])
    proposal["denies"] = distinct([*denied, *proposal["denies"]])
    for item in plain["evidence"]:
        known = [name for held in proposal["evidence"] if held["quote"] == item["quote"] for name in held["supports"]]
        claimed = [name for name in item["supports"] if name in new or name in denied]
        claimed += [its for name in item["supports"] for its in own.get(name, ())]
        if claimed := [name for name in claimed if name not in known]:
            proposal["evidence"].append({"quote": item["quote"], "supports": claimed})
    if new:
        proposal["score"] = plain["score"]


def _read_otherwise(name: str, proposal: dict[str, Any], plain: dict[str, Any]) -> bool:
    """Whether the model named somebody by the very words from which the rules infer the name."""
    quotes = [item["quote"] for item in plain["evidence"] if name in item["supports"]]
    return any(
        spans(item["quote"], quote) or spans(quote, item["quote"])
        for item in proposal["evidence"]
        if set(item["supports"]) & set(proposal["identities"])
        for quote in quotes
    )


def _says_as_much(name: str, other: str, said: str) -> bool:
    """Whether the two agree, and the other is not the more specific in the user's own words."""
    return agree(name, other) and not (relation(other, name) is Relation.FORM and _in_words_of(said, other))


def _in_words_of(said: str, name: str) -> bool:
    """Whether every word of the name was said; a name that the rules made up of a deed was not."""
    return bool(spans(name, said)) or (not has_han(name) and set(fold(name).split()) <= set(fold(said).split()))
