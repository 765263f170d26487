"""Everyday wordings by the rules: a liking that is over, a trade that is left, one fact said in two ways."""

import pytest

from pipeline.adapters.rules import RulesModel
from pipeline.domain.trades import trades_left
from pipeline.processing import Policy
from tests.domain.telling import told
from tests.measures.conversation import memories


@pytest.mark.parametrize(
    ("liked", "over", "slot", "value", "was"),
    [
        ("I love techno.", "Techno gives me a headache now.", "techno", "no longer likes", "loves"),
        ("I love anime.", "I've quit watching anime.", "anime", "gave up", "loves"),
        ("I love jazz.", "Jazz has started to annoy me.", "jazz", "no longer likes", "loves"),
        ("I love podcasts.", "Podcasts started boring me.", "podcasts", "no longer likes", "loves"),
        ("I love jazz.", "Jazz is getting on my nerves lately.", "jazz", "no longer likes", "loves"),
        ("I love opera.", "Opera has become boring to me.", "opera", "no longer likes", "loves"),
        ("I love techno.", "Techno drives me up the wall these days.", "techno", "no longer likes", "loves"),
        ("I enjoy jazz.", "I used to enjoy jazz, but not any more.", "jazz", "no longer enjoys", "enjoys"),
        ("I love jazz.", "I used to like jazz but I don't any more.", "jazz", "no longer likes", "loves"),
        ("I love techno when I run.", "I no longer listen to techno.", "techno", "no longer listens to", "loves"),
        ("我喜欢爵士乐。", "爵士乐现在只会让我头疼。", "爵士乐", "不再喜欢", "喜欢"),
        ("我喜欢爵士乐。", "爵士乐我听得烦了。", "爵士乐", "听得烦了", "喜欢"),
        ("我喜欢爵士乐。", "我以前喜欢爵士乐，但现在不喜欢了。", "爵士乐", "不再喜欢", "喜欢"),
        ("我喜欢熬夜。", "熬夜我再也不熬了。", "熬夜", "不再熬", "喜欢"),
        ("我喜欢追剧。", "我不想再追剧了。", "追剧", "不再追", "喜欢"),
        ("我喜欢弹吉他。", "吉他我已经不弹了。", "弹吉他", "不再弹", "喜欢"),
        ("我工作时很喜欢听爵士乐。", "爵士乐让我很烦，我已经不听了。", "爵士乐", "不再听", "喜欢"),
    ],
)
def test_a_liking_that_is_over_gives_way(liked: str, over: str, slot: str, value: str, was: str) -> None:
    """Whatever it is that has put the user off, and what was liked stays in the history."""
    (known,) = told(liked, over).values()
    assert (known.slot, known.value, [one.value for one in known.history]) == (slot, value, [was])


@pytest.mark.parametrize(
    ("liked", "said"),
    [
        ("I love jazz.", "Jazz has started to annoy my wife."),
        ("I love jazz.", "Has jazz started to annoy me?"),
        ("I love jazz.", "My brother has started to annoy me."),
        ("I love jazz.", "Jazz annoys me today."),
        ("I love coffee.", "Coffee gives me a headache."),
        ("I love jazz.", "I used to enjoy jazz."),
        ("I love jazz.", "My sister used to enjoy jazz, but not any more."),
        ("I love jazz.", "I wish I had stopped listening to jazz."),
        ("我喜欢爵士乐。", "爵士乐让我老婆很烦。"),
        ("我喜欢爵士乐。", "爵士乐会让我厌烦吗？"),
        ("我喜欢爵士乐。", "我老婆以前喜欢爵士乐，但现在不喜欢了。"),
        ("我喜欢跑步。", "跑步我今天不跑了。"),
        ("I love guitar.", "The guitar has come to annoy me, this one string is broken."),
        ("I love guitar.", "One string is broken, the guitar has come to annoy me."),
        ("I love guitar.", "The guitar has started to annoy me lately, the strings are old."),
        ("I love guitar.", "Guitar bores me because I have no strings."),
        ("I love dogs.", "Dogs started to bore me, said the cat in my story."),
        ("I love jazz.", "Jazz never bores me."),
        ("I love jazz.", "Jazz can annoy me."),
        ("I love jazz.", "Jazz no longer bores me."),
        ("I love yoga.", "Yoga never wears me out."),
        ("I love coffee.", "No more coffee, I'm full."),
        ("I love coffee.", "I'm full now, no more coffee."),
        ("I love coffee.", "No more coffee. I'm full."),
        ("I love coffee.", "No more coffee, thanks."),
        ("我喜欢吉他。", "吉他最近让我头疼，弦断了。"),
        ("我喜欢吉他。", "弦断了，吉他最近让我头疼。"),
        ("我喜欢爵士乐。", "爵士乐现在让我有点烦，楼上声音太大。"),
        ("我喜欢爵士乐。", "爵士乐从来不会让我烦。"),
    ],
)
def test_a_liking_stays(liked: str, said: str) -> None:
    """Where it is somebody else's, asked, wished, denied, or so for a passing cause alone that it is over."""
    (known,) = told(liked, said).values()
    assert known.value in ("loves", "喜欢")
    assert not known.history


