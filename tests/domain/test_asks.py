"""Facts about what plain words ask for."""

import pytest

from pipeline.domain.answering import ended_in
from pipeline.domain.asks import asked_preferences, decided_mode, language_of, with_plain_wishes
from pipeline.domain.preferences import prefer
from schemas.role import CommunicationPreferences, Extraction, PreferenceOrigins, PreferenceScopes, RoleMemory

REPORTS = [
    "research the history of sourdough",
    "please research this further",
    "Can you do some research on heat pumps?",
    "write a report on our options",
    "I need a detailed report about noise in open offices",
    "compare Kafka and RabbitMQ",
    "Compare these two contracts for me",
    "研究一下红烧肉的来历",
    "再深入研究一下",
    "帮我写一份市场分析报告",
    "对比一下这两款相机",
    "比较微服务和单体的优缺点",
]
ANSWERS = [
    "how do I write a report for my boss",
    "what does research say about naps",
    "my research is on coral reefs, which lens?",
    "how do I compare two strings in Python",
    "don't write a report, just tell me",
    "我是研究生，论文怎么开题",
    "研究表明喝咖啡好，真的吗",
    "报告怎么写才清楚",
    "哪个比较好",
    "不用写报告，说结论就行",
    'translate: "research the market"',
]


@pytest.mark.parametrize("text", REPORTS)
def test_a_report_is_decided_where_research_a_report_or_a_comparison_is_asked_for(text: str) -> None:
    """`auto` becomes `report` for a plain request for one, in both languages."""
    assert decided_mode(text, "auto") == "report"


@pytest.mark.parametrize("text", ANSWERS)
def test_words_about_reports_ask_for_none(text: str) -> None:
    """A question on writing reports, research as a thing, and a quoted request are answered."""
    assert decided_mode(text, "auto") == "answer"


@pytest.mark.parametrize("mode", ["answer", "report", "log"])
def test_a_mode_that_was_chosen_stays(mode: str) -> None:
    """Only `auto` is decided."""
    for text in (REPORTS[0], ANSWERS[0]):
        assert decided_mode(text, mode) == mode  # type: ignore[arg-type]  # the parameter's type is wider than a mode


