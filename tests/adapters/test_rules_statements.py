"""The many ways in which users say outright who they are, and words that only look like them."""

import pytest

from pipeline.adapters.rules import RulesModel
from pipeline.domain.confidence import level
from pipeline.ports import Policy
from pipeline.processors.role_extraction import extract
from schemas.role import Extraction
from tests.measures.conversation import memories


async def learnt(question: str) -> Extraction:
    extraction = (await extract(question, (), RulesModel())).extraction
    assert extraction is not None
    return extraction


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("I work nights at a petrol station, how do I stay awake?", "petrol station worker"),
        ("I'm employed at a call centre", "call centre worker"),
        ("Been a nurse for ten years, still hate night shifts", "nurse"),
        ("As someone who teaches chess to kids, which opening first?", "chess teacher"),
        ("We run a small dairy farm, how much feed per cow?", "dairy farmer"),
        ("I manage a hotel, guests complain of noise", "hotel manager"),
        ("I'm head of logistics at a furniture company", "head of logistics"),
        ("I'm on the town council, how do minutes work?", "town council member"),
        ("I fix bikes for a living", "bikes repairer"),
        ("I do hair and makeup for weddings", "beautician"),
        ("I code in COBOL at a bank", "software developer"),
        ("my job is cleaning offices, what mop is best", "cleaner"),
        ("my profession is translator", "translator"),
        ("I am doing my masters in economics", "student"),
        ("I volunteer at an animal shelter", "volunteer"),
        ("I'm in the army, stationed far away", "army member"),
        ("hi all, florist here", "florist"),
        ("speaking as a carpenter, what glue?", "carpenter"),
        ("I'm your typical overworked junior doctor", "junior doctor"),
        ("I am a small business owner", "small business owner"),
        ("help with my cover letter. About me: I'm a nurse on a children's ward", "nurse"),
        ("我有个上初中的儿子，叛逆", "家长"),
        ("我在读研，导师不管我", "研究生"),
        ("我学的是土木工程", "土木工程专业学生"),
        ("我的职业是律师", "律师"),
        ("我做了十年销售了", "销售"),
        ("我跑货运，油费怎么省", "货车司机"),
        ("我摆摊卖煎饼", "煎饼"),
        ("我种了三十亩苹果", "苹果种植户"),
        ("我包了个鱼塘", "鱼塘承包户"),
        ("我已经退休，想学书法", "退休人员"),
        ("我正在找工作", "求职者"),
        ("我刚生完孩子", "新手妈妈"),
        ("我负责公司的招聘", "招聘负责人"),
        ("我管着一个二十人的团队", "团队负责人"),
        ("我在日本留学", "留学生"),
        ("我在做芯片的研发", "芯片研发人员"),
        ("在电子厂上班太累了，想换个活", "电子厂职员"),
        ("在重庆读大学的第二年，想家", "学生"),
        ("我是财经大学的", "财经大学学生"),
        ("程序员一枚，求推荐键盘", "程序员"),
        ("当老师的我每天嗓子疼", "老师"),
        ("我是公司里一个普通的员工", "公司员工"),
    ],
)
async def test_a_statement_of_any_form_is_learnt(question: str, role: str) -> None:
    """Work, trade, studies, family and office, with the subject or without, are stated as what they are."""
    assert any(role in name for name in (await learnt(question)).states)


@pytest.mark.parametrize(
    "question",
    [
        "been a long day",
        "I'm head of the queue",
        "I'm on the board game forum",
        "I do nails at home sometimes",
        "my job is killing me",
        "I work at it every day",
        "I work at the kitchen table",
        "I have a shop vac",
        "I started a business book yesterday",
        "we run a small test first",
        "I'm reading history books",
        "I'm doing a master list of tasks",
        "I'm on my second year of marriage",
        "I had a great time",
        "vinegar, soy sauce and garlic",
        "I am the owner of a broken phone",
        "keep speaking as a pirate",
        "在日本读书要花多少钱",
        "听说在工厂上班很累",
        "他在大连上学一年多了",
        "招聘会计一名，怎么写文案",
        "一个护士路过",
        "我在考虑换工作",
        "我在北京工作",
        "我大四川的火锅最好吃",
        "我的专业是不是冷门",
        "我做了三年的梦",
        "我开了三年的车该保养了",
        "我在做一个设计",
        "我租了个房子，合同怎么看",
        "当老师的我妈天天上班",
        "我看到真的跪了",
        "我是装懂的",
        "我只是碰到了一个好教练",
        "那时我上初二",
        "我是坐司机的车来的",
        "我负责买菜他负责做饭",
        "我有个亲戚的孩子",
    ],
)
async def test_words_that_look_like_a_statement_are_none(question: str) -> None:
    """The same words about something else state nothing."""
    assert (await learnt(question)).states == []


@pytest.mark.parametrize(
    "questions",
    [
        ["How does a telescope gather light?", "And who built the first one?", "Does one see nebulae with it?"],
        ["Cats are curious animals.", "Cats have whiskers.", "Her favourite fruit is mango.", "Slow."],
        ["Can you explain how solar panels work?", "What are they made of?", "Which countries use solar panels?"],
        ["I'm thinking of getting life insurance.", "Which policy would you recommend?", "And how long does it run?"],
        ["My car needs new tyres.", "What about winter tyres?", "And if I drive an electric car?", "Which tyre size?"],
        ["望远镜是谁发明的", "望远镜的原理是什么", "那目镜是什么"],
    ],
)
async def test_what_anybody_may_ask_leaves_a_role_low(questions: list[str]) -> None:
    """However long a subject goes on, asking about the world, or what to buy, makes nobody sure of a role."""
    assert {level(memory.confidence_score) for memory in await memories(questions, RulesModel(), Policy())} == {"LOW"}
