"""The load of a case: conversations side by side, each question published once the one before it is confirmed."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable
from itertools import count

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

#: How many questions a conversation has.
LENGTH = 50
#: How many conversations go on at once.
AT_ONCE = 40
#: Seconds between tries to publish while Kafka is away.
_AGAIN_AFTER = 0.5
#: Each for some turns, so that the memory moves.
_ROLES = ("nurse", "carpenter", "teacher", "pilot")


def question_id(conversation: str, turn: int) -> str:
    return f"{conversation}-{turn}"


def conversation_of(question: str) -> str:
    return question.rpartition("-")[0]


def role_at(turn: int) -> str:
    return _ROLES[turn // 4 % len(_ROLES)]


def user_of(conversation: str) -> str:
    return f"u-{conversation}"


def text_of(conversation: str, turn: int) -> str:
    """Unlike every other question's text."""
    return f"I am a {role_at(turn)}, question {question_id(conversation, turn)}: how do I write a note?"


class Load:
    """Publishes questions until `enough` is set, `turns` at least.

    `room(asked)` waits until more than so many may be asked, and returns whether it came to that.
    """

    def __init__(self, brokers: str, prefix: str, turns: int, room: Callable[[int], Awaitable[bool]]) -> None:
        self._brokers, self._prefix, self._turns, self._room = brokers, prefix, turns, room
        self.asked: dict[str, list[str]] = defaultdict(list)
        """The ids of a conversation's questions, in the order in which they were first published."""
        self.enough = False

    @property
    def turns(self) -> int:
        """How many questions were asked."""
        return sum(map(len, self.asked.values()))

    async def start(self) -> None:
        self.producer = AIOKafkaProducer(bootstrap_servers=self._brokers, acks="all", request_timeout_ms=10_000)
        await self.producer.start()

    async def stop(self) -> None:
        await self.producer.stop()

    async def publish(self) -> None:
        """Publish everything, as fast as it is answered."""
        for first in count(step=AT_ONCE):
            names = [f"c{number}" for number in range(first, first + AT_ONCE)]
            for turn in range(1, LENGTH + 1):
                missing = max(0, self._turns - self.turns) if self.enough else AT_ONCE
                if not missing or not await self._room(self.turns):
                    return
                await asyncio.gather(*(self.ask(name, turn) for name in names[:missing]))

    async def ask(self, conversation: str, turn: int) -> None:
        """Publish one question, again and again while Kafka is away; a question may be asked twice."""
        question = question_id(conversation, turn)
        if question not in self.asked[conversation]:
            self.asked[conversation].append(question)
        fields = {"conversationId": conversation, "userId": user_of(conversation), "questionId": question}
        value = json.dumps({**fields, "text": text_of(conversation, turn)}).encode()
        await self.send("questions", conversation.encode(), value)

    async def send(self, topic: str, key: bytes, value: bytes) -> None:
        while True:
            try:
                await self.producer.send_and_wait(self._prefix + topic, value, key)
            except KafkaError:
                await asyncio.sleep(_AGAIN_AFTER)
            else:
                return
