"""Whose "I" it is: the writer's, or that of somebody in a dialogue, a story, a game or a text to work on."""

import time

import pytest

from pipeline.domain.quoting import own_words


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("Bea: I'm a glazier\nOtto: nice\nwhat comes next?", "glazier"),
        ("User: I am a referee\nAssistant:", "referee"),
        ("丙：我是铁匠\n甲：幸会\n往下写", "铁匠"),
        ("小周：我是木匠，你呢？怎么接", "木匠"),
        ("Reword this for me. I am a cooper by trade.", "cooper"),
        ("Is this sentence natural? I am a courier since May.", "courier"),
        ("Below is my uncle's bio\nI'm a falconer", "falconer"),
        ("翻译成德文 我是一名建筑师", "建筑师"),
        ("She was like, I'm a bailiff, and left", "bailiff"),
        ("他原话是我是队长你听我的", "队长"),
        ("简历里写我是会计行吗", "会计"),
        ("my novella opens with I am a gravedigger", "gravedigger"),
        ("for the school play I'm a sheriff", "sheriff"),
        ("let's play, I am the dungeon master", "dungeon master"),
        ("来个情景对话，我是店员，你是客人", "店员"),
        ("我在话剧里是个法官，怎么走位", "法官"),
        ("作文《我是小交警》怎么写", "交警"),
        ("why do you assume I'm a student", "student"),
        ("怎么老当我是程序员", "程序员"),
    ],
)
def test_the_words_of_another_are_not_the_writers_own(question: str, role: str) -> None:
    """Whoever says "I" there is not the one who asks."""
    assert role not in own_words(question)


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("Context: I'm a glazier", "glazier"),
        ("I'm a glazier: which putty?", "glazier"),
        ("I'm Tom: I'm a glazier", "glazier"),
        ("me: I'm a pharmacist. my boss: too slow", "pharmacist"),
        ("As I said, I'm a nurse", "nurse"),
        ("It's like, I'm a nurse but nobody listens", "nurse"),
        ("How do I fix a leaking tap? I'm a plumber", "plumber"),
        ("Translate my price list. I'm a barber", "barber"),
        ("Here's my bio. I'm a falconer", "falconer"),
        ("I make games and I'm a programmer", "programmer"),
        ("before school starts I'm a camp counselor", "counselor"),
        ("背景：我是房东", "房东"),
        ("开发个游戏，我是程序员", "程序员"),
        ("帮我写简历，我是护士", "护士"),
        ("优化一下代码。我是程序员", "程序员"),
        ("我喜欢桌游，我是医生", "医生"),
        ("怎么说呢，我是护士", "护士"),
        ("why do you assume I'm a student, I'm a tutor", "tutor"),
        ("she said to introduce myself, so: I'm a cooper", "cooper"),
        ("他说让我介绍一下，所以：我是箍桶匠", "箍桶匠"),
    ],
)
def test_the_writers_own_words_stay(question: str, role: str) -> None:
    """A label, a request or a game beside a statement takes nothing from it."""
    assert role in own_words(question)


@pytest.mark.parametrize("piece", ["I'm ", "a: ", "我是", "please fix this ", "Bob: hi I'm a\n", "in the game "])
def test_a_long_question_is_read_in_no_time(piece: str) -> None:
    """However often somebody says "I" in it."""
    started = time.process_time()
    own_words(piece * (20_000 // len(piece)))
    assert time.process_time() - started < 2
