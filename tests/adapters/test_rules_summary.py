"""The offline rules' summary: goal, problem, advice and next step in plain English and Chinese words."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from pipeline.adapters.rules.summarising import summarised
from pipeline.domain.summary import read_summary
from pipeline.ports import Said
from schemas.features import Summary

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def after(previous: Summary, *texts: str) -> Summary:
    """The summary after these messages, the user's and the assistant's in turn, as code keeps it."""
    said = [Said("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)]
    summary = read_summary(summarised(previous, said), previous, said, turn=previous.turn + 1, at=NOW)
    assert summary is not None
    return summary


def of(*texts: str) -> Summary:
    return after(Summary(), *texts)


def parts(summary: Summary) -> Sequence[str]:
    return summary.target, summary.blocker, summary.suggestion, summary.next_step


@pytest.mark.parametrize(
    ("said", "target"),
    [
        ("我是Go新手，目标做一个Gin+GORM的项目", "做一个Gin+GORM的项目"),
        ("我想做一个记账小程序，怎么开始？", "做一个记账小程序"),
        ("我打算用Rust写一个编译器", "用Rust写一个编译器"),
        ("我的目标是半年内通过日语N2考试", "半年内通过日语N2考试"),
        ("我想做一個記帳小程式", "做一個記帳小程式"),
        (
            "I want to build a web shop with Go, Gin and GORM, where do I start?",
            "build a web shop with Go, Gin and GORM",
        ),
        ("I'm trying to restore an old canoe but the varnish peels", "restore an old canoe"),
        ("My goal is to run a marathon in May.", "run a marathon in May"),
        ("I’m building a chess engine", "building a chess engine"),
        ("什么是目标检测？", ""),
        ("我想做什么好？", ""),
        ("我不想做这个项目", ""),
        ("如果我想做一个项目，要多久？", ""),
        ("What should my goal be?", ""),
        ("If I want to build a house, which permits do I need?", ""),
        ("I don't want to build a house", ""),
        ("My sister wants to build a house", ""),
        ('Translate: "I want to build a house"', ""),
    ],
)
def test_a_goal_is_told_by_its_words(said: str, target: str) -> None:
    """In the user's words; a question, a condition, somebody else's goal and a quoted one are none."""
    assert of(said).target == target


@pytest.mark.parametrize(
    ("said", "blocker"),
    [
        ("GORM报no such table错误", "GORM报no such table错误"),
        ("项目跑不通，帮我看看", "项目跑不通"),
        ("I get a no such table error from GORM. Why?", "I get a no such table error from GORM"),
        ("The pump doesn't work, which seal?", "The pump doesn't work"),
        ("I'm stuck at the login page", "I'm stuck at the login page"),
        ("什么是报错？", ""),
        ("What is a NullPointerException?", ""),
        ("Which apples are sweet?", ""),
    ],
)
def test_a_problem_is_told_by_its_words(said: str, blocker: str) -> None:
    """Its clause is the blocker; a question about the word is none."""
    assert of(said).blocker == blocker


@pytest.mark.parametrize(
    ("said", "blocker"),
    [
        ("That fixed it, thanks", ""),
        ("解决了，谢谢", ""),
        ("搞定了", ""),
        ("还没解决", "the server doesn't start"),
        ("It still doesn't work", "the server doesn't start"),
        ("Did you think it is solved?", "the server doesn't start"),
        (
            "That fixed it, but the port is in use and nothing responds: connection refused",
            "the port is in use and nothing responds: connection refused",
        ),
    ],
)
def test_the_last_unresolved_problem_stands(said: str, blocker: str) -> None:
    """ "It still fails" is the known one; a solved one goes, and a new one takes its place."""
    assert after(Summary(blocker="the server doesn't start", turn=1), said).blocker == blocker


def test_the_advice_of_the_last_answer_is_kept_in_a_line() -> None:
    """Its first sentence of advice, without bullets and code; an answer without advice leaves the one before."""
    answer = "Good question.\n```\nrun me\n```\n1. **Run** AutoMigrate before the first query. It makes the table."
    first = of("My table is missing", answer)
    assert first.suggestion == "Run AutoMigrate before the first query"
    assert after(first, "Why?", "Tables are made once.").suggestion == first.suggestion
    assert of("表呢？", "建议先建表，再查询。").suggestion == "建议先建表，再查询"


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("Next I'll write the tests", "write the tests"),
        ("My next step is to sand the hull.", "sand the hull"),
        ("接下来我写登录接口", "写登录接口"),
        ("下一步先部署到服务器", "部署到服务器"),
        ("接下来怎么办？", ""),
        ("What comes next?", ""),
    ],
)
def test_the_next_step_is_told_by_its_words(said: str, step: str) -> None:
    """What the user says they do, and not what they ask for."""
    assert of(said).next_step == step


def test_the_project_is_still_there_after_milk_and_apples() -> None:
    """The goal and the problem outlive the asides, and nothing of the asides becomes one."""
    summary = of(
        "我是Go新手，目标做一个Gin+GORM的项目",
        "建议先用AutoMigrate建表。",
        "GORM报no such table错误",
        "请检查是否迁移了。",
        "我买牛奶只买低糖的，苹果不要酸的",
        "好的。",
    )
    summary = after(summary, "苹果有甜的有酸的，我买哪种？", "买甜的。")
    assert parts(summary) == ("做一个Gin+GORM的项目", "GORM报no such table错误", "请检查是否迁移了", "")


def test_another_goal_replaces_when_it_is_called_one() -> None:
    """A wish beside a known goal is an aside, unless a word says that the goal changed."""
    known = of("I want to build a web shop")
    assert after(known, "I want to make an omelette").target == "build a web shop"
    assert after(known, "My goal is now a chess engine").target == "a chess engine"
    assert after(known, "I want to build a chess engine instead").target == "build a chess engine"
    assert after(of("我想做一个记账小程序"), "我改做一个爬虫了").target == "做一个爬虫"


def test_hostile_text_is_read_in_bounded_time() -> None:
    """Long runs of what the rules look for."""
    for text in ("我想做" * 10_000, "I get " * 5_000, "报" * 30_000, "next i'll " * 3_000, "，" * 30_000):
        assert len(summarised(Summary(), [Said("user", text)])) == 4
