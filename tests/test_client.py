"""What a client keeps of the questions that it asked."""

from collections.abc import Mapping
from typing import Any, cast

from pipeline.client import Client
from schemas.wire import Wire
from tests.processors.factories import turn


class Taking:
    """A publisher that takes everything."""

    async def publish(self, event: Wire, headers: Mapping[str, bytes]) -> None: ...


async def test_a_client_follows_the_last_thousand_questions() -> None:
    """Of earlier ones it keeps nothing, however much is heard of them, so that one that asks for ever does not grow."""
    nothing = cast(Any, None)
    client = Client(cast(Any, Taking()), nothing, nothing)
    for number in range(1_001):
        asked = f"q{number}"
        await client.ask("How?", user_id="u", conversation_id="c", question_id=asked)
        client.hear(turn(1, questionId=asked))
    client.hear(turn(1, questionId="q0"))
    kept = {question: len(followed.events) for question, followed in client._followed.items()}
    assert kept == {f"q{number}": 1 for number in range(1, 1_001)}
