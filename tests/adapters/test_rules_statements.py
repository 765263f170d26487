"""The many ways in which users say outright who they are, and words that only look like them."""

import pytest

from pipeline.adapters.rules import RulesModel
from pipeline.domain.confidence import level
from pipeline.processing import Policy
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
        ("I fix bikes for a living", "bike repairer"),
        ("请记住我是护士", "护士"),
        ("你要记住我是做会计的，报税怎么省事", "会计"),
        ("Please remember that I am a nurse", "nurse"),
        ("I do hair and makeup for weddings", "beautician"),
        ("I code in COBOL at a bank", "software developer"),
        ("my job is cleaning offices, what mop is best", "cleaner"),
        ("my profession is translator", "translator"),
        ("I am doing my masters in economics", "student"),
        ("I volunteer at an animal shelter", "volunteer"),
        ("my job is payroll, deadline friday", "payroll specialist"),
        ("My role is scrum master, retro ideas", "scrum master"),
        ("we're beekeepers, wintering tips", "beekeeper"),
        ("my wife and I are both nurses", "nurse"),
        ("I own two laundromats, coin or card", "laundromat owner"),
        ("being a night guard, how do I stay awake", "night guard"),
        ("I tune pianos for a living", "piano tuner"),
        ("I make a living by trading stocks", "stock trader"),
        ("I fly planes for a living", "pilot"),
        ("I'm in sales at a car dealer", "sales specialist"),
        ("I practise law in Leeds", "lawyer"),
        ("I cook at a diner", "cook"),
        ("I coach a girls' volleyball team", "volleyball coach"),
        ("I study physics", "physics student"),
        ("quit the bar! started today as a court clerk", "court clerk"),
        ("I'm in the army, stationed far away", "army member"),
        ("hi all, florist here", "florist"),
        ("speaking as a carpenter, what glue?", "carpenter"),
        ("I'm your typical overworked junior doctor", "junior doctor"),
        ("I am a small business owner", "small business owner"),
        ("help with my cover letter. About me: I'm a nurse on a children's ward", "nurse"),
        ("我有个上初中的儿子，叛逆", "家长"),
        ("本人会计，报税季崩溃", "会计"),
        ("我从事保险行业十年了", "保险"),
        ("我教初中数学，学生算不对负数", "初中数学老师"),
        ("我带高三，晚自习怎么排", "高三老师"),
        ("我卖保险，客户不接电话", "保险代理人"),
        ("我是卖鱼的，夏天怎么保鲜", "鱼贩"),
        ("我养猪，饲料涨价", "养猪户"),
        ("我养了两百头羊", "养羊户"),
        ("我开大巴的，腰疼", "大巴司机"),
        ("我开卡车，长途犯困", "货车司机"),
        ("我开民宿，旺季怎么定价", "民宿老板"),
        ("我做服装批发，压货怎么办", "服装批发商"),
        ("我在公司帮老板做会计", "会计"),
        ("我当兵三年了", "军人"),
        ("我是 UX designer，作品集怎么排", "UX designer"),
        ("我是 Java 程序员", "Java 程序员"),
        ("我老公和我都是厨师", "厨师"),
        ("我和老婆都是老师", "老师"),
        ("我是演员，扮演医生要怎么准备", "演员"),
        ("我在银行上班，是理财专员", "理财专员"),
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
        ("I'm a lighthouse keeper, lens grease?", "lighthouse keeper"),
        ("I act as a treasurer for our club, what records do I keep", "treasurer"),
        ("She said to say who I am, so: I'm a plumber", "plumber"),
        ("He thinks I joke but I'm a judge", "judge"),
        ("I'm a sysadmin, my bash script fails", "sysadmin"),
        ("I'm a paramedic, first on scene, what do I check", "paramedic"),
        ("I'm a realtor, can I split the plot in two", "realtor"),
        ("我们是做短视频的，脚本咋写", "短视频从业者"),
        ("我是运维，脚本跑不起来", "运维"),
    ],
)
async def test_a_statement_of_any_form_is_learnt(question: str, role: str) -> None:
    """Work, trade, studies, family and office, with the subject or without, are stated as what they are."""
    assert any(role in name for name in (await learnt(question)).states)


@pytest.mark.parametrize(
    "question",
    [
        "been a long day",
        "I teach my dog tricks",
        "I teach my kid to ride a bike",
        "I'm a go-getter",
        "I'm a keeper",
        "I'm a generous giver",
        "I'm a terrible cook",
        "My job is harder than yours",
        "My role in this is unclear",
        "we're guests at a wedding",
        "being a good listener, how do I learn it",
        "I'm in sales meetings all day",
        "I cook at home every night",
        "I study the map before a trip",
        "I own a few shares",
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
        "我开玩笑的",
        "我写作业的时候困",
        "我做大餐的时候油溅",
        "我做梦的时候说话",
        "我送快递被拒收",
        "我送小孩上学",
        "我在家上班",
        "我在家做饭",
        "我开公司的车上班",
        "我开会的时候犯困",
        "我卖房子要交税吗",
        "我卖了旧手机",
        "我养了两只鸡",
        "我教你个办法",
        "我从事什么行业好",
        "我是 Jay Chou 的粉丝",
        "我跟我爸都是急性子",
        "假设你是导演，我是演员",
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


async def test_an_actor_is_not_the_part() -> None:
    """The trade of who plays parts is stated; the part is not."""
    assert (await learnt("我是演员，扮演医生要怎么准备")).identities == ["演员"]
