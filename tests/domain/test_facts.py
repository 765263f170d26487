"""What plain words say of a user that lasts: each item of a list, its polarity, and where a changed mind lands."""

from collections.abc import Sequence

import pytest

from pipeline.domain.fact_clauses import is_moment, is_wish_of_now
from pipeline.domain.facts import facts
from pipeline.domain.slots import slot_of
from schemas.features import KnownFeature

Known = tuple[str, str]


def _said(text: str, *before: str, known: Sequence[Known] = ()) -> dict[str, str]:
    """From slot to value; what is forgotten has none."""
    stored = [KnownFeature(slot=slot, value=value) for slot, value in known]
    return {slot_of(fact.slot): fact.value for fact in facts(text, before, stored)}


@pytest.mark.parametrize(
    ("text", "things", "value"),
    [
        ("I like tea, coffee and milk", ["tea", "coffee", "milk"], "likes"),
        ("I love hiking, swimming, and cycling.", ["hiking", "swimming", "cycling"], "loves"),
        ("I like neither tea nor coffee", ["tea", "coffee"], "doesn't like"),
        ("Neither tea nor coffee suits me", ["tea", "coffee"], "doesn't like"),
        ("I drink neither tea nor coffee", ["tea", "coffee"], "doesn't drink"),
        ("I don't eat pork, shellfish or nuts", ["pork", "shellfish", "nuts"], "doesn't eat"),
        ("I'm allergic to peanuts, shellfish and soy", ["peanuts", "shellfish", "soy"], "allergic"),
        ("My hobbies are chess, painting and judo", ["chess", "painting", "judo"], "likes"),
        ("I love fish and chips", ["fish and chips"], "loves"),
        ("I love red and white wine", ["red and white wine"], "loves"),
        ("I enjoy green tea for its health benefits and calming effect", ["green tea"], "enjoys"),
        ("I like tea, thanks", ["tea"], "likes"),
        ("I like tea, coffee, and my sister likes milk", ["tea", "coffee"], "likes"),
        ("我喜欢茶、咖啡和牛奶", ["茶", "咖啡", "牛奶"], "喜欢"),
        ("我既不喝茶也不喝咖啡", ["茶", "咖啡"], "不喝"),
        ("既不喝茶也不喝咖啡", ["茶", "咖啡"], "不喝"),
        ("茶和咖啡我都不喝", ["茶", "咖啡"], "不喝"),
        ("我对花生、虾和牛奶过敏", ["花生", "虾", "牛奶"], "过敏"),
        ("我爱吃苹果，香蕉和梨", ["苹果", "香蕉", "梨"], "爱"),
        ("我会说英语、法语和日语", ["英语", "法语", "日语"], "会说"),
        ("我喜欢和服", ["和服"], "喜欢"),
    ],
)
def test_every_item_of_a_list_is_a_fact(text: str, things: list[str], value: str) -> None:
    """With the polarity of the list; what belongs together is one thing, and what follows the list is none."""
    assert _said(text) == dict.fromkeys(things, value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I like apples but not pears", {"apples": "likes", "pears": "doesn't like"}),
        ("I like tea, not coffee", {"tea": "likes", "coffee": "doesn't like"}),
        ("I'm allergic to cats but not to dogs", {"cats": "allergic", "dogs": "not allergic"}),
        ("I like tea, but neither milk nor beer", {"tea": "likes", "milk": "doesn't like", "beer": "doesn't like"}),
        ("I neither smoke nor drink alcohol", {"smoking": "doesn't smoke", "alcohol": "doesn't drink"}),
        ("I have a dog, two cats and a parrot", {"dog": "a", "cats": "two", "parrot": "a"}),
        ("我喜欢猫和狗，不喜欢蛇", {"猫": "喜欢", "狗": "喜欢", "蛇": "不喜欢"}),
        ("我养了一只猫和两条狗", {"猫": "一只", "狗": "两条"}),
    ],
)
def test_each_item_has_its_own_polarity_and_number(text: str, said: dict[str, str]) -> None:
    """A "not" turns what comes after it, and not what came before."""
    assert _said(text) == said


