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
        ("My mom told me: I am a baker", "baker"),
        ("Our landlord wrote to everyone: I am a baker", "baker"),
        ("我同事说：我是面包师", "面包师"),
        ("隔壁王阿姨告诉我：我是裁缝", "裁缝"),
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
        ("Please note: I am a baker", "baker"),
        ("Truth be told: I am a baker", "baker"),
        ("I told my sister: I am a baker", "baker"),
        ("A question from me: I am a baker", "baker"),
        ("背景：我是房东", "房东"),
        ("老实说：我是面包师", "面包师"),
        ("我跟同事说：我是面包师", "面包师"),
        ("有一说一：我是面包师", "面包师"),
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


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("a man at the bus stop said i'm a diver and left", "diver"),
        ("what is this chat\n[09:41] Lu: im a tiler\n[09:42] Bo: ok", "tiler"),
        ("is this genuine?\n\nDear Sir,\nI am a notary in Lyon.\nKind regards,\nP. Roux", "notary"),
        ("a comment on my post: i'm a cook and this is raw. reply?", "cook"),
        ("you be the guest, i'm the porter, start", "porter"),
        ("be my squire, i am the knight", "knight"),
        ("in terraria i'm a miner, where is gold", "miner"),
        ("高铁上有个男的说我是军医，信吗", "军医"),
        ("弹幕：我是厨师，这菜没熟", "厨师"),
        ("你演店员，我是顾客，开始", "顾客"),
        ("原神里我是猎人，怎么升级", "猎人"),
    ],
)
def test_an_unmarked_speaker_a_part_or_a_game_says_i(question: str, role: str) -> None:
    """Reported speech, letters, chats, comments, parts and games hold another's "I"."""
    assert role not in own_words(question)


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("a man at the bus stop asked but i'm a diver", "diver"),
        ("Dear all,\nI am a notary in Lyon.\nKind regards,\nP. Roux", "notary"),
        ("you mention the guest, but i'm the porter", "porter"),
        ("no more terraria, i'm a miner on nights", "miner"),
        ("高铁上没人信，我是军医", "军医"),
        ("你当我不懂吧，我是顾客", "顾客"),
    ],
)
def test_the_same_words_beside_a_statement_take_nothing_from_it(question: str, role: str) -> None:
    """A greeting of one's own, a stranger or a game in another clause leaves what the user says."""
    assert role in own_words(question)
