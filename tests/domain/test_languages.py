"""The language of a question, and which learnt strings are in it."""

import pytest

from pipeline.domain.languages import fits_language, language_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("how do I plan the night shifts", "English"),
        ("no le digas de la fiesta, why is that in the list", "English"),
        ("qué ejercicio pongo para practicar en casa", "español"),
        ("je suis apiculteur, comment je règle les ruches", "français"),
        ("ich bin neu und weiß nicht, wie das geht", "Deutsch"),
        ("sono un panettiere, come si fa il pane", "italiano"),
        ("sou padeira, como faço o pão com pouco sal", "português"),
        ("我的磨豆机怎么调", "中文"),
        ("我的 grinder 怎么 calibrate", "中文"),
        ("SBAR template", None),
        ("👌", None),
        ("", None),
    ],
)
def test_small_words_and_script_tell_the_language(text: str, name: str | None) -> None:
    """Two small words are needed, and more than of any other language; English comes first where they tie."""
    assert language_name(text) == name


@pytest.mark.parametrize(
    ("text", "question", "fits"),
    [
        ("nurse", "how do I plan the shifts", True),
        ("护士", "how do I plan the shifts", False),
        ("护士", "how do I say 护士长 in English", True),
        ("护士", "夜班怎么排", True),
        ("nurse", "夜班怎么排", False),
        ("Python开发者", "这个怎么装", True),
        ("DBA", "这个库怎么备份", True),
        ("UI designer", "我是UI designer，怎么做作品集？", True),
        ("art", "怎么 start 这个", False),
        ("student", "qué ejercicio pongo para practicar en casa", False),
        ("estudiante", "qué ejercicio pongo para practicar en casa", True),
        ("doctor", "soy doctor y no sé qué hacer con la guardia", True),
        ("The user is a student of maths.", "qué ejercicio pongo para practicar en casa", False),
        ("Una maestra de primaria.", "qué ejercicio pongo para practicar en casa", True),
    ],
)
def test_a_learnt_string_is_in_the_language_of_its_question(text: str, question: str, fits: bool) -> None:
    """A question in two languages takes both; an abbreviation, and what the question itself says, is at home in any."""
    assert fits_language(text, question) == fits