@pytest.mark.parametrize(
    ("text", "field", "value", "scope"),
    [
        ("more detail please", "detailLevel", "COMPREHENSIVE", "conversation"),
        ("keep it short: which wood for a chopping board?", "detailLevel", "CONCISE", "conversation"),
        ("just this once, keep it short", "detailLevel", "CONCISE", "turn"),
        ("I always want long answers", "detailLevel", "COMPREHENSIVE", "stable"),
        ("Whatever I ask, always show me examples", "responseFormat", "STRUCTURED_WITH_EXAMPLES", "stable"),
        ("medium length is fine", "detailLevel", "BALANCE", "conversation"),
        ("step by step please, no theory", "contentDepth", "PRACTICAL", "conversation"),
        ("explain the theory behind it", "contentDepth", "CONCEPTUAL", "conversation"),
        ("just the big picture", "contentDepth", "OVERVIEW", "conversation"),
        ("这次简单说", "detailLevel", "CONCISE", "turn"),
        ("详细点", "detailLevel", "COMPREHENSIVE", "conversation"),
        ("我一向喜欢详细的解释，说详细点", "detailLevel", "COMPREHENSIVE", "stable"),
        ("以后都用例子说", "responseFormat", "STRUCTURED_WITH_EXAMPLES", "stable"),
        ("别太长，也别太短，中等篇幅", "detailLevel", "BALANCE", "conversation"),
        ("不要讲理论，直接教我怎么做", "contentDepth", "PRACTICAL", "conversation"),
        ("讲讲背后的原理", "contentDepth", "CONCEPTUAL", "conversation"),
        ("我一向喜欢看例子，概率里的独立是啥", "responseFormat", "STRUCTURED_WITH_EXAMPLES", "stable"),
        ("我總是喜歡看實例", "responseFormat", "STRUCTURED_WITH_EXAMPLES", "stable"),
        ("我喜欢看例子", "responseFormat", "STRUCTURED_WITH_EXAMPLES", "conversation"),
        ("我是个喜欢看例子的人", "responseFormat", "STRUCTURED_WITH_EXAMPLES", "stable"),
        ("我素来偏好简短", "detailLevel", "CONCISE", "stable"),
        ("本人一贯注重细节", "detailLevel", "COMPREHENSIVE", "stable"),
        ("我历来习惯先搞懂原理", "contentDepth", "CONCEPTUAL", "stable"),
        ("我一般都喜欢直接上手", "contentDepth", "PRACTICAL", "stable"),
        ("我平时都喜欢先看大框架", "contentDepth", "OVERVIEW", "stable"),
        ("I've always preferred to see examples", "responseFormat", "STRUCTURED_WITH_EXAMPLES", "stable"),
        ("I tend to learn best by doing", "contentDepth", "PRACTICAL", "stable"),
        ("I'm the kind of person who needs the details", "detailLevel", "COMPREHENSIVE", "stable"),
        ("I always like to know why", "contentDepth", "CONCEPTUAL", "stable"),
        ("From now on give me long detailed answers", "detailLevel", "COMPREHENSIVE", "stable"),
        ("Going forward, step by step please", "contentDepth", "PRACTICAL", "stable"),
        ("short answer please: what will happen in the future", "detailLevel", "CONCISE", "conversation"),
        ("以后回答都要短", "detailLevel", "CONCISE", "stable"),
        ("以后回答都要长一些", "detailLevel", "COMPREHENSIVE", "stable"),
        ("今后请用表格", "responseFormat", "STRUCTURED_WITH_EXAMPLES", "stable"),
        ("以后答案尽量简短", "detailLevel", "CONCISE", "stable"),
        ("don't skip the details", "detailLevel", "COMPREHENSIVE", "conversation"),
    ],
)
def test_plain_words_ask_for_a_preference_with_its_scope(text: str, field: str, value: str, scope: str) -> None:
    """A wish has a value, and reaches as far as its words say."""
    assert (field, value, scope) in [(asked.field, asked.value, asked.scope) for asked in asked_preferences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "what is a firewall?",
        "a brief history teacher joke",
        "简单的菜谱有吗",
        "my essay is short",
        '"keep it short" is on the sign',
        "我女儿喜欢看例子",
        "我老公一向喜欢详细的解释",
        "my sister always likes long answers",
        "I always like short films",
        "我总想睡觉",
    ],
)
def test_ordinary_words_ask_for_nothing(text: str) -> None:
    """Words such as short or 简单 are no wish by themselves; a quotation and what others like ask for nothing."""
    assert asked_preferences(text) == ()


def test_the_last_wish_of_a_text_wins() -> None:
    """Who changes their mind within one question gets what they said last."""
    (asked,) = asked_preferences("keep it short. no wait, in detail please")
    assert asked.value == "COMPREHENSIVE"


def test_the_quote_of_a_wish_is_in_the_text() -> None:
    """Every wish can be shown in the user's own words."""
    text = "please keep it brief, and with examples"
    assert all(asked.quote in text for asked in asked_preferences(text))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("how do I bake bread", "en"),
        ("怎么做面包", "zh"),
        ("召回侧加了 user embedding", "zh"),
        ("how do you read 饕餮 aloud", "en"),
        ("🙏", "en"),
        ("學生怎麼買票", "zh"),
        ("GORM报no such table错误", "zh"),
        ("cannot open shared object file 咋解决", "zh"),
        ("how do I say 谢谢你 in Danish", "en"),
    ],
)
def test_the_language_is_that_of_most_of_the_words(text: str, language: str) -> None:
    """A few foreign words do not change the language of a question."""
    assert language_of(text) == language


