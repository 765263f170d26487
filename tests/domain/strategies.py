"""Hypothesis strategies: extractions that could have been heard, and proposals that no model should make."""

from typing import Any

from hypothesis import strategies as st

from schemas.role import (
    CommunicationPreferences,
    Extraction,
    PreferenceScopes,
    Quote,
)

ROLES = (
    "nurse", "ward nurse", "护士", "teacher", "maths teacher", "English teacher", "数学老师", "student", "大学生",
    "software engineer", "程序员", "backend developer", "structural engineer", "mother of two", "mother of three",
    "两个孩子的妈妈", "parent", "baker", "bread baker", "cat owner", "car owner", "beekeeper", "养蜂人", "高三学生",
    "urologist", "non-native English speaker", "native English speaker", "florist", "truck driver", "公交司机",
    "falconer",
)  # fmt: skip
TRAITS = ("works nights", "left-handed", "左撇子", "early riser", "在备考", "likes examples", "former cook", "careful",
          "rents tools", "new to town")  # fmt: skip

roles = st.sampled_from(ROLES)
scores = st.floats(0, 1, allow_nan=False)


@st.composite
def extractions(draw: st.DrawFn, names: st.SearchStrategy[str] = roles) -> Extraction:
    """What `read_extraction` could have made: everything in it has a quote."""
    identities: list[str] = draw(st.lists(names, max_size=8, unique=True))
    states = [name for name in identities if draw(st.integers(0, 4)) == 0]
    denies = [name for name in draw(st.lists(names, max_size=4, unique=True)) if name not in identities]
    denies = denies if draw(st.integers(0, 3)) == 0 else []
    traits = draw(st.lists(st.sampled_from(TRAITS), max_size=4, unique=True))
    supports = [*identities, *denies, *traits]
    number = draw(st.integers(0, 40))
    evidence = [Quote(quote=f"{name} quote {number}", supports=[name]) for name in supports]
    detail = draw(st.sampled_from([None, "CONCISE", "BALANCE", "COMPREHENSIVE"]))
    scope = draw(st.sampled_from(["turn", "conversation", "stable", "inferred"])) if detail else None
    sentence, named = draw(st.text(max_size=300)), draw(st.booleans())
    overview = f"A {identities[0]}." if identities and named else sentence
    return Extraction(
        identities=identities,
        characteristics=traits,
        evidence=evidence,
        preferences=CommunicationPreferences.model_validate({"detail_level": detail}),
        preference_scopes=PreferenceScopes.model_validate({"detail_level": scope}),
        states=states,
        denies=denies,
        score=draw(scores),
        overview=overview,
    )


histories = st.lists(extractions(), max_size=25)

questions = st.text(min_size=1, max_size=200).filter(str.strip) | st.sampled_from(
    [
        "I'm a nurse, and my sister is a teacher",
        "我是两个孩子的妈妈，以前当过厨师",
        'he said "I am a judge"\n```\n# I am root\n```',
    ]
)
_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | roles
_flat = _scalars | st.lists(_scalars, max_size=6) | st.dictionaries(st.text(max_size=8), _scalars, max_size=6)
json_values = _flat | st.lists(_flat, max_size=4) | st.dictionaries(st.text(max_size=8), _flat, max_size=4)


@st.composite
def proposals(draw: st.DrawFn, question: str) -> Any:
    """Anything a model may send, from nearly right to nonsense."""
    if draw(st.integers(0, 5)) == 0:
        return draw(json_values)
    cut = draw(st.integers(0, max(len(question) - 1, 0)))
    quotes = st.just(question[cut : cut + 60]) | st.text(max_size=20)
    names = st.lists(roles | _scalars, max_size=12)
    support = roles | st.lists(roles, max_size=3) | json_values
    evidence = st.lists(
        quotes | st.fixed_dictionaries({"quote": quotes, "supports": support}) | json_values, max_size=20
    )
    preference = st.fixed_dictionaries(
        {"value": st.sampled_from(["Concise", "BALANCED", "PRACTICAL", "eleven"]) | json_values,
         "scope": st.sampled_from(["turn", "Conversation", "stable", "inferred"]) | json_values}
    )  # fmt: skip
    fields = st.sampled_from(["detailLevel", "contentDepth", "responseFormat", "other"])
    values = {
        "identities": names, "characteristics": names, "states": names, "denies": names, "evidence": evidence,
        "score": _scalars | st.sampled_from(["0.7", "NaN", "1e999", "high"]),
        "overview": st.text(max_size=900) | json_values,
        "preferences": st.dictionaries(fields, preference | json_values, max_size=4) | json_values,
    }  # fmt: skip
    return {key: draw(value if draw(st.integers(0, 5)) else json_values) for key, value in values.items()}
