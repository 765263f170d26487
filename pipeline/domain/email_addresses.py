"""E-mail addresses, written as such or spelled out."""

import re
from collections.abc import Iterator

from pipeline.domain.cues import is_called
from pipeline.domain.finders import Finder, Span, every
from pipeline.domain.spelling import HAN

_LOCAL = r"(?<![A-Za-z0-9])(?<![A-Za-z0-9][._%+'-])(?!git@)[A-Za-z0-9_][A-Za-z0-9._%+'-]{0,63}"
#: After the domain.
_NO_MORE = r"(?![A-Za-z0-9]|[_-][A-Za-z0-9])(?!:[\w~./-]{0,80}/)"
_HAN_ENDINGS = "中国|中國|公司|网络|網絡|网址|網址|在线|中文网|集团|商城|我爱你|香港|台灣|台湾|公益|政务|信息|企业"
_ENDINGS = (
    "com|cn|net|org|edu|gov|info|io|me|co|cc|hk|tw|mo|uk|de|fr|jp|kr|sg|us|au|ca|in|eu|nl|it|es|ch|ie|nz"
    "|dev|app|ai|tech|xyz|vip|top|site|email|name"
)
_EMAIL = re.compile(
    rf"{_LOCAL}@(?!\dx\.)(?:(?:[A-Za-z0-9-]{{1,63}}\.){{1,8}}[A-Za-z]{{2,24}}"
    rf"|(?:[A-Za-z0-9À-ɏ{HAN}-]{{1,63}}\.){{1,8}}(?:[A-Za-z]{{2,24}}|{_HAN_ENDINGS})){_NO_MORE}"
)
#: A name in Chinese characters, or one that ends in them: 张三@例子.公司, wang小明@qq.com.
_HAN_EMAIL = re.compile(
    rf"(?:{_LOCAL}[{HAN}]{{1,4}}|(?:(?<![{HAN}A-Za-z0-9])|(?<=[是为到给箱址系]))[{HAN}]{{1,4}}[A-Za-z0-9._-]{{0,30}})"
    rf"@(?:[A-Za-z0-9À-ɏ{HAN}-]{{1,63}}\.){{1,8}}(?:(?i:{_ENDINGS})|{_HAN_ENDINGS}){_NO_MORE}"
)
#: How @ is said.
_AT = "[艾爱]特|圈[aA]|小老鼠"
_OPENING, _CLOSING = r"\s?[(\[{<【]\s?", r"\s?[)\]}>】]"
_DOT = rf"(?:\.|{_OPENING}(?:dot|\.|点|點){_CLOSING}\s?|\sdot\s|\s[.。]\s?|\s?[点點]\s?|[。，,·]|[_-]dot[_-])"
#: `jane at example dot com`, jane#163.com and the like.
_SPELLED_EMAIL = re.compile(
    rf"{_LOCAL}(?P<joined>(?:(?:\s(?:dot|underscore|dash|hyphen|minus|plus)\s|\s?(?:点|點|下划线)\s?"
    rf"|{_OPENING}dot{_CLOSING}\s?)[a-z0-9_-]{{1,30}}){{0,3}})"
    rf"(?:(?P<sure>{_OPENING}(?:at|@|a|\#|{_AT}){_CLOSING}\s?|\s?(?:{_AT})\s?|@)|\s?@\s?|\sat\s|[_-]at[_-]|[#*&])"
    rf"(?P<host>[a-z0-9-]{{1,63}})(?:{_DOT}[a-z0-9-]{{1,63}}){{0,3}}{_DOT}"
    rf"(?:{_ENDINGS}){_NO_MORE}",
    re.IGNORECASE,
)
#: Without one of these nothing is spelled out.
_SPELT = re.compile(_AT + r"|[@#*&]|[(\[{<【]\s?a|[\s_-]at[\s_-]", re.IGNORECASE)
_PROVIDER = re.compile(
    r"(?:gmail|qq|1(?:63|26|39|88|89)|vip|foxmail|sina|sohu|aliyun|yeah|outlook|hotmail|live|msn|yahoo|icloud"
    r"|proton(?:mail)?|gmx|aol|me|mail|yandex|zoho|fastmail)$",
    re.IGNORECASE,
)
_ADDRESS_OF_A_SERVER = re.compile(r"://[^\s/@]{0,64}$")


def email_finders() -> Iterator[Finder]:
    """What to look for, in the order in which it is looked for."""
    yield every(_EMAIL, _is_no_server)
    yield every(_HAN_EMAIL, _is_no_server)
    yield _spelled_emails


def _is_no_server(plain: str, match: re.Match[str]) -> bool:
    """Whether what looks like an e-mail address is no user and host of a URL."""
    return _ADDRESS_OF_A_SERVER.search(plain, max(match.start() - 80, 0), match.start()) is None


def _spelled_emails(plain: str) -> Iterator[Span]:
    if _SPELT.search(plain):
        yield from every(_SPELLED_EMAIL, _is_spelled)(plain)


def _is_spelled(plain: str, match: re.Match[str]) -> bool:
    """Words such as "jane at example dot com" are an address where little else is meant by them."""
    return _is_no_server(plain, match) and (
        match["sure"] is not None
        or match["joined"] != ""
        or _PROVIDER.match(match["host"]) is not None
        or is_called("email", plain, match)
    )
