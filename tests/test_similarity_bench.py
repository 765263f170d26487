"""The program that measures similarity: its labelled pairs, its arithmetic, and a server's part in it."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from tests.bench.similarity import (
    AGREE,
    HALVES,
    Measured,
    Pair,
    Tally,
    by_the_lists,
    calibrated,
    cosine,
    measures,
    most_right,
    none_wrong,
    read_pairs,
    show,
)
from tests.domain.factories import Talk, heard

PAIRS = read_pairs()


def pair(kind: str, one: str, other: str) -> Pair:
    return Pair("development", kind, "en", one, other)


NEAR, FAR, ALIKE = pair("synonym", "a", "b"), pair("unrelated", "a", "c"), pair("look-alike", "a", "d")


@asynccontextmanager
async def server(*, embeds: bool = True) -> AsyncIterator[tuple[str, Counter[str]]]:
    """Embeds a text as the count of its letters, with the last text first, and says yes to everything."""
    asked: Counter[str] = Counter()

    async def embeddings(request: web.Request) -> web.Response:
        asked["embeddings"] += 1
        if not embeds:
            return web.json_response({"error": {"message": "this model has no embeddings"}}, status=501)
        texts = (await request.json())["input"]
        data = [
            {"object": "embedding", "index": place, "embedding": [text.count(letter) for letter in "aeinorst"]}
            for place, text in enumerate(texts)
        ]
        return web.json_response({"object": "list", "model": "m", "data": data[::-1], "usage": {}})

    async def chat(_: web.Request) -> web.Response:
        asked["chat"] += 1
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        return web.json_response(body)

    app = web.Application()
    app.router.add_post("/v1/embeddings", embeddings)
    app.router.add_post("/v1/chat/completions", chat)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1", asked
    finally:
        await runner.cleanup()


def test_each_pair_is_there_once() -> None:
    """No pair of one half is in the other, in either order, and both halves hold every kind."""
    assert len({frozenset((pair.one, pair.other)) for pair in PAIRS if pair.one != pair.other}) == len(
        [pair for pair in PAIRS if pair.one != pair.other]
    )
    kinds = [{pair.kind for pair in PAIRS if pair.half == half} for half in HALVES]
    assert kinds[0] == kinds[1]
    assert len(PAIRS) > 400


@pytest.mark.parametrize("half", HALVES)
def test_the_default_measure_is_right_about_most_pairs(half: str) -> None:
    """On both halves: at least 85 in a hundred, and of its agreements at least 95."""
    tally = by_the_lists(PAIRS).of(pair for pair in PAIRS if pair.half == half)
    assert tally.right >= 0.85
    assert tally.precision >= 0.95


def test_a_tally_counts_both_kinds_of_error() -> None:
    """A false agreement and a missed one are told apart."""
    tally = Measured("m", {NEAR: 0.7, FAR: 0.8, ALIKE: 0.1}, 0).of([NEAR, FAR, ALIKE])
    assert tally == Tally(pairs=3, true=0, false=1, missed=1)
    assert tally.right == pytest.approx(1 / 3)
    assert tally.precision == tally.recall == 0


def test_a_calibrated_score_keeps_the_order() -> None:
    """From the raw score that was fitted on it says 0.8, and it stays between 0 and 1."""
    raws = [-0.3, 0, 0.2, 0.55, 0.56, 0.9, 1, 1.2]
    scores = [calibrated(raw, 0.56) for raw in raws]
    assert scores == sorted(scores)
    assert (scores[0], scores[-1]) == (0, 1)
    assert scores[3] < AGREE <= scores[4]
    assert calibrated(1, 1) == 1


@pytest.mark.parametrize(("threshold", "decision"), [(0.8, "UPDATE"), (0.9, "NONE_CHANGE")])
def test_another_threshold_gives_another_decision(threshold: float, decision: str) -> None:
    """A calibrated measure decides by the setting's threshold, as the default one does."""
    conversation = Talk(similarity=lambda _one, _other: calibrated(0.7, 0.56), threshold=threshold)
    conversation.hear(heard("nurse"))
    assert conversation.hear(heard("poet")).decision == decision


def test_what_is_fitted() -> None:
    """The score with most pairs right, the highest of several; and the one with no false agreement."""
    raw = {NEAR: 0.6, FAR: 0.2, ALIKE: 0.7}
    assert most_right(raw, raw) == 0.6
    assert most_right({NEAR: 0.6, ALIKE: 0.7}, [NEAR, ALIKE]) == 0.6
    assert 0.7 < none_wrong(raw, raw) < 0.700001


def test_the_cosine_of_two_vectors() -> None:
    """Their lengths do not matter, and one without a direction is like nothing."""
    assert cosine([1, 0], [3, 0]) == 1
    assert cosine([1, 0], [0, 2]) == 0
    assert cosine([0, 0], [1, 1]) == 0


async def test_a_server_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """Its embeddings in order, raw and fitted; its yes where the lists cannot tell, and nowhere else."""
    async with server() as (base_url, asked):
        found = await measures(PAIRS, base_url, "m")
    show(found, PAIRS)
    names = [measured.name.split(" from")[0] for measured in found if "encoder" not in measured.name]
    assert names == [
        "lexical",
        "embeddings, raw",
        "embeddings,",
        *["lists, then embeddings"] * 2,
        "lists, then the model",
    ]
    by_name = {measured.name: measured for measured in found}
    raw, helped = by_name["embeddings, raw"], by_name["lists, then the model"]
    assert raw.scores[next(pair for pair in PAIRS if "taxi driver" in (pair.one, pair.other))] > 0.9
    unsettled = [pair for pair in PAIRS if not pair.settled]
    assert asked["chat"] == len(unsettled)
    assert {helped.scores[pair] for pair in unsettled} == {0.85}
    printed = capsys.readouterr().out
    assert "held-out: " in printed
    assert "look-alike" in printed


async def test_a_server_without_embeddings(capsys: pytest.CaptureFixture[str]) -> None:
    """It is said so, and the rest is measured."""
    async with server(embeds=False) as (base_url, _):
        found = await measures(PAIRS[:3], base_url, "m")
    assert "without embeddings: InternalServerError" in capsys.readouterr().out
    assert found[-1].name == "lists, then the model"
