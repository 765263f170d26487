"""Conversations without Kafka and without a database, on the path that a worker takes."""

from collections.abc import Sequence

from pipeline.domain.arbitration import arbitrate
from pipeline.domain.similarity import lexical
from pipeline.ports import Model
from pipeline.processing import Policy
from pipeline.processors.role_extraction import extract
from schemas.role import RoleMemory
from schemas.wire import QuestionId


async def memories(questions: Sequence[str], model: Model, policy: Policy) -> list[RoleMemory]:
    """What is believed after each question; the policy says how many earlier questions an extraction reads."""
    memory = RoleMemory()
    after = []
    for number, question in enumerate(questions, 1):
        extracted = await extract(question, questions[: number - 1][-policy.history :], model)
        assert extracted.extraction is not None, extracted.failure
        memory = arbitrate(
            memory,
            extracted.extraction,
            question_id=QuestionId(str(number)),
            turn=number,
            similarity=lexical,
            threshold=policy.similarity_threshold,
        ).memory
        after.append(memory)
    return after
