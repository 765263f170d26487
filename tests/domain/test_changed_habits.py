"""Habits, fears and tastes that are over, taken up again or otherwise now: what gives way, and what does not."""

import pytest

from pipeline.domain.gate import says_nothing_lasting
from pipeline.domain.observing import read_changes, with_plain_facts
from pipeline.domain.relevance import as_known
from pipeline.ports import Json
from tests.domain.features import after, kept, turn
from tests.domain.telling import told


def _is_changed(before: str, said: str, slot: str, value: str, was: str) -> None:
    """One fact holds once both are told, and the old value is in its history."""
    features = told(before, said)
    assert {slot: feature.value for slot, feature in features.items()} == {slot: value}
    assert [earlier.value for earlier in features[slot].history] == [was]


@pytest.mark.parametrize(
    ("before", "said", "slot", "value", "was"),
    [
        (
            "I smoke a pack a day.",
            "I haven't smoked since March.",
            "smoking",
            "no longer smokes",
            "smokes a pack a day",
        ),
        ("I really like sushi.", "I've gone off sushi lately.", "sushi", "no longer likes", "likes"),
        ("I'm learning French.", "I've given up on French.", "skill", "gave up French", "learning French"),
        ("I'm scared of dogs.", "I'm no longer scared of dogs.", "dogs", "no longer scared of", "scared of"),
        ("I enjoy camping.", "Camping does nothing for me any more.", "camping", "no longer likes", "enjoys"),
        ("I eat bacon every morning.", "I'm done with bacon.", "eat bacon", "gave up", "eat bacon every morning"),
        ("I do yoga every week.", "I don't do yoga any longer.", "yoga", "no longer does", "do yoga every week"),
        (
            "I drink energy drinks at work.",
            "I've kicked the energy drinks.",
            "energy drinks",
            "gave up",
            "drink energy drinks",
        ),
        ("I'm into crossfit.", "The crossfit phase is over for me.", "crossfit", "gave up", "likes"),
        (
            "I drink three beers every evening.",
            "I've been sober for six months now.",
            "drink three beers",
            "no longer drinks",
            "drink three beers every evening",
        ),
        (
            "I adore country music.",
            "Country music has lost its charm for me.",
            "country music",
            "no longer likes",
            "adores",
        ),
        (
            "I'm terrified of spiders.",
            "Spiders don't scare me any more.",
            "spiders",
            "no longer scared of",
            "scared of",
        ),
        (
            "I'm studying Mandarin.",
            "I quit studying Mandarin.",
            "skill",
            "gave up studying Mandarin",
            "learning Mandarin",
        ),
        ("I jog every morning.", "I stopped jogging after my surgery.", "jog", "gave up", "jog every morning"),
        (
            "I eat sweets all the time.",
            "I've weaned myself off sweets.",
            "eat sweets",
            "gave up",
            "eat sweets all the time",
        ),
        (
            "I play video games every evening.",
            "I hardly ever play video games these days.",
            "play video games",
            "gave up",
            "play video games every evening",
        ),
        ("I have a cat.", "We had to give our cat away.", "cat", "no longer has any", "a"),
        (
            "I like my coffee with sugar.",
            "I take it without sugar now, no more sugar in my coffee.",
            "coffee",
            "without sugar",
            "with sugar",
        ),
        ("我抽烟抽得挺凶的。", "我把烟给戒了。", "烟", "戒了", "抽"),
        ("我喜欢打游戏。", "我对打游戏没什么热情了。", "打游戏", "没什么热情了", "喜欢"),
        ("我在学吉他。", "吉他我早就放弃了。", "skill", "吉他放弃", "在学吉他"),
        ("我喜欢吃甜的。", "我现在一点甜的都不想碰。", "甜的", "不再碰", "喜欢"),
        ("我害怕坐飞机。", "我已经不怕坐飞机了。", "坐飞机", "不再怕", "怕"),
        ("我喝咖啡加糖。", "我喝咖啡不再加糖了。", "咖啡", "不再加糖", "加糖"),
        ("我每晚喝两杯酒。", "我滴酒不沾了。", "两杯酒", "不再喝", "每晚喝两杯酒"),
        ("我喜欢看综艺。", "综艺我早看烦了。", "综艺", "看烦", "喜欢"),
        ("我每天刷抖音。", "抖音我卸载了。", "刷抖音", "卸载", "每天刷抖音"),
        ("我在练书法。", "书法我已经放下了。", "skill", "书法放下", "在练书法"),
        ("我喜欢看足球。", "足球我现在很少看了。", "足球", "很少看", "喜欢"),
        ("我很喜欢吃螺蛳粉。", "螺蛳粉我再也不想吃了。", "螺蛳粉", "不想吃", "喜欢"),
        ("我在学钢琴。", "我不弹钢琴了。", "skill", "不再弹钢琴了", "在学钢琴"),
        ("我爱吃火锅。", "自从胃出血后我就不吃火锅了。", "火锅", "不再吃", "爱"),
    ],
)
def test_what_is_over_is_no_longer_so(before: str, said: str, slot: str, value: str, was: str) -> None:
    """However it is said that one has had enough of a thing, it is over, and was so."""
    _is_changed(before, said, slot, value, was)