def test_plain_wishes_go_in_where_the_model_heard_none() -> None:
    """A model that misses or only guesses a wish does not lose it; one that heard it has the last word."""
    question = "Keep it short please, with examples."
    heard = with_plain_wishes(Extraction(), question)
    assert heard.preferences.detail_level == "CONCISE"
    assert heard.preference_scopes.detail_level == "conversation"
    guessed = Extraction(
        preferences=CommunicationPreferences(detail_level="COMPREHENSIVE", content_depth="PRACTICAL"),
        preference_scopes=PreferenceScopes(detail_level="inferred", content_depth="inferred"),
    )
    completed = with_plain_wishes(guessed, question)
    assert completed.preferences.detail_level == "CONCISE"
    assert completed.preferences.content_depth == "PRACTICAL"
    said = Extraction(
        preferences=CommunicationPreferences(detail_level="BALANCE"),
        preference_scopes=PreferenceScopes(detail_level="turn"),
    )
    assert with_plain_wishes(said, question).preferences.detail_level == "BALANCE"


@pytest.mark.parametrize(
    ("text", "value", "instead"),
    [
        ("I no longer want short answers", "CONCISE", "BALANCE"),
        ("You can stop being so brief now", "CONCISE", "BALANCE"),
        ("I don't want detailed explanations any more", "COMPREHENSIVE", "CONCISE"),
        ("Could you stop writing essays", "COMPREHENSIVE", "CONCISE"),
        ("Stop using bullet points", "STRUCTURED_WITH_EXAMPLES", "DETAILED"),
        ("No more tables, please", "STRUCTURED_WITH_EXAMPLES", "DETAILED"),
        ("Stop giving me examples", "STRUCTURED_WITH_EXAMPLES", None),
        ("I'm tired of theoretical answers", "CONCEPTUAL", "PRACTICAL"),
        ("I'd rather not have bullet points any more", "STRUCTURED_WITH_EXAMPLES", "DETAILED"),
        ("Bullet points are no longer needed", "STRUCTURED_WITH_EXAMPLES", "DETAILED"),
        ("Cancel my wish for short answers", "CONCISE", "BALANCE"),
        ("能不能别再用表格了", "STRUCTURED_WITH_EXAMPLES", "DETAILED"),
        ("别再那么啰嗦了", "COMPREHENSIVE", "CONCISE"),
        ("I no longer need step by step instructions", "PRACTICAL", None),
        ("别再用表格了", "STRUCTURED_WITH_EXAMPLES", "DETAILED"),
        ("要点就不用列了", "STRUCTURED_WITH_EXAMPLES", "DETAILED"),
        ("不用那么详细了", "COMPREHENSIVE", "CONCISE"),
        ("我不再需要简短的回答", "CONCISE", "BALANCE"),
        ("不要再講原理了", "CONCEPTUAL", "PRACTICAL"),
        ("别再举例子了", "STRUCTURED_WITH_EXAMPLES", None),
    ],
)
def test_a_wish_that_is_over_ends_and_asks_for_what_there_is_instead(
    text: str, value: str, instead: str | None
) -> None:
    """By its value, so that no other wish of its kind ends; what is wanted instead holds for the conversation."""
    assert value in [over.value for over in ended_in(text)]
    assert [asked.value for asked in asked_preferences(text)] == ([instead] if instead else [])
    assert {asked.scope for asked in asked_preferences(text)} <= {"conversation"}


@pytest.mark.parametrize(
    ("text", "value", "scope"),
    [
        ("No more short answers, I want the details", "COMPREHENSIVE", "stable"),
        ("Stop using bullet points and write in full paragraphs instead", "DETAILED", "stable"),
        ("From now on no more bullet points", "DETAILED", "stable"),
        ("不再要表格了，用段落写", "DETAILED", "stable"),
        ("Stop using lists just this once", "DETAILED", "turn"),
        ("Don't use bullet points", "DETAILED", "conversation"),
        ("I don't want long answers", "CONCISE", "conversation"),
        ("别老是用列表", "DETAILED", "conversation"),
    ],
)
def test_what_takes_the_place_of_a_wish_reaches_as_far(text: str, value: str, scope: str) -> None:
    """A lasting wish gives way to a lasting one; what is not wanted this time, or here, ends nothing."""
    assert [(asked.value, asked.scope) for asked in asked_preferences(text)] == [(value, scope)]
    assert bool(ended_in(text)) == (scope == "stable")