def test_what_is_turned_reads_so() -> None:
    """The sentence that is kept says no, too."""
    contents = [fact.content for fact in facts("I'm allergic to cats but not to dogs")]
    assert contents == ["The user is allergic to cats.", "The user is not allergic to dogs."]


@pytest.mark.parametrize(
    "text",
    [
        "I like and",
        "I hate all my",
        "I love being",
        "I like both",
        "I prefer not to say",
        "我喜欢和",
        "我讨厌记住",
        "我不喝也",
    ],
)
def test_a_fragment_is_no_slot(text: str) -> None:
    """Conjunctions, commands and words of grammar name nothing."""
    assert _said(text) == {}


@pytest.mark.parametrize(
    ("text", "known", "said"),
    [
        ("I switched to no-sugar milk", ("milk", "low sugar"), {"milk": "switched to no-sugar milk"}),
        ("I prefer no-sugar milk now", ("milk", "low sugar"), {"milk": "prefers no-sugar milk"}),
        ("I've switched my milk to no-sugar", ("milk", "low sugar"), {"milk": "switched to no-sugar"}),
        ("我牛奶只买无糖的", ("牛奶", "只买低糖的"), {"牛奶": "只买无糖的"}),
        ("我改喝燕麦奶了", ("牛奶", "低糖"), {"牛奶": "改喝燕麦奶"}),
        ("I eat meat again now", ("diet", "vegetarian"), {"diet": "eats meat again"}),
        ("I'm eating meat again", ("diet", "vegan"), {"diet": "eats meat again"}),
        ("I quit being vegetarian", ("diet", "vegetarian"), {"diet": "no longer vegetarian"}),
        ("我又开始吃肉了", ("饮食", "吃素"), {"饮食": "又开始吃肉了"}),
        ("我不吃素了", ("饮食", "吃素"), {"饮食": "不吃素了"}),
        ("I switched from Windows to a Mac", ("operating system", "Windows"), {"operating system": "Mac"}),
        ("I use a Mac now", ("windows", "uses"), {"mac": "uses", "windows": ""}),
        ("我换成Mac了", ("windows", "用"), {"mac": "换成Mac", "windows": ""}),
        ("我把手机换成华为了", ("手机", "iPhone"), {"手机": "华为"}),
        ("I'm back on Windows", ("mac", "uses"), {"windows": "uses Windows again", "mac": ""}),
        ("I like green best now", ("favorite color", "blue"), {"favorite color": "green"}),
    ],
)
def test_a_changed_mind_lands_in_what_is_known(text: str, known: Known, said: dict[str, str]) -> None:
    """In its slot, or it takes out the old fact that a new one replaces."""
    assert _said(text, known=[known]) == said


def test_a_taste_beside_another_leaves_it() -> None:
    """What is liked as well replaces nothing: not the milk that is bought, nor a colour that is liked."""
    assert _said("I like almond milk", known=[("milk", "low sugar")]) == {"almond milk": "likes"}
    assert _said("I like green now", known=[("blue", "likes")]) == {"green": "likes"}


@pytest.mark.parametrize("text", ["I replaced the battery with a fan", "我把变量换成常量了", "我换成for循环了"])
def test_what_is_put_in_anothers_place_is_no_fact_of_the_user(text: str) -> None:
    """Unless what it replaces is known, or a thing that one uses."""
    assert _said(text) == {}


@pytest.mark.parametrize(
    ("text", "before", "said"),
    [
        ("I like it", "Have you tried oolong tea?", {"oolong tea": "likes"}),
        ("I love that!", "Perhaps you would enjoy salsa dancing.", {"salsa dancing": "loves"}),
        ("I don't like it", "Do you drink green tea?", {"green tea": "doesn't like"}),
        ("I like them", "Maybe carrots would be a good snack?", {"carrots": "likes"}),
        ("我喜欢", "你喜欢喝乌龙茶吗？", {"乌龙茶": "喜欢"}),
        ("我很喜欢这个", "要不要试试瑜伽？", {"瑜伽": "喜欢"}),
        ("我讨厌", "你平时吃香菜吗？", {"香菜": "讨厌"}),
        ("I like it", "I have renamed it. The new name is clearer.", {}),
        ("I like it", "How about almonds or walnuts?", {}),
        ("我都喜欢", "你喜欢茶还是咖啡？", {}),
        ("Thanks", "I like tea, you could try tea", {}),
        ("I like it", "", {}),
    ],
)
def test_it_is_what_was_suggested_or_asked(text: str, before: str, said: dict[str, str]) -> None:
    """What is offered alone is "it"; a choice is not, and nobody else's words are learnt."""
    assert _said(text, before) == said


