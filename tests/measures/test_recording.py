"""A model's replies to conversations of our own, recorded once: the whole path is checked without the model."""

from pathlib import Path

from pipeline.evaluation import evaluate, given
from tests.measures.recording import Recording, conversations, digest, played_back, record
from tests.scripted_model import Call, Reply, ScriptedModel, gives, says

FIXTURES = Path(__file__).parent.parent / "fixtures"
OWN = conversations(FIXTURES / "conversations.jsonl")
#: Turns of `OWN` that the gate lets pass without a call.
CHIT_CHAT = 4


def good_model(call: Call) -> Reply:
    """Says what each conversation holds as a good model's extraction, in the shape of the prompt."""
    question = call.data["question"]
    x = next(turn["x"] for case in OWN for turn in case["turns"] if turn["q"] == question)
    names = [*x["identities"], *x["characteristics"], *x["denies"]]
    preferences = [
        {"field": field, "value": x[field], "scope": x["preferenceScope"]}
        for field in ("detailLevel", "contentDepth", "responseFormat")
        if x[field]
    ]
    evidence = [{"quote": quote, "supports": names} for quote in x["evidence"]]
    keys = ("identities", "characteristics", "states", "denies", "score", "overview")
    return gives({key: x[key] for key in keys} | {"evidence": evidence, "preferences": preferences})


async def test_the_conversations_can_be_met() -> None:
    """Every expectation holds for what each conversation gives as a good extraction."""
    figures = await evaluate(OWN, given)
    assert (figures.met, figures.failures) == (figures.expectations, [])
    assert len(OWN) >= 12
    assert set(figures.by_lang) == {"en", "zh", "mixed"}


async def test_what_is_recorded_is_played_back(tmp_path: Path) -> None:
    """The same figures without the server, from the file alone; chit-chat is never asked about."""
    async with ScriptedModel(otherwise=good_model) as server:
        recording, figures = await record(OWN, server.base_url, "small")
    assert (figures.met, figures.reading.saved) == (figures.expectations, CHIT_CHAT)
    assert len(server.calls) == len(recording.replies) == figures.reading.turns - CHIT_CHAT
    recording.write(tmp_path / "replies.jsonl")
    again, calls = await played_back(Recording.read(tmp_path / "replies.jsonl"), OWN)
    assert again.to_json() == figures.to_json()
    assert digest(calls[0].body) == recording.prompt


async def test_a_second_asking_is_recorded_as_well() -> None:
    """A reply that could not be read, and the one after it."""
    script = [says("I would rather not.")]
    async with ScriptedModel(script, otherwise=good_model) as server:
        recording, figures = await record(OWN[:1], server.base_url, "small")
    again, calls = await played_back(recording, OWN[:1])
    assert len(calls) == len(OWN[0]["turns"]) + 1
    assert again.met == figures.met == figures.expectations


async def test_what_was_not_recorded_fails_its_turn() -> None:
    """Nothing stands in for a reply that is not there."""
    figures, _ = await played_back(Recording("small"), OWN[:1])
    assert figures.reading.failed == figures.reading.turns


async def test_the_code_makes_as_much_of_a_models_replies_as_when_they_were_recorded() -> None:
    """A model with 1.5 billion parameters: no expectation fewer, nobody else's identity, all in the right language."""
    recording = Recording.read(FIXTURES / "replies.jsonl")
    figures, calls = await played_back(recording, OWN)
    assert digest(calls[0].body) == recording.prompt, "the prompt has changed: record the replies anew"
    assert figures.met >= recording.met, figures.failures
    assert figures.taken == set()
    assert figures.reading.failed == 0
    assert figures.reading.in_language.part == figures.reading.in_language.whole
