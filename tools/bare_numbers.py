"""Numbers in prose that nothing on the page computes.

A number in a chapter's prose is fine if a cell glued it; if the page's own code or outputs hold it
(both are compared on every run); if it stands in math or in code; or if it belongs to a source, in
the list of further reading. Words up to twelve that count things (two rules) are not looked at.
Everything else is bare: digits, decimals, percentages, and sizes in words (`four times`, `a third
of`, `three of ten`).
`tests/notebooks/bare_numbers.yml` lists, page by page, what may stay, and why.
"""

from __future__ import annotations

import json
import re
from functools import cache

from tools.sources import ROOT, Page

ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen").split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
WORD = rf"(?:{'|'.join([*ONES, *TENS, 'hundred', 'thousand', 'million', 'billion'])})"
PARTS = r"(?:half|halves|thirds?|quarters?|fifths?|sixths?|eighths?|tenths?|hundredths?)"
SIZES = re.compile(
    rf"\b(?:{WORD}|\d[\d,.]*)[- ](?:times|fold)\b"         # four times, ten-fold
    rf"|\b(?!one of)(?:{WORD}|\d+) (?:out )?of (?:the |its |our )?(?:{WORD}|\d+)\b"
    rf"|\b(?:twice|double|triple|half|thrice) (?:as|the|that|its|of)\b"
    rf"|\b(?:doubled|halved|tripled|trebled|quadrupled|orders? of magnitude|dozens?)\b"
    rf"|\b(?:doubles|halves|triples|trebles) (?:the|its|it|them|every|each)\b"
    rf"|\b(?:{WORD}|\d+) in (?:every )?{WORD}\b"
    rf"|\b(?:an?|one|two|three|{WORD})[ -](?:and an? )?{PARTS}\b(?: of)?"  # a third of
    rf"|[¼½¾⅐-⅞]"
    rf"|\b{WORD}fold\b|\b{WORD} (?:per ?cent|percent)\b"
    rf"|\b(?:an? )?(?:{'|'.join([*ONES[13:], *TENS])})(?:[- ]{WORD})*\b"    # fifteen, fifty-one
    rf"|\b(?:an?|{WORD})[ -](?:hundred|thousand|million|billion)\b(?: {WORD})*", re.I)
DIGITS = re.compile(r"(?<![\w.,§])[-−–]?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?:\s?%|×)?(?!\w)")

_FENCE = re.compile(r"^([`~]{3,}|:::+)(\{code|\{glue|\{math|\w).*?^\1\s*$", re.M | re.S)
_GONE = [
    re.compile(r"\A---\n.*?\n---\n", re.S),                    # the header
    re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.S),              # math
    re.compile(r"\{[\w:+-]+\}`[^`]*`"),                        # roles: glue, ref, term
    re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S),            # inline code
    re.compile(r"\[\d+\](?=\()"),                             # a link named by its chapter
    re.compile(r"\]\([^)\s]*\)[^)\s\]]*\)?"),                  # targets of links
    re.compile(r"^(?:\| ?|\s*)\d+\.(?= )", re.M),             # the marks of a list
    re.compile(r"https?://\S+"),
    re.compile(r"^\([^)\n]+\)=\s*$|^:(?:name|class|tags|height|width):.*$", re.M),
]
_TIME = re.compile(r"^\*\*(?:Time|You need):\*\*.*?(?=\n\n|\n:::)", re.M | re.S)
_LIST = re.compile(r"^## Further reading\n.*?(?=^## |^Next:|\Z)", re.M | re.S)
_NAMED = re.compile(  # a number that is a name: of an exercise, a chapter, a lab, a column
    r"\b(?:exercises?|chapters?|labs?|sections?|issues?|request|version|Python|"
    r"torch|GPT-?|T5|BERT|column|columns|slot|slots|row|rows|position|positions|document|documents|rank|"
    r"ranks|steps?|id|ids|index|entry|exit code|code|axis|tasks?|question|number|micro-batch|"
    r"token|tokens|line|part|query|key|queries|keys|logits?|label|labels)[ -]"
    r"\d+(?:\.\d+)*(?:(?:,| to| and| or|,? and|–| ×) \d+(?:\.\d+)*)*\b", re.I)


def prose(text: str) -> str:
    """Return what is left of a page to be read as prose; the rest becomes blanks.

    >>> prose("It is `8` and $9$, {glue:text}`mean` and 7.").split()
    ['It', 'is', 'and', ',', 'and', '7.']
    """
    for pattern in (_FENCE, _TIME, _LIST, *_GONE):
        text = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    return text


@cache
def shown(name: str) -> frozenset[str]:
    """Return the numbers in the code and the outputs of a page, as its notebook has them."""
    path = ROOT / f"{name}.ipynb"
    if not path.exists():
        return frozenset()
    text = []
    for cell in json.loads(path.read_text("utf8"))["cells"]:
        if cell["cell_type"] == "code" and "course_lib is None" not in "".join(cell["source"]):
            text += cell["source"]
            for output in cell["outputs"]:
                text += output.get("text", output.get("data", {}).get("text/plain", []))
    return frozenset(plain(n) for n in re.findall(r"\d[\d,_]*(?:\.\d+)?%?", "".join(text)))


def plain(number: str) -> str:
    """Return a number in one spelling.

    >>> plain("−1,024.0"), plain("25 %")
    ('1024', '25%')
    """
    digits = re.sub(r"[^\d.%×e]", "", number).rstrip(".")
    return re.sub(r"\.0+(?=%|$)", "", digits)


def numbers(text: str) -> list[tuple[int, str]]:
    """Return (place, number) for what reads as a number and is no name of something.

    >>> numbers("Rows 1 to 9 are four times as long as 2 of GPT-2.")
    [(16, 'four times'), (38, '2')]
    """
    sizes = list(SIZES.finditer(text))
    done = [m.span() for m in (*sizes, *_NAMED.finditer(text))]
    digits = [m for m in DIGITS.finditer(text) if not any(a <= m.start() < b for a, b in done)]
    return sorted((m.start(), m[0]) for m in (*sizes, *digits))


def bare(page: Page) -> list[tuple[int, str, str]]:
    """Return (line, number, line of text) for each number of a page that nothing computes."""
    text, lines = prose(page.text), page.text.splitlines()
    code = "".join(re.findall(r"\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`", page.text, re.S))
    here = shown(page.name) | {plain(n) for n in re.findall(r"\d[\d,]*(?:\.\d+)?%?", code)}
    found = []
    for place, number in numbers(text):
        if SIZES.fullmatch(number) or plain(number) not in here:
            line = text.count("\n", 0, place) + 1
            found.append((line, " ".join(number.split()), lines[line - 1].strip()))
    return found