@pytest.mark.parametrize(
    "text",
    [
        "this time plain milk",
        "This time, I only buy plain milk",
        "I only drink plain milk, just this once",
        "Just for tonight: I only eat fish",
        "I like tea, coffee and milk today",
        "今天想吃辣的",
        "今天，我只喝水",
        "我只喝水，就这一次",
        "这一顿我不吃肉",
    ],
)
def test_what_is_of_this_time_alone_is_no_fact(text: str) -> None:
    """Whether it says so itself or in a clause beside."""
    assert _said(text) == {}


def test_a_clause_of_the_moment_says_no_more() -> None:
    """A clause that says something of another time is none."""
    assert is_moment("just this once")
    assert is_moment("就这一次")
    assert not is_moment("today I like tea")


def test_a_wish_of_now_is_told_from_a_regular_one() -> None:
    """By the words for how often."""
    assert is_wish_of_now("I'll have plain milk")
    assert is_wish_of_now("想吃辣的")
    assert not is_wish_of_now("I want a short answer every time, always")
    assert not is_wish_of_now("我每天想喝茶")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I can't play podcasts on my old tablet.", {"podcasts": "can't play on the tablet"}),
        ("This phone of mine has no way of displaying CAD drawings", {"cad drawings": "can't open on the phone"}),
        ("PDF attachments won't open on our computer", {"pdf attachments": "can't open on the computer"}),
        (
            "My laptop can't open presentations or spreadsheets, which format then?",
            {"presentations": "can't open on the laptop", "spreadsheets": "can't open on the laptop"},
        ),
        ("I'm not able to lift heavy boxes", {"heavy boxes": "can't lift"}),
        ("我这台笔记本打不开幻灯片", {"幻灯片": "笔记本没法打开"}),
        ("视频在我手机上放不了", {"视频": "手机没法打开"}),
        ("我的手机听不到铃声", {"铃声": "手机没法听"}),
        ("我没办法在我的平板上查看PDF文件", {"pdf文件": "平板没法打开"}),
    ],
)
def test_what_ones_own_device_or_body_cannot_do_lasts(text: str, said: dict[str, str]) -> None:
    """Where it is said of things of a kind, and of a device that is the user's own."""
    assert _said(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "my build won't start today",
        "I can't open this file",
        "I can't open the spreadsheet on my laptop",
        "Photos won't open on my phone. How do I fix that?",
        "I can't play videos on my tablet since the update",
        "Videos won't play on my laptop any more",
        "I can't print labels on my printer, it shows an error",
        "My neighbour can't open PDFs on her computer",
        "Can I open spreadsheets on my phone?",
        "I can't see results on my phone",
        "My laptop won't boot",
        "GORM报no such table错误",
        "这个文件我打不开",
        "我电脑突然打不开图片",
        "我的手机打不开表格，怎么办？",
        "我妈妈的电脑打不开表格",
        "我打不开微信",
    ],
)
def test_a_trouble_is_no_lasting_fact(text: str) -> None:
    """Of one thing, of late, with an error, or with a wish to have it mended; nor is what others cannot do."""
    assert _said(text) == {}


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("From now on treat me as a beginner", "beginner"),
        ("From now on, talk to me like I'm an expert.", "expert"),
        ("Always explain things to me as to a beginner", "beginner"),
        ("Please explain everything as if I were a novice from now on", "novice"),
        ("Treat me as a layperson, always", "layperson"),
        ("以后都请把我当初学者来解释", "初学者"),
        ("从现在开始把我当成一个小白", "小白"),
        ("今后，请像对新手一样给我讲解", "新手"),
    ],
)
def test_a_level_that_is_asked_for_every_time_lasts(text: str, level: str) -> None:
    """Wherever in its sentence it says that it is for good."""
    assert _said(text) == {"skill": level}


