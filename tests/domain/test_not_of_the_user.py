"""What looks like a fact of the user and is none: texts to work on, parts in a game, suppositions, no places."""

import pytest

from pipeline.adapters.rules import RulesModel
from pipeline.adapters.rules.proposing import proposed
from pipeline.domain.facts import facts
from pipeline.processing import Policy
from tests.domain.telling import told
from tests.measures.conversation import memories


def _learnt(*messages: str) -> dict[str, str]:
    return {slot: feature.value for slot, feature in told(*messages).items()}


async def _roles(*questions: str) -> list[str]:
    *_, memory = await memories(questions, RulesModel(), Policy())
    return [identity.name for identity in memory.identities]


@pytest.mark.parametrize(
    "text",
    [
        "Please put into Polish: I live in Ghent and I am a cooper.",
        "Turkish for: I hate olives",
        "Circle the nouns. I am a cooper and I love soup.",
        "I live in Ghent. Put it into the past tense.",
        "Exercise 7. I am a cooper and I live in Ghent.",
        "Parse the names: I am Ida and I live in Ghent.",
        "Scam mail: I am a cooper and I live in Ghent.",
        "Customer message below.\nI am a cooper and I live in Ghent.\nWhat do we answer?",
        "Improve this letter: Dear Madam, I am a cooper and I live in Ghent.",
        "Test data: name=Ida; I live in Ghent",
        "Dear Mr Lund,\nI live in Ghent.\nKind regards\nIda\n\nIs this too short?",
        "法语：我住在大理，是木匠。",
        "画出名词。我是木匠，我喜欢汤。",
        "我住在大理。改成疑问句。",
        "提取地名：我住在大理，是木匠。",
        "顾客来信如下。\n我住在大理。\n怎么回？",
        "修改这封邮件：尊敬的女士，我是木匠，住在大理。",
    ],
)
async def test_a_text_to_work_on_tells_nothing_of_the_user(text: str) -> None:
    """Whatever is asked to be done with it, before it or after it, neither a fact nor a role is learnt."""
    assert _learnt(text) == {}
    assert await _roles(text) == []


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("Can you check my spelling? I'm a cooper.", "cooper"),
        ("Find all the errors in my code. I'm a programmer.", "programmer"),
        ("I'm a cooper. Put me in touch with a guild.", "cooper"),
        ("Dear all,\nI am a cooper.\nKind regards,\nIda", "cooper"),
        ("帮我改改简历，我是木匠", "木匠"),
    ],
)
async def test_a_task_beside_a_statement_takes_nothing_from_it(text: str, role: str) -> None:
    """Who tells what they are, and asks for work on something else, is believed."""
    assert await _roles(text) == [role]


@pytest.mark.parametrize(
    "before",
    [
        *("Let's play a game.", "Here is my CV:", "Can we do a mock interview?", "Proofread all that I write."),
        *("我们来玩个游戏。", "把我写的都翻译成捷克语。"),
    ],
)
async def test_what_a_message_before_asks_for_hides_nothing(before: str) -> None:
    """After a game, a text or a task the user still speaks of themselves."""
    says = "我是木匠，我住在大理。" if before.endswith("。") else "I'm a cooper. I live in Ghent."
    assert len(facts(says, [before])) == 1
    assert ("木匠" if before.endswith("。") else "cooper") in await _roles(before, says)


@pytest.mark.parametrize(
    "text",
    [
        *("I live in despair.", "I live in hope.", "I live in a tiny flat.", "I live in my inbox."),
        *("I moved to tears.", "I moved to strike the last line.", "I moved to Gmail.", "I live in awe of her."),
        *("我住在恐惧里。", "我住在一套公寓里。", "我住在湖边。", "我搬到第三题了。", "我搬到大理过一周又回来了。"),
    ],
)
def test_what_is_no_place_takes_no_city_away(text: str) -> None:
    """A mood, a flat or a tab is nobody's city."""
    before = "我住在大理。" if text.startswith("我") else "I live in Ghent."
    assert _learnt(before, text) == _learnt(before)