@pytest.mark.parametrize(
    ("said", "slot"),
    [
        ("I love techno when I run.", "techno"),
        ("I enjoy audiobooks whenever I'm cooking.", "audiobooks"),
        ("我工作时很喜欢听爵士乐。", "爵士乐"),
        ("我早餐喜欢吃面包。", "面包"),
        ("我周末喜欢爬山。", "爬山"),
        ("工作的时候我喜欢听播客。", "播客"),
        ("我工作日早上喜欢喝豆浆。", "豆浆"),
        ("我晚上喜欢上网。", "上网"),
    ],
)
def test_when_something_is_liked_is_no_part_of_its_name(said: str, slot: str) -> None:
    """Neither in the name nor in the way of it."""
    assert list(told(said)) == [slot]


@pytest.mark.parametrize(
    "said",
    [
        "我老公周末喜欢爬山。",
        "我周末喜欢爬山吗？",
        "我小时候喜欢吃糖。",
        "我上大学的时候喜欢打球。",
        "I love it when I win.",
    ],
)
def test_a_liking_at_a_time_that_is_none_of_the_users_own(said: str) -> None:
    """Somebody else's, a question, one of long ago, and what names no thing."""
    assert told(said) == {}


@pytest.mark.parametrize(
    ("before", "said", "slot", "value"),
    [
        ("I usually drink tea.", "I switched to coffee last week.", "coffee", "switched to coffee"),
        ("I live in Paris.", "I moved to Berlin last week.", "city", "Berlin"),
        ("I drink tea.", "I tried coffee last week.", "tea", "drinks"),
        ("I drink tea.", "I switched to decaf last week by accident.", "tea", "drinks"),
        ("I drink tea.", "I changed to the blue line last week.", "tea", "drinks"),
        ("I drink tea.", "I quit early last week.", "tea", "drinks"),
        ("I drink tea.", "I stopped at the shop last week.", "tea", "drinks"),
        ("I live in Paris.", "I was in Berlin last week.", "city", "Paris"),
    ],
)
def test_last_week_something_may_have_changed_for_good(before: str, said: str, slot: str, value: str) -> None:
    """A switch or a move lasts, and what merely was so then does not."""
    (known,) = told(before, said).values()
    assert (known.slot, known.value) == (slot, value)


@pytest.mark.parametrize(
    ("said", "slot", "value"),
    [
        (["我对花生过敏。", "我一吃花生就过敏。", "我吃花生会过敏。"], "花生", "过敏"),
        (["我对猫毛过敏。", "我碰到猫毛就会过敏。", "我只要碰猫毛都过敏。"], "猫毛", "过敏"),
        (
            [
                "I can't hear sound on my phone.",
                "There's no way for me to hear sound on this phone.",
                "My phone can't play sound.",
            ],
            "sound",
            "can't hear on the phone",
        ),
    ],
)
def test_one_fact_in_other_words_is_one_fact(said: list[str], slot: str, value: str) -> None:
    """With the evidence of every wording, and no history."""
    (known,) = told(*said).values()
    assert (known.slot, known.value, known.confidence, known.history) == (slot, value, len(said), [])


@pytest.mark.parametrize(
    "said",
    [
        "我妹妹一吃花生就过敏。",
        "我一吃花生就过敏怎么办？",
        "我一喝酒就脸红。",
        "I can't hear sound on my sister's phone.",
        "I can't hear sound on my phone, how do I fix it?",
    ],
)
def test_what_only_sounds_like_such_a_fact(said: str) -> None:
    """Somebody else's, trouble of the moment, and another thing."""
    assert told(said) == {}