@pytest.mark.parametrize(
    "text",
    [
        "explain it to me as to a beginner",
        "Explain this like I'm a beginner",
        "Always treat my son as a beginner",
        "You always treat me as a beginner",
        "Always write a text for a beginner course",
        "把我当新手解释一下这段代码",
        "这次像对小白一样解释闭包",
        "他们总是把我当新手",
        "以后按专家意见修改",
    ],
)
def test_a_level_that_is_asked_for_once_does_not(text: str) -> None:
    """Nor one that is another's, or complained of."""
    assert _said(text) == {}


def test_level_and_goal_read_in_the_language_of_the_sentence() -> None:
    """What is kept of them names no slot."""
    assert [fact.content for fact in facts("I'm a beginner at judo. My dream is to sail")] == [
        "The user's level: beginner at judo.",
        "The user's goal: sail.",
    ]
    assert [fact.content for fact in facts("我是木工新手，我的梦想是开一家面包店")] == [
        "用户的水平：木工新手。",
        "用户的目标：开一家面包店。",
    ]
    assert facts("我的夢想是環遊世界")[0].content == "用戶的目標：環遊世界。"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I quit Siemens and joined Bosch", {"siemens": "gave up"}),
        ("I stopped smoking and bought a bike", {"smoking": "gave up"}),
        ("I quit smoking, bought a bike and joined a gym", {"smoking": "gave up"}),
        ("I quit gluten and dairy", {"gluten": "gave up", "dairy": "gave up"}),
        ("I moved to Lisbon and opened a bakery", {"city": "Lisbon"}),
        ("I live in Oslo and study law", {"city": "Oslo"}),
        ("I left Google and moved to Meta", {}),
        ("我戒了烟并开始跑步", {"烟": "戒了"}),
    ],
)
def test_what_somebody_did_besides_is_no_item(text: str, said: dict[str, str]) -> None:
    """Another deed after an "and" is neither given up nor a part of a place."""
    assert _said(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "My mom told me: I am allergic to shrimp",
        "My dad always tells me: I hate broccoli",
        "She messaged me: I'm allergic to cats",
        "My friend's note to me: I love jazz",
        "我同事说：我讨厌开会",
        "妈妈告诉我：我对虾过敏",
        "室友说：我养了两只猫",
    ],
)
def test_what_another_is_said_to_say_teaches_nothing(text: str) -> None:
    """Whoever they are, and whomever they tell it."""
    assert _said(text) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I like apples, not sour ones", {"apples": "likes, not sour ones"}),
        ("I like apples but not sour ones", {"apples": "likes, not sour ones"}),
        ("I like apples, not sour", {"apples": "likes, not sour"}),
        ("I like apples that aren't sour", {"apples": "likes, not sour"}),
        ("I like coffee as long as it's not bitter", {"coffee": "likes, not bitter"}),
        ("I like wine, but only red", {"wine": "likes, only red"}),
        ("I like peaches, except the hard ones", {"peaches": "likes, except the hard ones"}),
        (
            "I buy only low sugar milk, and apples must not be sour",
            {"milk": "only buys low sugar milk", "apples": "must not be sour"},
        ),
        ("I only buy milk without sugar", {"milk": "only buys milk without sugar"}),
        ("I buy only tea from Assam", {"tea": "only buys tea from Assam"}),
        ("我喝咖啡只加两勺糖", {"咖啡": "只加两勺糖"}),
        ("For me, apples must never be sour", {"apples": "must never be sour"}),
        ("Apples must not be sour", {}),
        ("I like CSS, and buttons must be red", {"css": "likes"}),
        ("I like cheese, but not blue cheese", {"cheese": "likes", "blue cheese": "doesn't like"}),
        ("I like tea and cake, but not sweet ones", {"tea": "likes", "cake": "likes"}),
        ("我喜欢苹果，但不要酸的", {"苹果": "喜欢，不要酸的"}),
        ("我喜欢吃苹果，酸的不要", {"苹果": "喜欢，酸的不要"}),
        ("我愛吃橘子，不過只吃甜的", {"橘子": "愛，只吃甜的"}),
    ],
)
def test_which_of_a_thing_is_meant_stays_with_it(text: str, said: dict[str, str]) -> None:
    """It is no thing of its own, and of several things it says nothing."""
    assert _said(text) == said