@pytest.mark.parametrize(
    ("text", "city"),
    [
        *(("i moved to ghent", "ghent"), ("I live in the Hague", "the Hague"), ("I moved to Ghent from Lund", "Ghent")),
        *(("I live in a small town in Bavaria", "a small town in Bavaria"), ("我住珠海", "珠海"), ("我住青海", "青海")),
        *(("我搬到镇江三年了", "镇江"), ("我搬去深圳工作了", "深圳")),
    ],
)
def test_a_place_is_learnt_without_what_is_said_beside_it(text: str, city: str) -> None:
    """Whatever its name ends with, and wherever one came from."""
    assert list(_learnt(text).values()) == [city]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("I'm a cooper.", "How would my life look if I quit being a cooper?"),
        ("I'm a cooper.", "Is it true that I'm no longer a cooper?"),
        ("I'm a cooper.", "The cooper is not a cooper, she's an impostor!"),
        ("我是木匠。", "我不做木匠了会怎么样？"),
        ("我是木匠。", "我不当木匠之后退休金怎么算？"),
        ("我是木匠。", "我已经不是木匠了吗？"),
        ("我是木匠。", "她不是木匠，是骗子！"),
    ],
)
def test_what_is_asked_supposed_or_said_of_another_denies_nothing(before: str, text: str) -> None:
    """The role that the user has stated stays."""
    assert proposed(text, [before])["denies"] == []


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("I'm a cooper.", "I quit being a cooper."),
        ("I'm a cooper.", "I'm no longer a cooper. What now?"),
        ("I'm a cooper.", "Is it bad that I quit being a cooper?"),
        ("I'm a cooper.", "For the record it's carpenter, not cooper."),
        ("我是木匠。", "我不做木匠了。"),
        ("我是木匠。", "我不做木匠了，该找什么工作？"),
        ("我是木匠。", "我已经不是木匠了怎么办？"),
        ("我是木匠。", "我不当木匠以后怎么交社保？"),
    ],
)
def test_what_is_said_outright_denies(before: str, text: str) -> None:
    """Also where a question comes after it."""
    assert proposed(text, [before])["denies"]