@pytest.mark.parametrize(
    "text",
    [
        "How do I stop using bullet points in my CV?",
        "Should I stop writing short answers in exams?",
        "There are no more tables at the restaurant",
        "No more tables are free",
        "My teacher no longer wants short answers",
        "I no longer speak French",
        "I no longer like French fries",
        "I stopped using lists in Python",
        "why don't you keep it short",
        "stop using French words in my essay",
        "Stop using tables, use bullet points",
        "Stop",
        "Bullet points are no longer supported in Markdown",
        "We no longer need lists in our Python code",
        "drop the table users",
        "取消详细地址",
        "怎么停止使用列表",
        "那家店的表格不用了",
        "不用了",
    ],
)
def test_other_things_that_are_over_end_no_wish(text: str) -> None:
    """Questions, other people, tables of wood, and a form that is asked for again in the same breath."""
    assert not [over for over in ended_in(text) if over.field]


@pytest.mark.parametrize(
    "text",
    [
        "I no longer need the table, cancel the reservation.",
        "No more lists, I did all the shopping.",
        "No more tables, they are all taken.",
        "I'm tired of tables, I want a bar stool.",
        "Cancel the tables.",
        "I changed my mind about the table, we'd rather sit outside.",
        "I'm done with my lists.",
        "I no longer need tables.",
        "No more details, the police said.",
        "Forget the table, give me the number.",
        "清单不用了，我买好了",
        "清单不用了",
        "别再列清单了，老婆都买好了",
        "列表不用了，换字典",
        "表格就不要了，直接发我文档",
        "取消清单",
        "No more short ones, I like long skirts.",
        "Enough with the short ones, show me longer dresses.",
        "I don't want lists, I want sets in Python.",
        "I don't want a table, I want a view in SQL.",
        "Don't use lists here, use tuples.",
        "I'm done with lists, how do I use dicts in Python?",
        "不要短的，要长的裙子",
        "老板说以后别再用表格了",
    ],
)
def test_what_has_the_name_of_a_form_ends_and_asks_for_nothing(text: str) -> None:
    """Tables to sit at, lists of a program or of the shop, and what somebody else does not want."""
    assert ended_in(text) == []
    assert with_plain_wishes(Extraction(), text) == Extraction()


def test_a_wish_of_the_conversation_is_withdrawn_there() -> None:
    """The stored one goes, where nothing is wanted instead; for this time alone it stays."""
    memory = RoleMemory(
        preferences=CommunicationPreferences(response_format="STRUCTURED_WITH_EXAMPLES"),
        preference_origins=PreferenceOrigins(response_format="asked"),
    )
    over = prefer(memory, with_plain_wishes(Extraction(), "No more examples please."), identity_accepted=False)
    assert (over.stored.response_format, over.origins.response_format, over.changed) == (None, None, True)
    forgotten = with_plain_wishes(Extraction(), "Forget the bullet points.")
    assert prefer(memory, forgotten, identity_accepted=False).stored.response_format is None
    once = prefer(memory, with_plain_wishes(Extraction(), "No examples this time."), identity_accepted=False)
    assert once.stored == memory.preferences


def test_a_model_that_hears_the_wish_in_its_end_is_overruled() -> None:
    """ "No more tables" is no wish for tables, whatever the model made of it; another value of its stays."""
    heard = Extraction(
        preferences=CommunicationPreferences(response_format="STRUCTURED_WITH_EXAMPLES", detail_level="CONCISE"),
        preference_scopes=PreferenceScopes(response_format="stable", detail_level="conversation"),
    )
    read = with_plain_wishes(heard, "No more tables please, and no essays any more.")
    assert (read.preferences.response_format, read.preference_scopes.response_format) == ("DETAILED", "conversation")
    assert read.preferences.detail_level == "CONCISE"