@pytest.mark.parametrize(
    ("before", "said", "slot", "value", "was"),
    [
        ("I hate olives.", "Olives have grown on me.", "olives", "likes", "hates"),
        ("I never eat breakfast.", "I eat breakfast every day now.", "breakfast", "eats", "never eats"),
        ("I can't eat gluten.", "Turns out gluten is fine for me now.", "gluten", "can have it now", "can't have"),
        ("I don't like tofu.", "Tofu is actually one of my favourites now.", "tofu", "likes", "doesn't like"),
        ("我讨厌吃香菜。", "我现在能接受香菜了。", "香菜", "现在能接受了", "讨厌"),
        ("我受不了榴莲的味道。", "榴莲我现在挺爱吃的。", "榴莲的味道", "现在挺爱吃", "受不了"),
        ("我不喝牛奶。", "我现在每天都喝牛奶。", "牛奶", "每天都喝牛奶", "不喝"),
        ("我讨厌下厨。", "我渐渐享受下厨了。", "下厨", "现在享受了", "讨厌"),
        ("我不爱吃胡萝卜。", "胡萝卜我现在也爱吃了。", "胡萝卜", "现在爱吃", "不爱"),
        ("我不运动。", "我最近开始运动了。", "运动", "开始了", "不"),
        ("我讨厌下雨天。", "我现在反而喜欢下雨天了。", "下雨天", "现在喜欢了", "讨厌"),
    ],
)
def test_what_was_denied_is_so_again(before: str, said: str, slot: str, value: str, was: str) -> None:
    """A thing that was disliked, feared or kept off is taken up."""
    _is_changed(before, said, slot, value, was)


@pytest.mark.parametrize(
    ("before", "said", "slot", "value", "was"),
    [
        (
            "I go to the gym four times a week.",
            "I'm down to going to the gym once a week.",
            "go to the gym",
            "down to going to the gym once a week",
            "go to the gym four times a week",
        ),
        ("I usually get up at six.", "I get up at eight now.", "wake up time", "get up at eight now", "get up at six"),
        (
            "I work out in the mornings.",
            "I work out in the evenings now.",
            "work out",
            "work out in the evenings",
            "work out in the mornings",
        ),
        (
            "I go to bed at midnight.",
            "Nowadays I go to bed around ten.",
            "bedtime",
            "go to bed around ten",
            "go to bed at midnight",
        ),
        (
            "I swim twice a week.",
            "I swim three times a week now.",
            "swim",
            "swim three times a week now",
            "swim twice a week",
        ),
        (
            "I take two sugars in my tea.",
            "I've cut down to one sugar in my tea.",
            "two sugars",
            "cut down to one sugar in my tea",
            "take two sugars in my tea",
        ),
        (
            "I prefer working in the morning.",
            "I prefer working at night now.",
            "prefer working at night",
            "prefer working at night now",
            "prefers",
        ),
        (
            "I go fishing once a month.",
            "I go fishing every weekend now.",
            "go fishing",
            "go fishing every weekend now",
            "go fishing once a month",
        ),
        ("I like my steak well done.", "These days I prefer my steak rare.", "steak", "rare", "well done"),
        ("我每天跑五公里。", "我现在每天只跑两公里。", "每天跑两公里", "每天只跑两公里", "每天跑五公里"),
        ("我习惯晚睡。", "我现在都早睡了。", "睡觉时间", "早睡了", "晚睡"),
        ("我一周健身五次。", "我现在一周只健身两次。", "一周健身两次", "一周只健身两次", "一周健身五次"),
        ("我每周游泳三次。", "我现在每周就游一次泳。", "每周游一次泳", "每周就游一次泳", "每周游泳三次"),
        ("我习惯早起。", "我最近都睡到中午才起。", "起床时间", "睡到中午才起", "早起"),
        ("我一天喝三杯咖啡。", "我现在一天就喝一杯咖啡。", "一天喝一杯咖啡", "一天就喝一杯咖啡", "一天喝三杯咖啡"),
        ("我每周爬两次山。", "我现在每个月才爬一次山。", "每个月爬一次山", "每个月才爬一次山", "每周爬两次山"),
        ("我每天睡六个小时。", "我现在每天睡八个小时。", "每天睡八个小时", "每天睡八个小时", "每天睡六个小时"),
        ("我喝豆浆要加糖。", "豆浆我现在喝无糖的。", "豆浆", "喝无糖的", "加糖"),
    ],
)
def test_a_habit_goes_on_in_another_way(before: str, said: str, slot: str, value: str, was: str) -> None:
    """Another number, time or way of the same habit takes the place of the one before."""
    _is_changed(before, said, slot, value, was)


