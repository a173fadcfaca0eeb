"""Packing or padding: what the reader's own lengths cost under each way of filling rows.

Lengths come from the reader, so for once the page must count by itself. It counts what
`compare_costs` counts, and a test holds every number of the two against each other. All sentences,
and which of two numbers decides between them, are shipped from here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from course_lib.packing.costs import Costs, compare_costs
from course_lib.widgets.advice import COMMA, FIELDS, GROUPS, LONGEST, PAPER, WAYS
from course_lib.widgets.base import CourseWidget
from course_lib.widgets.parts import Verdict

MOST_DOCUMENTS = 20_000
NAMED = 400
"""Documents in each choice of lengths that is shipped."""
# what JavaScript takes for blank, on the page
_BLANK = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_BETWEEN = re.compile(f"[{_BLANK},;|\\[\\](){{}}\"':]+")
_AROUND = re.compile(f"^[{_BLANK}]+|[{_BLANK}]+$")
_LENGTH = re.compile("[1-9][0-9]{0,8}")
_RUN = re.compile("[0-9]+(?:[,'][0-9]+)+")
_THOUSANDS = re.compile("[1-9][0-9]{0,2}(?:[,'][0-9]{3})+")


class Calculator(CourseWidget):
    """Slots, utilization and attention pairs for lengths that the reader enters or chooses.

    There is nothing to get right, so there is no verdict; `costs()` gives what is entered now.

    >>> Calculator().costs().documents
    400
    """

    module = "calculator"

    def __init__(self) -> None:
        fields = [[key, label, str(start), most] for key, label, start, most in FIELDS]
        data = {
            "title": "Packing or padding: your own lengths",
            "question": "Enter how many tokens each of your documents has, in the order of "
            "training, its `<eos>` included if you append one. Or choose lengths. Nothing that you "
            "enter leaves this page.",
            "presets": presets(), "fields": fields, "ways": WAYS, "groups": GROUPS,
            "paper": PAPER, "most": MOST_DOCUMENTS, "longest": LONGEST, "comma": COMMA,
        }  # fmt: skip
        start = {key: value for key, _, value, _ in fields}
        costs, options = costs_of(presets()[0][1], start)
        super().__init__(data, on_paper(values_of(costs, options)))

    def costs(self) -> Costs:
        """Return what the page shows, computed here; raises ValueError for what it refuses."""
        given = self.answer.get("given", {})
        start = {key: value for key, _, value, _ in self.data["fields"]}
        return costs_of(given.get("text", self.data["presets"][0][1]), start | given)[0]

    def result(self) -> Verdict:
        """Return an empty verdict: a calculator asks nothing."""
        return Verdict()


@cache
def presets() -> tuple[tuple[str, str], ...]:
    """Return (name, lengths as text) of each choice, the same on every machine.

    >>> [name for name, _ in presets()][:2]
    ['lognormal, mean 512', 'constant 512']
    """
    rng = np.random.default_rng(512)
    bell = rng.normal(0, 0.6, NAMED)
    drawn = {
        "lognormal, mean 512": np.exp(np.log(512) - 0.18 + bell),
        "constant 512": np.full(NAMED, 512),
        "uniform, mean 512": rng.integers(1, 1024, NAMED),
        "many short, few long": 100 * (rng.pareto(1.5, NAMED) + 1),
        "longer than the row": np.exp(np.log(2048) - 0.18 + bell),
    }
    caps = {"longer than the row": 8192}
    return tuple(
        (name, " ".join(map(str, np.clip(x.round(), 1, caps.get(name, 2048)).astype(int).tolist())))
        for name, x in drawn.items()
    )


def lengths_of(text: str) -> list[int]:
    """Return the lengths in a text, between any separators; raises ValueError at the first other.

    1,024 may be one length or two, so it is refused; 1, 024 and 512,64 are two.

    >>> lengths_of("[4, 2]; 3")
    [4, 2, 3]
    """
    for run in _RUN.findall(text):
        if _THOUSANDS.fullmatch(run):
            plain = re.sub("[,']", "", run)
            raise ValueError(COMMA.format(one=run[:20], plain=plain[:20]))
    found = [piece for piece in _BETWEEN.split(text) if piece]
    if not found:
        raise ValueError("Nothing is entered. Enter at least one length, or choose lengths above.")
    for i, piece in enumerate(found):
        if not _LENGTH.fullmatch(piece):
            raise ValueError(
                f"Entry {i + 1} is “{piece[:20]}”. A length is a whole number from 1 to "
                f"{LONGEST:,}."
            )
    if len(found) > MOST_DOCUMENTS:
        raise ValueError(
            f"There are {len(found):,} lengths, and this page takes {MOST_DOCUMENTS:,}. Enter a "
            "random part of them, or use compare_costs of course_lib.packing.costs."
        )
    return [int(piece) for piece in found]


def costs_of(text: str, given: Mapping[str, str]) -> tuple[Costs, dict[str, int]]:
    """Return the costs of what stands in the fields, and the numbers of the fields.

    >>> costs_of("4 2 3", {"capacity": "6", "batch_size": "2", "multiple_of": "1"})[0].tokens
    9
    """
    lengths = lengths_of(text)
    numbers = {}
    for key, label, _, most in FIELDS:
        entered = _AROUND.sub("", given[key])
        if not _LENGTH.fullmatch(entered) or int(entered) > most:
            raise ValueError(
                f"{label}: “{entered[:20]}” is no whole number from 1 to {most:,}."
            )
        numbers[key] = int(entered)
    return compare_costs(lengths, **numbers), numbers


def values_of(costs: Costs, numbers: Mapping[str, int]) -> dict[str, int]:
    """Return every number that a sentence may name, by its name."""
    names = ("documents", "tokens", "cut_documents", "cut_tokens", "bound", "within",
             "within_causal")  # fmt: skip
    values = {"zero": 0, **numbers} | {name: getattr(costs, name) for name in names}
    values["entered"] = costs.tokens + costs.cut_tokens
    for cost in costs.ways:
        values |= {
            f"{cost.way}_rows": cost.rows, f"{cost.way}_slots": cost.slots,
            f"{cost.way}_waste": cost.slots - costs.tokens, f"{cost.way}_dense": cost.dense,
            f"{cost.way}_causal": cost.causal,
        }  # fmt: skip
    return values


def fill(text: str, values: Mapping[str, int]) -> str:
    """Return a sentence with its numbers: `{a}`, `{a/b}` as a ratio, `{a%b}` as a share.

    >>> fill("{a} of {b}: {a/b}, {a%b}", {"a": 1, "b": 1600})
    '1 of 1,600: 0.00, 0.06%'
    """

    def number(found: re.Match[str]) -> str:
        above, sign, below = found.groups()
        if not sign:
            return f"{values[above]:,}"
        a, b = values[above] * (100 if sign == "%" else 1), values[below]
        hundredths = f"{(200 * a + b) // (2 * b):03d}"  # half up, as on the page
        return f"{hundredths[:-2]}.{hundredths[-2:]}{'%' if sign == '%' else ''}"

    return re.sub(r"\{(\w+)([/%]?)(\w*)\}", number, text)


def advice(values: Mapping[str, int]) -> list[str]:
    """Return the verdict and its reasons: of each group the first sentence whose a <= b holds."""
    found = [next(text for a, b, text in group if values[a] <= values[b]) for group in GROUPS]
    return [fill(text, values) for text in found if text]


def on_paper(values: Mapping[str, int]) -> str:
    """Return the table and the advice as text of 66 columns."""
    head, *rows = [
        [name, *(fill(cell, values) for cell in cells)] for name, *cells in _rows_on_paper()
    ]
    lines = [
        name.ljust(31) + "".join(c.rjust(w) for c, w in zip(cells, (7, 11, 9, 8), strict=True))
        for name, *cells in [head, *rows]
    ]
    above = [fill(text, values) for text in PAPER]
    below = [re.sub(r"(.{1,66})( |$)", r"\1\n", text) for text in advice(values)]
    return "\n".join([*above, "", *lines, "", *below]).rstrip()


def _rows_on_paper() -> list[list[str]]:
    rows = [["", "rows", "slots", "used", "pairs ×"]]
    for key, name, _ in WAYS:
        cells = [f"{{{key}_rows}}", f"{{{key}_slots}}", f"{{tokens%{key}_slots}}"]
        rows.append([name, *cells, f"{{{key}_dense/within}}"])
    return rows