@pytest.mark.parametrize(
    ("said", "thing"), [("吉他我从来不碰。", "吉他"), ("其他水果我都不吃。", "其他水果"), ("吉他我戒了。", "吉他")]
)
def test_a_thing_whose_name_ends_like_a_pronoun(said: str, thing: str) -> None:
    """吉他 is a guitar, and no "him"."""
    assert list(told(said)) == [thing]


def test_the_others_are_no_thing() -> None:
    """其他 alone names nothing."""
    assert told("其他我都不喜欢。", "他我不喜欢。") == {}


@pytest.mark.parametrize(
    ("wish", "level"),
    [
        ("Please always explain stuff to me like I'm five.", "beginner"),
        ("From now on, explain things as if I was a kid.", "beginner"),
        ("Always assume I know nothing.", "beginner"),
        ("From now on, assume that I have no background in this.", "beginner"),
        ("请一直用新手能懂的方式给我解释。", "新手"),
        ("给我讲东西永远按小白的水平来。", "小白"),
        ("每次都请从零基础开始讲。", "零基础"),
        ("以后讲解都用外行听得懂的话。", "外行"),
        ("以后请站在初学者的角度给我讲。", "初学者"),
    ],
)
def test_how_simple_answers_should_always_be_tells_the_level(wish: str, level: str) -> None:
    """In whatever words it is wished for."""
    assert {slot: one.value for slot, one in told(wish).items()} == {"skill": level}


@pytest.mark.parametrize(
    "said",
    [
        "Explain it like I'm five.",
        "Always explain this to my son like he's five.",
        "Do you always explain things like I'm five?",
        "Always assume I know nothing about your plan.",
        "Always write docs as if our users know nothing.",
        "这次用新手能懂的方式讲。",
        "以后写教程用新手能懂的方式。",
        "以后给我妈讲东西按小白的水平来。",
        "你会一直用新手能懂的方式讲吗？",
        "老师总是按小白的水平讲。",
        "每次从零基础开始学钢琴很累。",
    ],
)
def test_a_wish_that_tells_no_level_of_the_users(said: str) -> None:
    """Of this once, for somebody else, a question, or no wish at all."""
    assert told(said) == {}


async def who(*said: str) -> list[str]:
    """The roles that are believed after the messages of a conversation."""
    return [one.name for one in (await memories(said, RulesModel(), Policy()))[-1].identities]


@pytest.mark.parametrize(
    ("was", "now", "role"),
    [
        ("I am a nurse.", "I left nursing and became a baker.", "baker"),
        ("I am a nurse.", "I retired from nursing, and now work as a baker.", "baker"),
        ("I am a nurse.", "I'm done with nursing; I am a baker now.", "baker"),
        ("I am a nurse.", "I moved from nursing to the bakery trade; I'm a baker.", "baker"),
        ("I am a nurse.", "I quit my nursing job; I'm a baker now.", "baker"),
        ("I'm a plumber.", "I no longer do plumbing; these days I'm an electrician.", "electrician"),
        ("I'm a lawyer.", "I don't practise law any more, I'm a baker.", "baker"),
        ("我是护士。", "我辞掉护士的工作，改行当面包师了。", "面包师"),
    ],
)
async def test_a_trade_that_is_left_by_name_leaves(was: str, now: str, role: str) -> None:
    """And does not stand second to the one that came in its place."""
    assert await who(was, now) == [role]


@pytest.mark.parametrize(
    ("said", "roles"),
    [
        ("我从程序员转行成了厨师。", ["厨师"]),
        ("去年我辞职改行当了厨师。", ["厨师"]),
        ("我改行去做厨师了。", ["厨师"]),
        ("他从程序员转行成了厨师。", []),
        ("我朋友从程序员转行成了厨师。", []),
        ("我想辞职当厨师。", []),
        ("我辞职当厨师怎么样？", []),
    ],
)
async def test_who_has_changed_trades_is_of_the_new_one(said: str, roles: list[str]) -> None:
    """And not of what somebody else has turned to, or what is only thought of."""
    assert await who(said) == roles