@pytest.mark.parametrize(
    ("before", "said", "slot", "value", "was"),
    [
        (
            "I usually have cereal for breakfast.",
            "I have eggs for breakfast now instead of cereal.",
            "eggs",
            "switched to eggs",
            "usually have cereal",
        ),
        (
            "I drive to the office.",
            "I stopped driving and walk to the office now.",
            "walk to the office",
            "walk to the office",
            "drive to the office",
        ),
        ("I prefer iPhones.", "I've become an Android person.", "android", "switched to Android", "prefers"),
        (
            "I read on a Kindle.",
            "I've gone back to paper books instead of my Kindle.",
            "read on paper books",
            "read on paper books",
            "read on a Kindle",
        ),
        ("I use Spotify.", "I cancelled Spotify and use Apple Music now.", "apple music", "uses", "uses"),
        (
            "I take the subway to work.",
            "I work from home now, so no more subway.",
            "work from home",
            "work from home",
            "take the subway to work",
        ),
        (
            "I write with a fountain pen.",
            "I've traded my fountain pen for a tablet.",
            "write with a tablet",
            "write with a tablet",
            "write with a fountain pen",
        ),
        (
            "I usually order a cappuccino.",
            "I'm on flat whites now.",
            "whites",
            "switched to flat whites",
            "usually order a cappuccino",
        ),
        (
            "I cook with butter.",
            "I only cook with olive oil these days.",
            "olive oil",
            "only cooks with olive oil",
            "cook with butter",
        ),
        ("I use Gmail.", "I migrated to Proton Mail.", "proton mail", "switched to Proton Mail", "uses"),
        (
            "I take the tram to school.",
            "I've started walking to school.",
            "walking to school",
            "walking to school",
            "take the tram to school",
        ),
        (
            "I drink green tea every afternoon.",
            "I replaced my green tea with rooibos.",
            "drink rooibos",
            "drink rooibos every afternoon",
            "drink green tea every afternoon",
        ),
        ("我平时喝美式。", "最近换成拿铁了。", "拿铁", "换成拿铁", "平时喝美式"),
        ("我用华为手机。", "手机换成小米的了。", "小米", "换成小米", "用"),
        ("我上班骑电动车。", "我现在走路上班了。", "走路上班", "走路上班", "上班骑电动车"),
        ("我偏好靠窗的座位。", "我现在更愿意坐过道。", "过道", "更喜欢过道", "偏好"),
        ("我一般喝红茶。", "现在只喝绿茶。", "绿茶", "换成绿茶", "一般喝红茶"),
        ("我喜欢住市中心。", "我现在更想住郊区。", "郊区", "更喜欢郊区", "喜欢"),
        ("我在学德语。", "德语我不学了，现在学法语。", "skill", "学法语", "在学德语"),
        ("我用搜狗输入法。", "我换讯飞输入法了。", "讯飞输入法", "换成讯飞输入法", "用"),
        ("我平时坐公交上班。", "我现在都是骑车上班。", "骑车上班", "骑车上班", "坐公交上班"),
        ("我用的是三星手机。", "我上周换了华为手机。", "华为手机", "换成华为手机", "用"),
        ("我早餐吃油条。", "我早餐改吃燕麦了。", "早餐吃燕麦", "早餐改吃燕麦了", "早餐吃油条"),
        ("我喜欢喝全糖奶茶。", "我现在只喝无糖奶茶。", "无糖奶茶", "只喝", "喜欢"),
    ],
)
def test_another_thing_of_its_kind_takes_its_place(before: str, said: str, slot: str, value: str, was: str) -> None:
    """What is used, had or preferred now ends what was, where one of a kind is had."""
    _is_changed(before, said, slot, value, was)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("I usually drink lattes.", "Today I'll have an espresso."),
        ("I use Windows at home.", "My brother ditched Windows."),
        ("I have two cats.", "My neighbour has three cats."),
        ("I like sushi.", "I'm not having sushi tonight."),
        ("I'm learning French.", "I gave up on fixing the printer."),
        ("我每天喝奶茶。", "我同事把奶茶戒了。"),
        ("我喜欢打游戏。", "我不喜欢打麻将了。"),
        ("我不吃鱼。", "我女儿又开始吃鱼了。"),
        ("我在学吉他。", "钢琴我早就放弃了。"),
        ("我喜欢吃甜的。", "咸的我吃腻了。"),
        ("I enjoy camping.", "Fishing does nothing for me any more."),
        ("I live in Chicago.", "My company moved to Austin."),
        ("I have a dog.", "My parents no longer have a dog."),
        ("I don't like cilantro.", "I like parsley now."),
        ("I'm studying Spanish.", "I stopped the Spanish subtitles from showing."),
        ("我每天喝可乐。", "我弟弟把可乐戒了。"),
        ("我喜欢追剧。", "我不追星了。"),
        ("我不喝牛奶。", "我儿子现在每天都喝牛奶。"),
        ("我在学德语。", "俄语我不学了。"),
        ("我喜欢吃苹果。", "梨我吃腻了。"),
        ("I love pizza.", "I've had enough of the sandwiches, can you suggest a filling?"),
        ("I drink tea every morning.", "I'm off the phone now."),
        ("I use Windows at home.", "I dropped the window blinds."),
        ("I usually get up at six.", "I got up at eight today."),
        ("I smoke.", "My husband has quit smoking."),
        ("I drink tea every morning.", "I drink water every evening."),
        ("I like jazz.", "I no longer have the file about jazz."),
        ("I prefer window seats.", "The window no longer opens."),
        ("I like cats.", "I don't want the cats table any more, how do I drop it?"),
        ("I don't eat pork.", "I've started eating lunch earlier."),
        ("I prefer dark mode.", "The website switched to light mode."),
        ("I enjoy camping.", "I'm done with the camping checklist, thanks."),
        ("I'm allergic to cats.", "I'm over the moon about my new job."),
        ("I work from home.", "I drive to the shops."),
        ("我喜欢打游戏。", "游戏打不开了。"),
        ("我用华为手机。", "手机屏幕换了。"),
        ("我在学吉他。", "吉他弦断了。"),
        ("我喜欢吃辣。", "上火了，这两天不吃辣。"),
        ("我每天跑五公里。", "从我家到公司五公里，现在只开两公里的路。"),
        ("我喜欢喝茶。", "茶几换成白色的了。"),
        ("我抽烟。", "老公戒烟了我很高兴。"),
        ("我喜欢看电影。", "电影票我退了。"),
        ("我怕狗。", "我怕来不及交作业。"),
        ("我在学德语。", "我同桌不学德语了。"),
        ("我喝咖啡加糖。", "我做蛋糕不加糖。"),
        ("我平时坐公交上班。", "我老婆现在都是骑车上班。"),
        ("我喜欢爬山。", "我一点酒都不碰。"),
        ("我用Chrome。", "我把Chrome的缓存清了。"),
        ("我喜欢穿高跟鞋。", "今天只穿平底鞋。"),
        ("I jog every morning.", "I stopped the recording after my surgery."),
        ("I love my coffee black.", "I need milk with the pancakes."),
        ("I take the tram to school.", "I'll take the bus tomorrow."),
        ("I have a dog.", "I gave up looking for a cat photo."),
        ("I adore country music.", "This country has lost its charm for me."),
        ("I drive a Toyota.", "I sold my bike."),
        ("I like horror novels.", "Comedies bore me."),
        ("I wear glasses.", "I no longer wear jewellery."),
        ("I play chess every evening.", "I play chess with my dad on Sundays now."),
        ("I like beer.", "The beer is out, where do I buy more?"),
        ("我喜欢看足球。", "篮球我现在很少看了。"),
        ("我一般喝龙井。", "我爸改喝普洱了。"),
        ("我在学钢琴。", "钢琴搬不动怎么办？"),
        ("我平时走路上班。", "我周末骑车去公园。"),
        ("我用的是三星手机。", "我给我妈换了华为手机。"),
        ("我爱熬夜。", "我儿子不熬夜了。"),
        ("我喜欢一个人旅行。", "这次和朋友一起旅行。"),
        ("我喜欢吃火锅。", "昨天火锅吃腻了，想吃清淡的。"),
    ],
)
def test_what_is_once_or_of_another_thing_or_person_changes_no_habit(before: str, said: str) -> None:
    """What was known stays as it was, whatever is learnt beside it."""
    first = told(before)
    assert first
    assert first.items() <= told(before, said).items()


