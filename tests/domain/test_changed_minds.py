"""A changed mind in everyday words, through extraction by the rules and merging: what gives way, and what stays."""

import pytest

from pipeline.adapters.rules.features import proposed_changes
from pipeline.domain.observing import read_changes, with_plain_facts
from pipeline.domain.relevance import as_known
from pipeline.ports import Said
from schemas.features import UserFeature
from tests.domain.features import after, turn


def _told(*messages: str) -> dict[str, UserFeature]:
    """What holds once the messages, a turn each, have been learnt from."""
    features: dict[str, UserFeature] = {}
    for number, text in enumerate(messages, 1):
        known = [as_known(feature) for feature in features.values() if feature.status == "ACTIVE"]
        read = read_changes({"changes": proposed_changes([Said("user", text)], known)}, text, known)
        changes = with_plain_facts(read.changes if read else [], text, [], known)
        features = after(turn(number, *changes), known=list(features.values()))
    return {slot: feature for slot, feature in features.items() if feature.status == "ACTIVE"}


@pytest.mark.parametrize(
    ("before", "said", "slot", "value", "was"),
    [
        ("I usually drink tea.", "I switched to coffee.", "coffee", "switched to coffee", "usually drink tea"),
        (
            "I usually drink tea.",
            "I've moved from tea to coffee.",
            "drink tea",
            "usually drink coffee",
            "usually drink tea",
        ),
        ("I usually drink coffee.", "I gave up coffee.", "drink coffee", "gave up", "usually drink coffee"),
        ("I like milk.", "I no longer drink milk.", "milk", "no longer drinks", "likes"),
        ("I take sugar in my tea.", "I don't take sugar any more.", "sugar", "no longer takes", "takes"),
        ("我平时喝茶。", "我改喝咖啡了。", "咖啡", "改喝", "平时喝茶"),
        ("我不吃牛肉。", "现在牛肉我也吃了。", "牛肉", "现在吃了", "不吃"),
        ("我喜欢爬山。", "我现在不喜欢爬山了。", "爬山", "不再喜欢", "喜欢"),
        ("我喜欢喝咖啡。", "我戒咖啡了。", "咖啡", "戒了", "喜欢"),
        ("我喜欢喝牛奶。", "我已经不喝牛奶了。", "牛奶", "不再喝", "喜欢"),
        (
            "I usually take the bus to work.",
            "I've switched to cycling to work.",
            "cycling to work",
            "switched to cycling to work",
            "usually take the bus to work",
        ),
        ("I eat meat almost every day.", "I'm a vegetarian now.", "diet", "vegetarian", "eat meat almost"),
        ("I don't eat fish.", "I eat fish again these days.", "fish", "eats again", "doesn't eat"),
        ("I use Vim for everything.", "I moved from Vim to Emacs.", "emacs", "switched to Emacs from Vim", "uses"),
        ("I take milk in my coffee.", "I don't take milk in my coffee any more.", "milk", "no longer takes", "takes"),
        (
            "I play tennis on Saturdays.",
            "I no longer play tennis.",
            "play tennis",
            "no longer plays",
            "play tennis on Saturdays",
        ),
        (
            "I prefer window seats.",
            "These days I'd rather have aisle seats.",
            "aisle seats",
            "prefers aisle seats",
            "prefers",
        ),
        ("I'm learning Java.", "I've dropped Java for Kotlin.", "skill", "learning Kotlin", "learning Java"),
        ("I don't drink alcohol.", "I've started drinking alcohol again.", "alcohol", "drinks it now", "doesn't drink"),
        ("I like dogs.", "I'm not into dogs anymore.", "dogs", "no longer likes", "likes"),
        ("我平时喝绿茶。", "我换成红茶了。", "红茶", "换成红茶", "平时喝绿茶"),
        ("我每天坐地铁上班。", "我现在改骑车上班了。", "骑车上班", "改骑车上班", "每天坐地铁上班"),
        ("我抽烟。", "我戒烟了。", "烟", "戒了", "抽"),
        ("我每天早上喝牛奶。", "我早就不喝牛奶了，改喝豆浆。", "豆浆", "改喝", "每天早上喝牛奶"),
        ("我住在杭州。", "我搬到苏州了。", "城市", "苏州", "杭州"),
        ("我不喝酒。", "我最近开始喝酒了。", "酒", "现在开始喝了", "不喝"),
        ("我喜欢甜豆浆。", "我现在更喜欢咸豆浆。", "咸豆浆", "更喜欢", "喜欢"),
        ("我爱吃羊肉。", "我戒掉羊肉了。", "羊肉", "戒了", "爱"),
        ("我不喜欢跑步。", "我慢慢喜欢上跑步了。", "跑步", "现在喜欢上了", "不喜欢"),
        ("我喜欢猫。", "我对猫没兴趣了。", "猫", "没兴趣了", "喜欢"),
        ("I like green tea.", "I gave up green tea last month.", "green tea", "gave up", "likes"),
        (
            "I drink two cups of coffee every morning.",
            "I stopped drinking coffee in the morning.",
            "drink two cups",
            "gave up",
            "drink two cups of coffee every morning",
        ),
        ("I can't stand jazz.", "I've come to love jazz.", "jazz", "loves", "can't stand"),
        ("I love horror movies.", "I've gone off horror movies.", "horror movies", "no longer likes", "loves"),
        ("I prefer dark mode.", "I've changed to light mode.", "mode", "switched to light mode", "prefers"),
        ("I live in Leeds.", "I've moved to York.", "city", "York", "Leeds"),
        (
            "I go running every morning.",
            "I quit running because of my knee.",
            "go running",
            "gave up",
            "go running every morning",
        ),
        (
            "I like spicy food.",
            "I can't handle spicy food any longer.",
            "spicy food",
            "can't handle it any more",
            "likes",
        ),
        ("I hate mushrooms.", "Turns out I like mushrooms after all.", "mushrooms", "likes", "hates"),
        ("I usually shop at Aldi.", "I shop at Lidl instead now.", "lidl", "shop at", "usually shop at Aldi"),
        ("我喜欢打篮球。", "我不打篮球了。", "打篮球", "不再打", "喜欢"),
        ("我不吃香菜。", "香菜我现在也能吃了。", "香菜", "现在能吃了", "不吃"),
        ("我讨厌吃苦瓜。", "我现在爱上苦瓜了。", "苦瓜", "现在爱上了", "讨厌"),
        ("我喜欢看恐怖片。", "恐怖片我已经不看了。", "恐怖片", "不再看", "喜欢"),
        ("我用安卓手机。", "我换苹果手机了。", "苹果手机", "换成苹果手机", "用"),
        ("我喜欢吃辣。", "我现在吃不了辣了。", "辣", "吃不了了", "喜欢"),
        ("我每周去健身房。", "我再也不去健身房了。", "健身房", "不再去", "每周去健身房"),
        ("我在学日语。", "我放弃日语了，改学韩语。", "skill", "改学韩语", "在学日语"),
        ("我用Vim写代码。", "我从Vim换到VSCode了。", "vscode", "从Vim换成VSCode", "用"),
        ("我喜欢喝可乐。", "可乐我戒了。", "可乐", "戒了", "喜欢"),
        ("I love red wine.", "I've lost my taste for red wine.", "red wine", "no longer likes", "loves"),
        (
            "I usually go to work by bus.",
            "Now I go to work by bike.",
            "go to work",
            "go to work by bike",
            "usually go to work by bus",
        ),
        ("I don't like cats.", "I've warmed to cats.", "cats", "likes", "doesn't like"),
        ("I eat chocolate every day.", "I've cut out chocolate.", "eat chocolate", "gave up", "eat chocolate"),
        ("I use Chrome.", "I've replaced Chrome with Firefox.", "firefox", "switched to Firefox", "uses"),
        (
            "I play chess every evening.",
            "I haven't played chess in years, I dropped it.",
            "play chess",
            "gave up",
            "play chess every evening",
        ),
        ("I like karaoke.", "Karaoke isn't my thing any more.", "karaoke", "no longer likes", "likes"),
        (
            "I usually drink green tea.",
            "I've gone over to black coffee.",
            "coffee",
            "switched to black coffee",
            "usually drink green tea",
        ),
        ("I hate running.", "I actually like running now.", "running", "likes", "hates"),
        (
            "I buy whole milk every week.",
            "I only buy skimmed milk now.",
            "milk",
            "only buys skimmed milk",
            "buy whole milk every week",
        ),
        ("我喜欢吃火锅。", "火锅我现在吃不惯了。", "火锅", "吃不了了", "喜欢"),
        ("我每天开车上班。", "我现在都坐地铁上班。", "坐地铁上班", "坐地铁上班", "每天开车上班"),
        ("我不喜欢猫。", "我现在挺喜欢猫的。", "猫", "喜欢", "不喜欢"),
        ("我每天吃巧克力。", "巧克力我不吃了。", "巧克力", "不再吃", "每天吃巧克力"),
        ("我喜欢下象棋。", "我好久不下象棋了。", "下象棋", "不再下", "喜欢"),
        ("我平时用Chrome。", "我改用Firefox了。", "firefox", "改用", "用"),
        ("我讨厌跑步。", "我现在不讨厌跑步了。", "跑步", "不再讨厌", "讨厌"),
        ("我喜欢听摇滚。", "我现在不怎么听摇滚了。", "摇滚", "不再听", "喜欢"),
        ("我周末去爬山。", "我周末不去爬山了。", "爬山", "不再去", "周末去爬山"),
        ("I like to swim.", "I hate swimming.", "swim", "hates", "likes"),
        (
            "I usually drink oat milk.",
            "I switched to soy milk.",
            "milk",
            "switched to soy milk",
            "usually drink oat milk",
        ),
        ("I switched to tea.", "I switched to coffee.", "coffee", "switched to coffee", "switched to tea"),
        ("I live in Leeds.", "I moved from Leeds to York.", "city", "York", "Leeds"),
        ("I usually drink tea.", "I'm a coffee drinker now.", "coffee", "drinks coffee", "usually drink tea"),
        ("我平时喝咖啡。", "我把咖啡戒了。", "咖啡", "戒了", "平时喝咖啡"),
        ("我坐公交上班。", "我现在开车上班了。", "开车上班", "开车上班", "坐公交上班"),
        (
            "I usually drive to work.",
            "I take the train to work now.",
            "take the train",
            "take the train to work",
            "drive to work",
        ),
        ("I live in Paris.", "I moved from Paris to Rome.", "city", "Rome", "Paris"),
    ],
)
def test_a_changed_mind_takes_the_place_of_what_it_changes(
    before: str, said: str, slot: str, value: str, was: str
) -> None:
    """It is the one fact that holds, and the old value is in its history."""
    told = _told(before, said)
    assert {slot: feature.value for slot, feature in told.items()} == {slot: value}
    assert [earlier.value for earlier in told[slot].history] == [was]


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("I like to swim.", "I love to go swimming."),
        ("I like swimming.", "I like to swim."),
        ("I don't eat pork.", "I never eat pork."),
        ("I hate coriander.", "I can't stand coriander."),
        ("I live in Leeds.", "My home is in Leeds."),
        ("I'm allergic to peanuts.", "I have a peanut allergy."),
        ("I no longer drink milk.", "I've stopped drinking milk."),
        ("我喜欢游泳。", "我很爱去游泳。"),
        ("我平时喝茶。", "我一般都喝茶。"),
        ("我每天早上跑步。", "我天天早上都跑步。"),
        ("我喜欢看电影。", "我是个电影迷。"),
        ("我喜欢吃苹果。", "苹果是我的最爱。"),
        ("I love swimming.", "I really enjoy going swimming."),
        ("I usually drink tea.", "Tea is what I normally drink."),
        ("I like Tom and Jerry.", "I'm a fan of Tom and Jerry."),
        ("I go running every morning.", "Every morning I go for a run."),
        ("I like to paint.", "I love painting."),
        ("我不吃牛肉。", "牛肉我从来不吃。"),
        ("我讨厌香菜。", "香菜我受不了。"),
        ("我住在杭州。", "我家在杭州。"),
        ("我对花生过敏。", "我花生过敏。"),
        ("我不喝牛奶了。", "我已经戒牛奶了。"),
        ("I adore cats.", "Cats are my favourite."),
        ("我吃素。", "我是素食者。"),
        ("I like Tom and Jerry.", "I love Tom and Jerry."),
        ("我喜欢猫和老鼠。", "猫和老鼠是我的最爱。"),
        ("I love to cook.", "I like cooking."),
    ],
)
def test_the_same_in_other_words_is_one_fact(before: str, said: str) -> None:
    """It is confirmed, and nothing of it moves into the history."""
    (first,), (then,) = _told(before).values(), _told(before, said).values()
    assert (then.slot, then.value, then.history) == (first.slot, first.value, [])
    assert then.confidence == first.confidence + 1


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("I live in Leeds.", "I moved from the first exercise to the second."),
        ("I like milk.", "The shop no longer sells milk."),
        ("I use Vim for everything.", "How do I switch to a branch in git?"),
        ("I like coffee.", "I stopped using Windows."),
        ("I go running every morning.", "I don't run Docker any more."),
        ("我平时喝茶。", "我妈改喝咖啡了。"),
        ("我不吃牛肉。", "我儿子现在牛肉也吃了。"),
        ("我喜欢喝牛奶。", "这家超市不卖牛奶了。"),
        ("我喜欢喝咖啡。", "怎么才能戒咖啡？"),
        ("我爱喝可乐。", "听说可乐戒了对身体好。"),
        ("I usually drink tea.", "My sister switched to coffee."),
        ("I like jazz.", "I gave up my seat on the train for an old man."),
        ("I don't eat beef.", "My son eats beef now."),
        ("I love hiking.", "My friend doesn't like hiking any more."),
        ("I take sugar in my tea.", "Should I give up sugar?"),
        ("我喜欢爬山。", "我同事不喜欢爬山了。"),
        ("我用Vim写代码。", "怎么换成英文界面？"),
        ("我每天早上跑步。", "我的程序跑不了了。"),
        ("我住在杭州。", "我搬了张椅子到阳台。"),
        ("我喜欢吃辣。", "我不吃香菜了。"),
        ("I love red wine.", "My doctor gave up red wine."),
        ("I use Chrome.", "The app stopped working in Chrome."),
        ("I eat chocolate every day.", "I've cut out gluten."),
        ("我喜欢吃火锅。", "我爸吃不了火锅了。"),
        ("我平时用Chrome。", "Chrome打不开了怎么办？"),
        ("我每天吃巧克力。", "我戒了奶茶。"),
        ("I like tea.", "I switched to coffee."),
        ("I usually drink beer on Fridays.", "I switched to coffee."),
        ("I live in Leeds.", "I moved from Windows to Linux."),
        ("I like meat balls.", "I gave up coffee."),
        ("我平时喝咖啡。", "我想戒咖啡。"),
        ("我喜欢爬山。", "我不喜欢游泳了。"),
        ("I usually drink tea.", "I might switch to coffee."),
        ("I usually drink tea.", "He said I switched to coffee."),
        ("我平时喝茶。", "我改喝啤酒了。"),
        ("我喜欢打篮球。", "我不看篮球了。"),
        ("I play tennis on Saturdays.", "I no longer watch tennis."),
        ("我每天喝牛奶。", "我不吃牛肉了。"),
        ("I usually drink tea.", "I gave up smoking."),
        ("I usually shop at Aldi.", "I swim at Fulham now."),
        ("I drive to work.", "I switched to tea."),
        ("I like cycling.", "My bike is no longer for me, it's my brother's now."),
        ("我用安卓手机。", "我妈换苹果手机了。"),
        ("我用安卓手机。", "怎么换苹果手机？"),
        ("我在学日语。", "我放弃考研了。"),
        ("I like tea.", "I went over to Sam's house."),
        ("I like paper.", "I cut paper for the kids."),
        ("我喜欢猫。", "我现在挺喜欢狗的。"),
        ("I use Linux.", "I only drink oat milk now."),
        ("I like dogs.", "Yours is my favourite."),
        ("I love Paris.", "I moved from Paris to Rome."),
        ("I usually drink tea.", "My wife gave up tea."),
        ("I like chess.", "Chess isn't for everyone."),
        ("I drive to work.", "My boss cycles to work now."),
        ("I live in Leeds.", "My parents moved from Leeds to York."),
        ("I use Chrome.", "I've cut out sugar."),
        ("I like coffee.", "If I gave up coffee, would I sleep better?"),
        ("I smoke.", "Should I quit smoking?"),
        ("I like milk.", "I stopped the server."),
        ("I play tennis on Saturdays.", "The club no longer offers tennis."),
        ("I usually drink tea.", "Today I switched to coffee."),
        ("I usually drink tea.", "I switched to Linux."),
        ("I like swimming.", "I gave up drinking alcohol."),
        ("我平时喝茶。", "他改喝咖啡了。"),
        ("我喜欢爬山。", "我们公司不组织爬山了。"),
        ("我抽烟。", "我爸戒烟了。"),
        ("我每天坐地铁上班。", "地铁今天停运了。"),
        ("我喜欢猫。", "我不养狗了。"),
        ("我平时喝茶。", "今天我改喝咖啡了。"),
        ("我用安卓手机。", "我想换苹果手机。"),
        ("我喜欢吃辣。", "这个软件我用不了了。"),
    ],
)
def test_what_is_of_something_or_somebody_else_changes_nothing(before: str, said: str) -> None:
    """What was known stays as it was, whatever is learnt beside it."""
    first = _told(before)
    assert first
    assert first.items() <= _told(before, said).items()