@pytest.mark.parametrize(
    "said",
    [
        "My sister left nursing and became a baker.",
        "Tom left law and became a baker.",
        "I know a woman who left law and became a baker.",
        "Should I leave nursing and become a baker?",
        "I want to leave nursing and become a baker.",
        "What if I left nursing and became a baker?",
        "How did he quit the office and become a baker?",
        "I'm done with nursing homework, what now?",
        "I don't do nursing on Sundays.",
        "I left my nursing books at home.",
        "我姐姐辞职了，改行当面包师了。",
        "我朋友改行当面包师了。",
        "我想改行当面包师。",
        "我要不要改行当面包师？",
    ],
)
async def test_a_trade_that_is_not_left_stays(said: str) -> None:
    """What somebody else did, a question, a wish, and what only sounds like it."""
    assert await who("I am a nurse.", said) == ["nurse"]


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("driver", "I'm done with driver installation."),
        ("chef", "I'm done with chef recipes in Ansible."),
        ("nurse", "I'm done with nurse jokes."),
        ("nurse", "I'm done with nursing the baby for today."),
        ("nurse", "I'm done with nursing for today."),
        ("nurse", "I'm done with being a nurse for tonight."),
        ("nurse", "I'm done with nursing and laundry, that's it for today."),
        ("nurse", "I switched from being a nurse to being a thief in the game."),
        ("plumber", "I'm finished with plumber estimates."),
        ("driver", "I no longer do driver updates."),
        ("nurse", "I no longer work in nurse station B."),
        ("teacher", "I don't do teaching plans any more."),
        ("chef", "I switched from Chef to Ansible."),
        ("driver", "I switched from driver version 4 to 5."),
        ("nurse", "I switched from nurse shoes to sneakers."),
        ("teacher", "I moved from teaching slides to videos."),
        ("nurse", "I left my nursing job notes at home."),
    ],
)
async def test_what_is_called_after_a_trade_leaves_it_alone(role: str, said: str) -> None:
    """A program, a thing or a piece of the work that is done with, changed or left is not the trade."""
    assert role in await who(f"I am a {role}.", said)


@pytest.mark.parametrize(
    ("said", "role", "quote"),
    [
        ("I switched careers; I'm a baker now.", "baker", "I switched careers"),
        ("I made a career change and I'm a baker now.", "baker", "I made a career change"),
        ("I quit my job to become a baker, and I'm a baker now.", "baker", "I quit my job to become"),
        ("I retrained as a baker.", "baker", "I retrained as"),
        ("我转行做面包师了。", "面包师", "转行"),
        ("我离开了护理行业，现在是面包师。", "面包师", "离开了护理行业"),
        ("我从护士转行成了面包师。", "面包师", "从护士转行"),
    ],
)
def test_a_change_of_trade_ends_the_trade_that_was_known(said: str, role: str, quote: str) -> None:
    """And not what one is beside it: a mother stays one."""
    assert trades_left(said, ["nurse", "mother of two", "护士", "素食者"], [role]) == {"nurse": quote, "护士": quote}


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ("I changed jobs; I'm a head nurse now.", "head nurse"),
        ("I switched careers; I'm a mother now.", "mother"),
        ("I'm thinking of switching careers; I'm a baker.", "baker"),
        ("If I switched careers, I'd be a baker.", "baker"),
        ("My husband switched careers. I'm a baker.", "baker"),
        ("Have I switched careers too late? I'm a baker.", "baker"),
        ('"I switched careers" is the title of my talk. I am a baker.', "baker"),
        ("I've changed jobs and I'm a baker now.", "baker"),
        ("I quit my job, I'm a baker now.", "baker"),
        ("I left my job at 5, I'm a commuter.", "commuter"),
        ("I'm a baker in the game and I quit my job there.", "baker"),
        ("I switched professions in my favourite game, I'm a baker there.", "baker"),
        ("I retrained as a baker in the game.", "baker"),
        ("I made a career switch quiz. I'm an artist according to it.", "artist"),
        ("I changed career options in the menu; I'm a baker.", "baker"),
        ("換工作了，现在是面包师。", "面包师"),
        ("我上个月辞职了，现在做面包师。", "面包师"),
        ("我离开岗位去吃饭了，我是面包师。", "面包师"),
        ("我看了转行的书，我是面包师。", "面包师"),
        ("我老公转行了，我是面包师。", "面包师"),
        ("我想转行，我是面包师。", "面包师"),
        ("要不要转行？我是面包师。", "面包师"),
        ("我没转行，我是面包师。", "面包师"),
        ("I wish I switched careers last year. I'm a baker.", "baker"),
        ("I never said I switched careers. I'm a baker.", "baker"),
        ("我打算明年转行做厨师，我是面包师。", "面包师"),
        ("我朋友离开了护理行业，我是面包师。", "面包师"),
    ],
)
def test_what_is_no_change_of_the_users_trade(said: str, role: str) -> None:
    """The same trade elsewhere, another place of work, a game, no trade, a wish, somebody else's, a question."""
    assert trades_left(said, ["nurse"], [role]) == {}
