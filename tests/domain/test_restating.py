"""One fact in other words: confirmed, whatever slot it is told under; what merely looks alike is another."""

import pytest

from pipeline.domain.slots import is_same, subject_of
from tests.domain.features import after, command, forgets, says, turn, values, wish

PRINTING = [
    "I cannot print photos from this phone.",
    "This handset of mine has no way to print pictures.",
    "Photos won't print on my mobile.",
]


@pytest.mark.parametrize(
    "told",
    [
        # one slot, other words
        [
            ("photos", "cannot print from this phone"),
            ("photos", "no way to print on a mobile"),
            ("photo", "won't print"),
        ],
        [("phone", "cannot print photos"), ("Phone", "has no way to print pictures"), ("phone", "photos won't print")],
        # other slots
        [
            ("photos", "cannot print from this phone"),
            ("phone", "no way to print pictures"),
            ("mobile", "prints no photo"),
        ],
        [
            ("hardware", "phone can't print photos"),
            ("printing", "photos not possible on phone"),
            ("photos", "mobile can't print"),
        ],
    ],
)
def test_a_paraphrase_is_one_fact_with_all_its_evidence(told: list[tuple[str, str]]) -> None:
    """plastic-labs/honcho#729: three conversations say one thing; it is one feature with three quotes, told once."""
    events = [
        turn(number, says(slot, value, quote=quote), conversationId=f"c{number}")
        for number, ((slot, value), quote) in enumerate(zip(told, PRINTING, strict=True), 1)
    ]
    (feature,) = after(*events).values()
    assert [seen.quote for seen in feature.evidence] == PRINTING
    assert (feature.value, feature.confidence, feature.history) == (told[0][1], 3, [])
    assert feature.source_conversation_id == "c1"
    assert after(*events, *events, events[1])[feature.slot] == feature


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("花生", "过敏", "用户对花生过敏。"), ("健康", "花生过敏", "用户花生过敏。")),
        (("香菜", "讨厌"), ("饮食", "不喜欢香菜")),
        (("平板", "没法播放视频"), ("视频", "平板电脑不能播放")),
        (("cats", "has two", "The user has two cats."), ("pets", "2 cats", "The user has a couple of cats.")),
        (("peanuts", "allergic"), ("allergy", "groundnuts")),
        (
            ("commute", "by bike every day", "The user cycles to work daily."),
            ("transport", "bicycle", "The user goes to work by bike every day."),
        ),
    ],
)
def test_one_fact_under_two_names_is_one(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    """Where every word that tells what is the same by its meaning; whichever was told first keeps its slot."""
    for first, second in ((one, other), (other, one)):
        (feature,) = after(turn(1, says(*first)), turn(2, says(*second))).values()
        assert (feature.value, feature.confidence, len(feature.evidence)) == (first[1], 2, 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("milk", "low sugar"), ("drink", "no sugar milk")),
        (("cats", "has 2"), ("pets", "has 3 cats")),
        (("jazz", "likes", "The user likes jazz."), ("sister", "likes jazz", "The user's sister likes jazz.")),
        (("breakfast", "oats with milk", "Eats oats with milk."), ("dinner", "oats with milk", "Eats oats with milk.")),
        (("coffee", "drinks it every morning"), ("tea", "drinks it every morning")),
        (("tea", "prefers it to coffee"), ("coffee", "prefers it to tea")),
        (("chocolate milk", "likes"), ("milk chocolate", "likes")),
        (("meat", "eats no meat but fish"), ("fish", "eats meat but no fish")),
        (("printer", "can print photos"), ("photos", "cannot be printed on the printer")),
        (("pets", "2 cats and 3 dogs"), ("animals", "3 cats and 2 dogs")),
        (("cigars", "used to smoke"), ("smoking", "smokes cigars")),
        (("狗", "养了两只"), ("宠物", "养了三只狗")),
        (("茶", "喜欢", "用户喜欢茶。"), ("妹妹", "喜欢茶", "用户的妹妹喜欢茶。")),
        (("茶", "喜欢", "用户喜欢茶。"), ("饮料", "不喜欢茶", "用户不喜欢茶。")),
        (("skill", "new to Go"), ("Go", "new")),
        (("detailLevel", "CONCISE"), ("answers", "concise")),
    ],
)
def test_two_facts_under_two_names_stay_two(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    """Another polarity, number, subject, order or time of the day is another fact, however many words are shared."""
    assert len(after(turn(1, says(*one)), turn(2, says(*other)))) == 2
    assert len(after(turn(1, says(*other)), turn(2, says(*one)))) == 2


def test_one_turn_says_one_thing_under_two_names_once() -> None:
    """It is one fact, of one piece of evidence, also where the fact was known before."""
    said = (says("photos", "cannot print on phone"), says("phone", "no way to print pictures"))
    (feature,) = after(turn(1, *said)).values()
    assert (feature.slot, feature.confidence, len(feature.evidence)) == ("photos", 1, 1)
    (feature,) = after(turn(1, said[1]), turn(2, *said)).values()
    assert (feature.slot, feature.confidence, len(feature.evidence)) == ("phone", 2, 2)


def test_a_mind_changed_since_is_not_changed_back_by_a_redelivery() -> None:
    """A turn that told the old value under another name is known by the history of the fact."""
    told = [turn(1, says("photos", "cannot print on phone")), turn(2, says("phone", "no way to print pictures"))]
    told.append(turn(3, says("photos", "prints on phone")))
    known = after(*told)
    assert [one.value for one in known["photos"].history] == ["cannot print on phone"]
    assert after(*told[1:], known=[*known.values()]) == known


def test_what_is_forgotten_is_not_learnt_again_under_another_name() -> None:
    """From what was said before it was forgotten; what is said afterwards is learnt."""
    forgotten = (turn(1, says("photos", "cannot print on phone")), wish(4, forgets("photos")))
    again = says("phone", "no way to print pictures")
    assert values(after(*forgotten, turn(2, again))) == {}
    assert values(after(*forgotten, turn(5, again))) == {"phone": "no way to print pictures"}
    changed = (turn(1, again), turn(3, says("phone", "prints pictures")), wish(4, forgets("phone")))
    assert values(after(*changed, turn(2, says("photos", "cannot print on phone")))) == {}


def test_a_hand_means_the_name_and_the_words_that_it_gives() -> None:
    """A command sets the very value, and makes a feature of its own name."""
    known = after(turn(1, says("photos", "cannot print on phone")), command(2, says("photos", "won't print by phone")))
    assert values(known) == {"photos": "won't print by phone"}
    assert (
        len(after(turn(1, says("photos", "cannot print on phone")), command(2, says("phone", "cannot print photos"))))
        == 2
    )
    kept_by_hand = after(
        command(1, says("photos", "cannot print on phone")), turn(2, says("phone", "can't print pictures"))
    )
    assert values(kept_by_hand) == {"photos": "cannot print on phone"}
    assert kept_by_hand["photos"].confidence == 2


def test_the_sentence_that_is_told_stays_as_it_was_first() -> None:
    """However often the fact is said again in other words, it is injected in one wording."""
    contents = ["The user can't print photos on the phone.", "The user's handset has no way to print pictures."]
    known = after(*(turn(n, says("photos", "cannot print on phone", one)) for n, one in enumerate(contents, 1)))
    assert known["photos"].content == contents[0]


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ("cannot open on this laptop", "won't open", "cannot open on this laptop"),
        ("can't open", "has no way to open it", "can't open"),
        ("is unable to open them", "cannot open on my computer", "cannot open on my computer"),
        ("plays tennis", "plays tennis in the park", "plays tennis in the park"),
    ],
)
def test_the_same_in_other_words_is_confirmed(one: str, other: str, kept: str) -> None:
    """Not being able, words that point, and a place or a time beside: the fuller value stays, nothing is replaced."""
    (feature,) = after(turn(1, says("photos", one)), turn(2, says("photos", other))).values()
    assert (feature.value, feature.confidence, len(feature.evidence), feature.history) == (kept, 2, 2, [])
    assert after(turn(2, says("fact", other)), turn(1, says("fact", one)))["fact"].confidence == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("can eat nuts", "can't eat nuts"),
        ("喜欢", "不喜欢"),
        ("2 children", "3 children"),
        ("-5 degrees", "5 degrees"),
        ("version 1.5", "version 15"),
        ("a child", "children"),
        ("dessert", "desert"),
        ("C++", "C#"),
        ("parent", "parents"),
        ("かき", "がき"),
        ("my sister is a nurse", "I am a nurse"),
        ("can open", "cannot open"),
        ("works in Leeds", "works in York"),
        ("York", "New York"),
        ("likes jazz", "likes jazz and rock"),
        ("lives in Leeds", "lives in Leeds in 2 houses"),
        ("works", "works at home no more"),
        ("manager", "IT manager"),
        ("vitamin A", "vitamin"),
    ],
)
def test_what_merely_looks_alike_is_another_value(one: str, other: str) -> None:
    """Another polarity, number or subject replaces; it never counts as the same again."""
    assert not is_same(one, other)
    (feature,) = after(turn(1, says("fact", one)), turn(2, says("fact", other))).values()
    assert (feature.value, feature.confidence, len(feature.history)) == (other, 1, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("programmer", "软件工程师"),
        ("low-sugar", "Low Sugar"),
        ("don’t know", "do not know"),
        ("無糖", "无糖"),
        ("程序员", "Programmer."),
    ],
)
def test_the_same_in_other_letters_is_the_same(one: str, other: str) -> None:
    """Letter case, width, script, contractions and the known names of one role make no other value."""
    (feature,) = after(turn(1, says("fact", one)), turn(2, says("fact", other))).values()
    assert (feature.value, feature.confidence) == (one, 2)


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("Milk", "milk ", True),
        ("apples", "apple", True),
        ("程序员", "软件工程师", True),
        ("蘋果", "苹果", True),
        ("DetailLevel", "detailLevel", True),
        ("C++", "C#", False),
        ("dinner", "diner", False),
        ("milk chocolate", "chocolate milk", False),
        ("coffee", "coffee shop", False),
        ("咖啡", "咖啡师", False),
        ("pet 1", "pet 2", False),
    ],
)
def test_a_slot_is_one_where_its_subject_is(one: str, other: str, is_one: bool) -> None:
    """letta-ai/letta#3397: one feature a label however it is spelled, and two subjects are never one label."""
    assert (subject_of(one) == subject_of(other)) is is_one
    assert len(after(turn(1, says(one, "a")), turn(2, says(other, "b")))) == (1 if is_one else 2)


def test_the_same_in_another_language_is_the_same() -> None:
    """Of one slot under either name, and of two names of one thing; it keeps its first words."""
    known = after(turn(1, says("tea", "likes")), turn(2, says("茶", "喜欢")))
    assert [(one.value, one.confidence, one.history) for one in known.values()] == [("likes", 2, [])]
    known = after(turn(1, says("almonds", "allergic")), turn(2, says("杏仁", "过敏")))
    assert [(slot, one.confidence) for slot, one in known.items()] == [("almonds", 2)]
    assert values(after(turn(1, says("tea", "likes")), turn(2, says("茶", "讨厌")))) == {"tea": "讨厌"}
