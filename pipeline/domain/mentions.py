"""Whether a text names a role: in its own words, in a synonym, or in the words of a form of it."""

from functools import lru_cache

from pipeline.domain.lexicon import Phrase, lexicon, normal, phrase
from pipeline.domain.roles import role_of
from pipeline.domain.spelling import fold, has_han

#: The shortest beginning that a verb and the name of its doer share: drive, driver.
_STEM = 4
_DOER = ("er", "or", "ist", "ian", "eer", "ant", "man")
_HAN_DOER = tuple("人员者师傅工户匠家手主民党族迷友粉控生客徒妇童兵长商星王子娃妈爸")


@lru_cache(maxsize=256)
def _normal_words(text: str) -> tuple[str, ...]:
    return tuple(normal(word.strip("'")) for word in fold(text).split())


def _holds(text: str, name: str) -> bool:
    """Whether the words of `name`, which is folded, stand in `text` side by side."""
    if has_han(name):
        return name.replace(" ", "") in fold(text).replace(" ", "")
    wanted, spoken = phrase(name), _normal_words(text)
    if not wanted:
        return False
    return any(spoken[place : place + len(wanted)] == wanted for place in range(len(spoken) - len(wanted) + 1))


def mentions(text: str, name: str) -> bool:
    """Whether `text` names the role, under whatever name and in whatever order of words."""
    if _holds(text, fold(name)):
        return True
    tables, role = lexicon(), role_of(name)
    if not all(
        any(_holds(text, word) for word in tables.number_names.get(number, (number,))) for number in role.numbers
    ):
        return False
    for part in role.parts:
        heads = tables.names.get(part.head) or (" ".join(part.head),)
        if any(_holds(text, head) for head in heads) and all(
            any(_holds(text, word) for word in tables.modifier_names.get(token, (token,))) for token in part.narrowing
        ):
            return True
    return False


def mentions_any_form(text: str, name: str) -> bool:
    """Whether `text` names the role or, by the table, one of its more specific forms."""
    tables = lexicon()
    return mentions(text, name) or any(
        _holds(text, form)
        for part in role_of(name).parts
        if not part.narrowing
        for child in tables.children.get(part.head, ())
        for form in tables.names.get(child, ())
    )


def hints_at(text: str, name: str) -> bool:
    """Whether `text` says the role in other words: "drives a lorry" of a lorry driver, 开出租 of 出租车司机."""
    if mentions(text, name):
        return True
    key = fold(name)
    if has_han(key):
        spoken = fold(text).replace(" ", "")
        body = key.replace(" ", "")
        return any(body[place : place + 2] in spoken for place in range(len(body) - 1))
    return any(_doer_of(head, _normal_words(text)) for head in (part.head for part in role_of(name).parts))


def echoes(text: str, name: str) -> bool:
    """Whether `text` names the role, or its name only puts a head to words of it: "pump technician" of "our pump"."""
    if mentions(text, name):
        return True
    called = lexicon().modifier_names
    return any(
        part.narrowing
        and all(any(_holds(text, word) for word in called.get(token, (token,))) for token in part.narrowing)
        for part in role_of(name).parts
    )


def is_a_role(name: str) -> bool:
    """Whether the word lists know the name's head, or its ending, as that of a role."""
    tables, role = lexicon(), role_of(name)
    known = any(part.head in tables.names or part.head in tables.general | tables.vague for part in role.parts)
    return known or fold(name).endswith(_HAN_DOER if has_han(name) else _DOER)


def is_a_trade(name: str) -> bool:
    """Whether the word lists know what somebody of that name does: a nurse, and neither a fan nor a bug."""
    tables = lexicon()
    told = tables.names.keys() - tables.general - tables.vague
    return any(part.head in told for part in role_of(name).parts)


def _doer_of(head: Phrase, spoken: tuple[str, ...]) -> bool:
    doer = head[-1]
    for ending in _DOER:
        stem = doer.removesuffix(ending)
        if stem != doer and len(stem) >= _STEM and any(word.startswith(stem) for word in spoken):
            return True
    return False
