"""The default measure tells the same, a form and a sibling from what merely looks alike."""

import pytest

from pipeline.domain.similarity import Relation, covers, lexical, more_specific, relation, settled
from pipeline.domain.spelling import simplified
from tests.bench.similarity import read_pairs

SAME, FORM, GENERAL = Relation.SAME, Relation.FORM, Relation.GENERAL
SIBLING, RIVAL, NONE = Relation.SIBLING, Relation.RIVAL, Relation.NONE


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("Software_Engineer", "software engineer", SAME),
        ("engineer, software", "software engineer", SAME),
        ("teacher of primary school", "Primary-School Teacher", SAME),
        ("programmer", "软件开发工程师", SAME),
        ("attorney", "lawyer", SAME),
        ("paediatric nurse", "pediatric nurse", SAME),
        ("acountant", "accountant", SAME),
        ("學生", "学生", SAME),
        ("程式設計師", "程序员", SAME),
        ("ＩＴ support", "it support", SAME),
        ("数学老师", "maths teacher", SAME),
        ("mother of 2 kids", "两个孩子的妈妈", SAME),
        ("修表师傅", "修表匠", SAME),
        ("infirmière", "nurse", SAME),
        ("護理師", "护士", SAME),
        ("web dev", "web developer", SAME),
        ("hair dresser", "hairdresser", SAME),
        ("jewellery maker", "jewelry maker", SAME),
        ("烧焊的", "焊工", SAME),
        ("Sys-Admin", "sysadmin", SAME),
        ("senior sys admin", "senior system administrator", SAME),
        ("longshoreman", "dock worker", SAME),
        ("俩娃的妈", "两个孩子的妈妈", SAME),
        ("行銷人員", "营销人员", SAME),
        ("軟體測試工程師", "软件测试工程师", SAME),
        ("品質工程師", "质量工程师", SAME),
        ("專案經理", "project manager", SAME),
    ],
)
def test_the_same_concept(one: str, other: str, wanted: Relation) -> None:
    """Case, order, spelling, synonyms, script and language do not make another role."""
    assert relation(one, other) is wanted
    assert lexical(one, other) == 1


@pytest.mark.parametrize(
    ("form", "general"),
    [
        ("大学生", "学生"),
        ("backend engineer", "software engineer"),
        ("ward nurse", "护士"),
        ("高三学生", "高中生"),
        ("护士长", "护士"),
        ("外卖骑手", "骑手"),
        ("mother of two", "parent"),
        ("cellist", "musician"),
        ("structural engineer", "engineer"),
        ("junior UX designer", "designer"),
        ("sophomore", "student"),
        ("software developer", "developer"),
        ("tax consultant", "consultant"),
        ("bakery owner", "business owner"),
        ("army sergeant", "soldier"),
        ("建筑工人", "工人"),
        ("兽医", "医生"),
        ("代驾", "司机"),
    ],
)
def test_a_form_of_the_other(form: str, general: str) -> None:
    """The more specific of two is told from the general one, and covers it the one way only."""
    assert relation(form, general) is FORM
    assert relation(general, form) is GENERAL
    assert covers(general, form)
    assert not covers(form, general)
    assert more_specific(general, form) == more_specific(form, general) == form
    assert 0.8 <= lexical(form, general) < 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("maths teacher", "English teacher"),
        ("數學老師", "英文老師"),
        ("bus driver", "货车司机"),
        ("frontend developer", "backend developer"),
        ("滑雪教练", "武术教练"),
        ("川菜厨师", "粤菜厨师"),
    ],
)
def test_siblings_agree(one: str, other: str) -> None:
    """Two kinds of one role are compatible."""
    assert relation(one, other) is SIBLING
    assert lexical(one, other) >= 0.8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("structural engineer", "sound engineer"),
        ("product manager", "project manager"),
        ("数据分析师", "财务分析师"),
        ("urologist", "neurologist"),
        ("oncologist", "ontologist"),
        ("employer", "employee"),
        ("shop owner", "shipowner"),
        ("commuter", "computer"),
        ("barista", "barrister"),
        ("导游", "导演"),
        ("木匠", "石匠"),
        ("car owner", "cat owner"),
        ("guitar beginner", "piano beginner"),
        ("摄影爱好者", "烹饪爱好者"),
        ("user", "user"),
        ("用户", "用户"),
        ("native English speaker", "non-native English speaker"),
        ("英语母语者", "英语非母语者"),
        ("licensed electrician", "unlicensed electrician"),
        ("insured driver", "uninsured driver"),
        ("former nurse", "nurse"),
        ("准护士", "护士"),
        ("儿科医生的丈夫", "儿科医生"),
        ("nurse's daughter", "nurse"),
        ("小学生家长", "小学生"),
        ("会计助理", "会计"),
        ("teaching assistant", "teacher"),
        ("退伍军人", "军人"),
        ("社工", "工人"),
        ("car owner", "business owner"),
    ],
)
def test_what_does_not_agree(one: str, other: str) -> None:
    """General heads, vague words, look-alikes, polarity and another subject make nothing agree."""
    assert relation(one, other) is NONE
    assert lexical(one, other) < 0.8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("grade 3 teacher", "grade 4 teacher"),
        ("mother of two", "mother of three"),
        ("两个孩子的妈妈", "三个孩子的妈妈"),
        ("second-year apprentice", "third-year apprentice"),
        ("高二学生", "高三学生"),
    ],
)
def test_another_number_is_a_rival(one: str, other: str) -> None:
    """The same kind of role with another number does not agree, and is known for what it is."""
    assert relation(one, other) is RIVAL
    assert lexical(one, other) < 0.8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bell ringer", "campanologist"),
        ("磨剪子的", "磨刀匠人"),
        ("lighthouse keeper", "灯塔看守人"),
        ("former campanologist", "former bell ringer"),
    ],
)
def test_the_lists_cannot_tell(one: str, other: str) -> None:
    """Where they do not know one of two plain names, another opinion may."""
    assert not settled(one, other)
    assert lexical(one, other) < 0.8


@pytest.mark.parametrize("kind", ["polarity", "number", "subject", "anybody"])
def test_the_lists_settle_what_other_measures_do_not_see(kind: str) -> None:
    """Opposites, numbers, whose wife somebody is and words that fit anybody are nobody else's to judge."""
    pairs = [pair for pair in read_pairs() if pair.kind == kind]
    assert len(pairs) > 20
    assert [pair for pair in pairs if not pair.settled] == []


def test_every_labelled_pair_reads_the_same_from_both_sides() -> None:
    """Symmetry and range, on real descriptions."""
    for pair in read_pairs():
        assert lexical(pair.one, pair.other) == lexical(pair.other, pair.one)
        assert 0 <= lexical(pair.one, pair.other) <= 1
        assert settled(pair.one, pair.other) is settled(pair.other, pair.one)


def test_traditional_characters_are_simplified_ones() -> None:
    """No pair is judged differently for the script that it is written in."""
    pairs = [pair for pair in read_pairs() if pair.lang == "hant"]
    assert len(pairs) > 50
    for pair in pairs:
        assert lexical(pair.one, pair.other) == lexical(simplified(pair.one), simplified(pair.other))
        assert lexical(pair.one, simplified(pair.one)) == 1 or pair.kind == "anybody"
