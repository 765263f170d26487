"""The overview of the user: the model's words where they hold, else the identities in a row."""

from collections.abc import Iterable, Sequence

from pipeline.domain.mentions import mentions, mentions_any_form
from pipeline.domain.spelling import has_han
from schemas.role import MAX_OVERVIEW, Identity


def overview_of(
    identities: Sequence[Identity], words: Iterable[str], *, denied: Iterable[str], rejected: Iterable[str]
) -> str:
    """The first of `words` that names the first identity and none that is denied or rejected; composed where none does.

    Without an identity there is nothing to say.
    """
    if not identities:
        return ""
    denied, rejected = list(denied), list(rejected)
    first = identities[0].name
    for text in words:
        if (
            text
            and mentions(text, first)
            and not any(mentions_any_form(text, name) for name in denied)
            and not any(mentions(text, name) for name in rejected)
        ):
            return text
    return _composed([identity.name for identity in identities])


def _composed(names: Sequence[str]) -> str:
    """The identities in their own words and language, the first one first."""
    comma, stop = ("、", "。") if has_han(names[0]) else (", ", ".")
    text = names[0]
    for name in names[1:]:
        if len(text) + len(comma) + len(name) + len(stop) > MAX_OVERVIEW:
            break
        text += comma + name
    return text[:1].upper() + text[1:] + stop