@pytest.mark.parametrize(
    ("slot", "value", "said", "proposed", "was"),
    [
        ("hiking preference", "loves hiking", "I can't stand hiking any more.", None, "loves hiking"),
        ("coffee habit", "drinks three cups a day", "I quit coffee.", ("coffee", "quit"), "drinks three cups a day"),
        ("favorite drink", "green tea", "I've gone off green tea.", ("green tea", "no longer likes"), "green tea"),
        ("smoking", "a pack a day", "I haven't smoked since March.", ("cigarettes", "quit in March"), "a pack a day"),
        ("commute", "drives to work", "I cycle to work now.", ("transport", "cycles to work"), "drives to work"),
        ("运动习惯", "每周游泳三次", "我现在每周就游一次泳。", ("游泳频率", "每周一次"), "每周游泳三次"),
        ("爬山爱好", "喜欢爬山", "我早就不爬山了。", ("爬山", "不再爬山"), "喜欢爬山"),
        ("喝茶习惯", "平时喝茶", "我改喝咖啡了。", ("饮料", "改喝咖啡"), "平时喝茶"),
    ],
)
def test_a_change_lands_in_a_slot_that_a_model_named(
    slot: str, value: str, said: str, proposed: tuple[str, str] | None, was: str
) -> None:
    """Under whatever name the fact is known, and whatever name a model gives the change, one fact holds."""
    is_taste = any(word in value for word in ("loves", "green tea", "喜欢"))
    known = kept(slot, value, category="PREFERENCE" if is_taste else "HABIT")
    changes: list[Json] = [{"slot": proposed[0], "value": proposed[1], "quote": said[:-1]}] if proposed else []
    read = read_changes({"changes": changes}, said, [as_known(known)])
    found = with_plain_facts(read.changes if read else [], said, [], [as_known(known)])
    features = after(turn(1, *found), known=[known]).values()
    (held,) = (feature for feature in features if feature.status == "ACTIVE")
    assert [earlier.value for earlier in held.history] == [was]


@pytest.mark.parametrize(
    ("before", "said", "slot"),
    [
        ("I'm a vegetarian.", "I don't eat meat.", "diet"),
        ("I'm vegan.", "I never eat meat.", "diet"),
        ("我吃素。", "我不吃肉。", "饮食"),
    ],
)
def test_what_a_diet_says_along_is_no_fact_of_its_own(before: str, said: str, slot: str) -> None:
    """It confirms the diet; what the diet does not say is known beside it."""
    features = told(before, said)
    assert list(features) == [slot]
    assert features[slot].confidence == 2
    assert len(told(before, "I don't eat bread.")) == 2


@pytest.mark.parametrize("said", ["最近换成拿铁了。", "可乐戒了。", "榴莲吃腻了。", "早就不追剧了。"])
def test_a_change_without_its_subject_is_looked_at(said: str) -> None:
    """A message that leaves its "I" out may still hold what lasts."""
    assert not says_nothing_lasting(said)
