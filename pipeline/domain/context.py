"""The short-term context: the last messages of a conversation, as far as no long pause lies between them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from schemas.documents import Message


def context_of(messages: Sequence[Message], asked_at: datetime, idle: timedelta, most: int) -> Sequence[Message]:
    """Of the messages before a question, oldest first, the last `most` back to the last pause longer than `idle`.

    Only a question ends a pause: an answer belongs to its question, however late it came.
    """
    first, next_time = len(messages), asked_at
    ends_pause = True
    for at in range(len(messages) - 1, -1, -1):
        if ends_pause and next_time - messages[at].create_time > idle:
            break
        first, next_time, ends_pause = at, messages[at].create_time, messages[at].role == "USER"
    return messages[max(first, len(messages) - most) :] if most else []