@pytest.mark.parametrize(
    "text",
    [
        *("In case I become a cooper, what do I earn?", "Provided I am a cooper, do I pay less?"),
        *("I am light as a cooper, yet strong.", "I'm the designated cooper tonight."),
        *("Before I become a cooper I want to travel.", "即使我是木匠也不会修。", "今晚我当木匠。"),
        *("I'm a cooper just for this game.", "I'm a guest at a wedding.", "I'm the father of this method."),
        *("不管我是木匠还是学生都得排队。", "哪怕有一天我是木匠也不修。", "我是这里的嘉宾。"),
    ],
)
async def test_a_role_of_a_case_or_an_evening_is_none(text: str) -> None:
    """A condition, a likeness, a part for tonight and a place in the scene state nothing."""
    assert await _roles(text) == []


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("I'm a guest editor at a paper.", "guest editor"),
        ("I'm a passenger transport planner.", "passenger transport planner"),
        ("Just in case you wonder I'm a cooper.", "cooper"),
        ("On paper I'm a cooper, and I enjoy it.", "cooper"),
        ("I'm a cooper only for this brewery.", "cooper"),
        ("I'm a cooper just for the night shift.", "cooper"),
        ("I'm the mother of the twins in class 3.", "mother"),
        ("无论如何我是一名木匠。", "木匠"),
        ("就算下雨我是木匠也得出门。", "木匠"),
    ],
)
async def test_a_role_stated_beside_like_words_is_one(text: str, role: str) -> None:
    """Where the guest is part of a trade's name, and what is granted is not the role."""
    assert await _roles(text) == [role]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "I'm allergic to Mondays.",
            "I gave up hope.",
            "I quit the game without saving.",
            "I don't like the title of the film.",
        ),
        *("I'm studying your answer.", "I'm learning a lot from you.", "I prefer the earlier draft."),
        *("我对周一过敏。", "叫我一声就行。", "我有两个鸡蛋。", "我不喜欢第三段。", "我更喜欢之前那版。"),
        *("我最好的朋友住在大理，特别喜欢摇滚。", "我也不是不喜欢爬山。", "我不是不喝牛奶，是没买。"),
    ],
)
def test_what_is_of_the_moment_is_no_fact(text: str) -> None:
    """Moods, the thing at hand, and what is denied twice are not kept."""
    assert _learnt(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        *("I wish I worked four days a week.", "I doubt I run twice a week.", "I failed to run three times a week."),
        *("I asked my boss for four days a week.", "I manage nurses who work four days a week."),
        *("I recommended that clients run three times a week.", "I heard people run three times a week."),
        *("I miss my mother all the time.", "I treat patients who smoke all the time."),
        *("I hear my neighbours fight all the time.", "I dread meeting him every summer."),
        *("I wake up at 3 on Monday for an exam.", "I'm terrified of missing my flight."),
        *("I tell clients to stretch three times a week.", "I don't fence three times a week."),
        *("I imagine fencing every winter.", "I forget my keys all the time.", "I fenced three times a week then."),
    ],
)
def test_how_often_something_is_does_not_make_it_a_habit(text: str) -> None:
    """It is one where the user does it: not what they wish, say or hear of others, nor one early morning."""
    assert _learnt(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        *("I swim three times a week.", "I go to the gym twice a week.", "I take my dog out three times a day."),
        *("I travel to Spain every summer.", "I listen to jazz all the time.", "I wake up at 6 on Mondays."),
        *("I fence twice a week.", "I inject insulin four times a day.", "I rent a hut every winter."),
        *("I skip lunch every other day.", "I feed my sourdough three times a week."),
        *("I'm afraid of flying.", "I'm scared of my boss.", "I'm afraid of driving my van."),
    ],
)
def test_what_the_user_does_often_or_fears_is_one(text: str) -> None:
    """Whatever is done, and to or with what."""
    assert len(_learnt(text)) == 1


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("I no longer drink oat milk, I drink espresso every morning now.", []),
        ("I ordered a flat white.", []),
        ("We order our espresso beans green. How do I dial in the grinder?", ["barista"]),
        ("I order flour by the ton for my bakery. How much yeast per kilo?", ["baker"]),
        ("我喜欢喝手冲咖啡。", []),
        ("How do I dial in espresso on a new grinder?", ["barista"]),
        ("我做手冲怎么压粉？", ["咖啡师"]),
    ],
)
async def test_what_one_eats_and_drinks_hints_at_no_trade(text: str, role: list[str]) -> None:
    """Who makes it is hinted at by the same words."""
    assert await _roles(text) == role


def test_a_word_that_is_none_leaves_what_was_spoken_of_alone() -> None:
    """我讨厌等 says nothing of hiking."""
    assert _learnt("我喜欢爬山。", "我讨厌等。") == {"爬山": "喜欢"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("Sure thing, I live in Ghent.", "Ghent"), ("Oh great, I love soup.", "loves")),
        ("Provided that I can park, I drive to work every day.", "drive to work"),
        *(("我的角色是产品经理，我住在大理。", "大理"), ("我的角色是班主任。我住在大理。", "大理")),
    ],
)
def test_words_that_only_sound_ironic_or_played_hide_no_fact(text: str, value: str) -> None:
    """An agreement, a condition of no weight and a job called a role leave what follows the user's."""
    assert value in _learnt(text).values()


@pytest.mark.parametrize(
    "text",
    [
        *("Oh sure, I just love traffic jams.", "Yeah right, I love getting up at 4."),
        *("我的角色是三级法师，讨厌骷髅。", "我的角色叫阿强，我住在大理。"),
        *("I suggest people floss twice a day.", "I promised to call my aunt twice a week."),
    ],
)
def test_irony_a_part_and_what_is_only_spoken_of_tell_no_fact(text: str) -> None:
    """Nothing of them is the user's."""
    assert _learnt(text) == {}