def test_which_of_a_thing_is_meant_is_read_in_its_sentence() -> None:
    """The sentence and the quote hold both clauses."""
    (fact,) = facts("Hello! I like apples, but not sour ones. Which?")
    assert (fact.content, fact.quote) == ("The user likes apples, not sour ones.", "I like apples, but not sour ones")


@pytest.mark.parametrize(
    ("text", "known", "said"),
    [
        ("我现在能吃辣了", ("辣", "不吃"), {"辣": "现在能吃了"}),
        ("我现在吃香菜了", ("香菜", "不吃"), {"香菜": "现在吃了"}),
        ("香菜我现在可以接受了", ("香菜", "不吃"), {"香菜": "现在可以接受了"}),
        ("我对电子乐没兴趣了", ("电子乐", "喜欢"), {"电子乐": "没兴趣了"}),
        ("爵士我听腻了", ("爵士", "喜欢"), {"爵士": "听腻了"}),
        ("我不打篮球了", ("篮球", "喜欢"), {"篮球": "不再打"}),
        ("我上个月搬到北京了", ("城市", "上海"), {"城市": "北京"}),
        ("我对花生不过敏了", ("花生", "过敏"), {"花生": "不过敏"}),
        ("原来花生过敏是误诊", ("花生", "过敏"), {"花生": "不再过敏"}),
        ("我已经不是新手了，写Python五年了", ("skill", "Python新手"), {"skill": "写Python五年"}),
        ("我们刚生了第三个孩子", ("孩子", "两个"), {"孩子": "三个"}),
        ("我没有最喜欢的颜色了", ("最喜欢的颜色", "绿色"), {"最喜欢的颜色": "没有了"}),
        ("其实我现在 love coffee", ("coffee", "讨厌"), {"coffee": "喜欢"}),
        ("Turns out I'm not lactose intolerant after all", ("lactose", "intolerant"), {"lactose": "not intolerant"}),
        (
            "Actually the kiwi allergy turned out to be a misdiagnosis",
            ("kiwi", "allergic"),
            {"kiwi": "no longer allergic"},
        ),
        ("I outgrew my nut allergy", ("nuts", "allergic"), {"nut": "no longer allergic"}),
        (
            "Actually I'm no longer a beginner, I've been coding Python for five years",
            ("skill", "beginner in Python"),
            {"skill": "coding Python for five years"},
        ),
        ("We just had our third child", ("kids", "two"), {"kids": "three"}),
        ("I no longer have a favourite colour", ("favorite color", "blue"), {"favourite colour": "no longer has any"}),
        ("Techno has grown on me again", ("techno", "no longer likes"), {"techno": "likes"}),
        ("I can eat spicy food now", ("spicy food", "doesn't eat"), {"spicy food": "can eat it now"}),
        ("I've gone off sushi", ("sushi", "loves"), {"sushi": "no longer likes"}),
        ("Last month I moved to Oslo", ("city", "Rome"), {"city": "Oslo"}),
    ],
)
def test_a_changed_mind_is_read_in_its_own_words(text: str, known: Known, said: dict[str, str]) -> None:
    """What was refused is taken up, what was liked is over, and what was so is so no longer."""
    assert _said(text, known=[known]) == said


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("我现在能吃辣了", ()),
        ("我吃饭了", ()),
        ("我妈妈现在能吃辣了", ("辣", "不吃")),
        ("你现在能吃辣了吗", ("辣", "不吃")),
        ("我想吃鱼了", ("鱼", "不吃")),
        ("我昨天吃鱼了", ("鱼", "不吃")),
        ("我吃鱼了", ("鱼", "喜欢")),
        ("我喝酒了，还能开车吗？", ("酒", "不喝")),
        ("I don't have milk, what else can I use?", ("milk", "low sugar")),
        ("我下个月要搬到重庆", ("城市", "成都")),
        ("我搬到楼上了", ("城市", "成都")),
        ("Last month I moved to a new team", ("city", "Rome")),
        ("My son's nut allergy is gone", ("nuts", "allergic")),
        ("The kiwi allergy turned out to be a misdiagnosis", ()),
        ("My sister just had her third child", ("kids", "two")),
        ("I no longer have access to the repository", ()),
        ("I can eat now", ("meat", "doesn't eat")),
        ("These days it's hard for me", ("milk", "oat milk")),
    ],
)
def test_what_changes_nothing_known_is_no_change(text: str, known: Known | tuple[()]) -> None:
    """Nor does what another does, what is asked, wished for or planned."""
    assert _said(text, known=[known] if known else []) == {}


