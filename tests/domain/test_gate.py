"""What costs no model call, and, more important, what does: a missed skip costs a call, a wrong one costs learning."""

import time

import pytest

from pipeline.domain.asks import asked_preferences
from pipeline.domain.gate import teaches_nothing
from pipeline.words import words

SKIPPED = """
hi
Hey!
hello there
good morning :)
Good evening, everyone
how are you?
how's it going
thanks
Thank you so much!!
ok thanks
ok, thanks a lot for your help
thx
tysm 🙏
cheers mate
ok
OKAY.
okkkk
k
yes
yes please
no
nope, thanks
yep, got it
I see
i see, thanks
I understand now
makes sense, thank you
that makes sense
got it 👍
great!
perfect, that's all for now
that worked, thanks
lol
lol nice one
haha
hahahahaha
LMAO
hmm
hmmmm ok
wow
awesome
sorry
no worries
bye
see you tomorrow
good night
brb
go on
Go on please
continue
please continue
keep going
and then?
next
try again
are you there?
test
who are you?
are you a bot
I'm back
thanks, I'll try that
what is 17 times 6?
ok, what is 17 times 6?
12*8
12 * 8 = ?
(3 + 4) * 12
What's 15% + 3?
three plus four
how much is 100 divided by 8
calculate 12 + 30
17乘以6等于多少
3加5等于几
三加五等于几？
12 × 8 是多少
42
...
。。。
?
？？？
🙏🙏
👌
🍞🍞
:)
^_^
https://example.org/some/page?x=1
http://example.org
www.example.org
merci
merci beaucoup
gracias
vale vale jaja
danke
obrigado
grazie mille
спасибо
ありがとう
你好
您好！
早上好
在吗
在吗？
谢谢
謝謝你
多谢啦
谢谢师傅
谢谢老师，辛苦了
老师好
非常感谢！
好
好的
好的，谢谢
好滴好滴
行
可以
嗯
嗯嗯
嗯嗯嗯嗯
哦哦
哈哈
哈哈哈哈 明白了
哈哈哈哈哈哈笑死
呵呵
明白了，谢谢
我明白了
我懂了
知道了
知道了知道了
原来如此
原来是这样啊
對對對
没错
是的
不是
不用了，谢谢
没事了
厉害
太棒了！
真棒👍
牛逼
666
继续
請繼續
继续说
接着说吧
然后呢？
还有吗
再来一次
再见
拜拜
晚安
先这样
你是谁
你是机器人吗
我试试
thx 了
ok 好的
好的 thanks
逗你的
"""

ASKED = """
I am a nurse
I'm a nurse, thanks
im a plumber
as a teacher
nurse here, hi
hi, RN here
yes, I'm the manager
no, I'm not a doctor
not a doctor
no, a teacher
I teach
I work nights
I'm retired
I'm not
I am
I'm good at maths
my pump is stuck
thanks, my students loved it
thanks, my wife is happy
ok so for my class then
our class
we won
shorter please
ok shorter
shorter
too long
too long, thanks
in short
simpler
more detail pls
more detail
keep it brief
ok but be brief
just the answer
yes or no
step by step please
with examples please
examples please
bullet points
always short please
in French please
in english
thanks, but shorter next time
don't go on
explain
explain why
why?
why
how so?
what is a subnet mask?
and a gateway
what is DNA
what is it
define osmosis
whats macaronage exactly
what is 401k
what is 1099
how much is a 2x4
how much is 30 mmol in grams
17 patients, 6 nurses
5 kids
2nd year
typo!! third-year, not second-year
third-year
ok and static linking qt
ok thx, and can that be done per namespace
moveToThread before or after connecting
next, how do I wire a socket
continue the story about the nurse
go on about the ward
summarise https://example.org/paper
https://example.org is my shop
call me Robin
remember that I like tea
good morning class
good morning from the ward
I like jazz
love jazz
help
help me
SBAR
mypy
vegan
Berlin
👩‍⚕️ here
tell me about bees
haha my boss again
lol I'm a pirate
sorry, I meant third-year
no more sugar
thanks doctor, I am one too
soy maestra
no, no soy estudiante, soy maestra de primaria
merci, je suis apiculteur
plus court
más corto
我是护士
我是老师
我不是老师
不是老师
不是老师，谢谢
是医生，谢谢
不是，是医生，谢谢
谢谢，不是老师
no, boss, thanks
is chief, thanks
thanks, not really, doc
我不是
不是，我是学生
是的，我是护士
我当老师
老师
护士
本人律师
作为老师
谢谢，我是护士
谢谢，我先生是医生
你好，我是学生
好的，我们店里用
嗯，我女儿也是
哈哈我也是程序员
我也是
我喜欢爵士乐
我姓王
叫我小林
简单点
简单点，谢谢
短一点
短点
太长了
太啰嗦
详细点
好的，详细点
继续，详细点
说短点
别太短
举个例子
多举例子
用英文
用中文
算了用中文问：怎么只采样 1% 的拒绝日志
这次简单说
以后都简单说
一步一步来
为什么
为什么？
怎么做
什么是防火墙
端午节是几号
“饕餮”怎么读
那一天两杯呢
那一般呢
还有别的吗，比如给学生的
再来五道
继续讲护理
三年级
三加五等于几怎么教学生
17乘以6怎么教
两个孩子
3个孩子
压疮
会计
早，护士站怎么走
网站 https://example.org 打不开
"""


def lines(table: str) -> list[str]:
    return [line for line in table.splitlines() if line]


@pytest.mark.parametrize("question", lines(SKIPPED))
def test_chit_chat_teaches_nothing(question: str) -> None:
    """Greetings, thanks, assent, laughter, "go on", sums, signs and bare addresses, in any mixture."""
    assert teaches_nothing(question)


@pytest.mark.parametrize("question", lines(ASKED))
def test_whatever_may_teach_is_asked(question: str) -> None:
    """The self, others, an identity, a denial, a correction, a wish, a subject: a word of it is enough."""
    assert not teaches_nothing(question)


@pytest.mark.parametrize("question", ["ok\n\n> I am a nurse", "ok\n```\nx = 1\n```", "thanks " * 60, ""])
def test_form_does_not_fool_the_gate(question: str) -> None:
    """Pasted text and code count as words; what is long is asked, and nothing at all teaches nothing."""
    assert teaches_nothing(question) == (not question)


def test_no_listed_word_is_a_wish() -> None:
    """Whatever is skipped asks for no other kind of answer."""
    listed = [phrase for table in words("chitchat").values() for phrase in table.get("words", "").split(",")]
    assert len(listed) > 200
    assert [phrase for phrase in listed if asked_preferences(phrase)] == []


def test_the_gate_costs_little() -> None:
    """Whatever the question, it takes a few milliseconds at most."""
    started = time.process_time()
    for question in (
        "哈" * 100_000,
        "ha" * 90 + "!",
        "no " * 60 + "nurse",
        "1+" * 100 + "x",
        "好的" * 99 + "护",
        "(" * 190,
    ):
        teaches_nothing(question)
    assert time.process_time() - started < 0.2