@pytest.mark.parametrize(
    ("text", "known", "said"),
    [
        (
            "I've switched to soy milk",
            ("drink oat milk", "usually drink oat milk"),
            {"milk": "switched to soy milk", "drink oat milk": ""},
        ),
        (
            "These days it's almond milk for me, soy gave me a rash",
            ("milk", "switched to soy milk"),
            {"milk": "switched to almond milk"},
        ),
        ("I quit Siemens and joined Bosch", ("workplace", "Siemens"), {"workplace": "Bosch"}),
        ("I quit smoking and joined Bosch", ("workplace", "Siemens"), {"workplace": "Bosch", "smoking": "gave up"}),
        ("我换成豆奶了", ("燕麦奶", "平时喝燕麦奶"), {"豆奶": "换成豆奶", "燕麦奶": ""}),
        ("现在我都喝杏仁奶", ("豆奶", "换成豆奶"), {"杏仁奶": "喝", "豆奶": ""}),
        ("I've switched to glasses", ("wear contact lenses", "usually wear contact lenses"), {"glasses": None}),
    ],
)
def test_the_new_thing_takes_the_place_of_a_habit(text: str, known: Known, said: dict[str, str | None]) -> None:
    """Where both are of one kind, it is held once; else the habit stays."""
    made = _said(text, known=[known])
    assert made.keys() == said.keys()
    assert all(value is None or made[slot] == value for slot, value in said.items())


def test_a_habit_that_is_given_up_keeps_its_slot() -> None:
    """By its deed and all that is said of it; another deed is another fact."""
    habit = KnownFeature(slot="run", value="run every morning at 6", category="HABIT")
    assert [(one.slot, one.value) for one in facts("I stopped running in the mornings", (), [habit])] == [
        ("run", "gave up")
    ]
    assert [one.slot for one in facts("I stopped running marathons", (), [habit])] == ["running marathons"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I run every morning at 6", {"run": "run every morning at 6"}),
        ("I always write in British English", {"write in british english": "always write in British English"}),
        ("I work at Siemens", {"workplace": "Siemens"}),
        ("I work at Spotify as a designer", {"workplace": "Spotify"}),
        ("I work at night", {}),
        ("我在西门子工作", {"工作单位": "西门子"}),
        ("我在努力工作", {}),
        ("我在家上班", {}),
        ("I prefer 简体中文 answers", {"回答语言": "简体中文"}),
        ("I prefer answers in German", {"answer language": "German"}),
        ("Always answer me in Spanish", {"answer language": "Spanish"}),
        ("Answer in Spanish", {}),
        ("以后都用中文回答我", {"回答语言": "中文"}),
        ("用中文回答", {}),
        ("Never use emojis", {"emojis": "never, in answers"}),
        ("Never use eval in JavaScript", {}),
        ("You never use emojis", {}),
        ("以后不要用表情符号", {"表情符号": "回答里不用"}),
        ("这里不要用表格", {}),
    ],
)
def test_habits_work_and_how_answers_should_be_last(text: str, said: dict[str, str]) -> None:
    """Where it is said for good."""
    assert _said(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("我住在[address]", {}),
        ("我住在北京市朝阳区[address]", {"城市": "北京市朝阳区"}),
        ("I live in Berlin [address]", {"city": "Berlin"}),
        ("我每天去[address]上班", {}),
        ("Call me [masked]", {}),
    ],
)
def test_what_is_masked_teaches_nothing(text: str, said: dict[str, str]) -> None:
    """But the city before it."""
    assert _said(text) == said
