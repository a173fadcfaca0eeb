"""The calculator counts what `compare_costs` counts, says what Python says, and refuses alike."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.packing.costs import PACKED, PADDED
from course_lib.widgets import Calculator, assets
from course_lib.widgets.advice import FIELDS, GROUPS, LONGEST, WAYS
from course_lib.widgets.calculator import (
    MOST_DOCUMENTS,
    advice,
    costs_of,
    lengths_of,
    on_paper,
    presets,
    values_of,
)
from tests.widgets.pages import Hand

START = {key: str(start) for key, _, start, _ in FIELDS}


@pytest.fixture(scope="module")
def counted(chromium):
    """A function: entries -> what the module's own functions make of them, in a browser."""
    page = chromium.new_page()
    code = assets._source("_shared") + assets._body("calculator").replace(
        "return { render };", "Object.assign(window, { read, advice, paper });")  # fmt: skip
    page.evaluate(f"() => {{ {code} }}")
    data = Calculator().data
    ask = """([given, data]) => given.map((a) => {
        const { v, error } = read(a, data);
        return error ? { error } : { v, advice: advice(data.groups, v), paper: paper(data, v) };
    })"""
    yield lambda entries: page.evaluate(ask, [entries, data])
    page.close()


def entry(lengths, capacity=2048, batch_size=8, multiple_of=1):
    numbers = {"capacity": capacity, "batch_size": batch_size, "multiple_of": multiple_of}
    return {"text": " ".join(map(str, lengths))} | {k: str(v) for k, v in numbers.items()}


def by_python(given):
    try:
        values = values_of(*costs_of(given["text"], given))
    except ValueError as error:
        return {"error": str(error)}
    return {"v": values, "advice": advice(values), "paper": on_paper(values)}


def agree(counted, entries):
    for one, page in zip(entries, counted(entries), strict=True):
        assert page == by_python(one), one


def random_entry(rng: random.Random):
    capacity = rng.choice([1, 2, 7, 8, 15, 16, 63, 64, 500])
    longest = rng.choice([1, capacity // 2 + 1, capacity, 2 * capacity])
    lengths = [rng.randint(1, longest) for _ in range(rng.randint(1, 60))]
    return entry(lengths, capacity, rng.randint(1, 9), rng.choice([1, 1, 2, 8, 64]))


def test_every_number_and_sentence_is_that_of_the_library(counted):
    rng = random.Random(9)
    agree(counted, [random_entry(rng) for _ in range(600)])


@pytest.mark.parametrize("case", [
    entry([1], 1, 1), entry([5], 4), entry([4] * 7, 8, 2), entry([3, 3, 3], 5),
    entry([4, 4, 7, 7, 9, 9], 20), entry([7, 6, 4, 4, 2, 7], 15), entry([2] * 5, 4, 1_024, 4_096),
    entry([LONGEST] * 3, 131_072), entry([8, 1, 1, 1, 1, 1, 1, 1], 8, 8),
], ids=range(9))  # fmt: skip
def test_edges_agree(counted, case):
    agree(counted, [case])


def test_as_many_and_as_long_as_the_page_takes(counted):
    rng = random.Random(1)
    most = {key: largest for key, _, _, largest in FIELDS}
    lengths = [rng.randint(1, most["capacity"]) for _ in range(MOST_DOCUMENTS)]
    given = entry(lengths, **most)
    agree(counted, [given, entry(lengths, 8192, 7)])
    assert max(by_python(given)["v"].values()) < 2**53, "the page counts in doubles"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_advice_names_only_what_is_there(data):
    lengths = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=30))
    values = by_python(entry(lengths, 32, 4))["v"]
    found = advice(values)
    assert 4 <= len(found) <= len(GROUPS) and not any("{" in text for text in found)
    fewer = values["best_fit_decreasing_slots"] < min(values["batch_slots"], values["sorted_slots"])
    long = max(lengths) > 32
    assert found[long].startswith("Packing would hold") == fewer
    assert found[0].startswith("Longer than") == long
    assert sum("Longer than" in text for text in found) == long


TEXTS = ["", " ,; ", "512", "4,2;3", "[4, 2, 3]", '{"n": 4}', "4 2\n3\t5|6", "1.5", "-3 4", "0",
         "4 0 3", "12, x7, 9", "1,024", "1e3", "9999999999", "4 ２", "4\u00a05\ufeff6",
         "4 " * 20_001, "length\n5", "`5`", "😀" * 30, "007",
         "1,536 2,512 1,200", "1'024", "1536,512,300",
         "[512,300,128]", "512, 300, 128", "9,999,999,999,999,999,999,999", "12,x", "0,512",
         "1,0240"]  # fmt: skip


def test_texts_are_read_and_refused_alike(counted):
    agree(counted, [START | {"text": text} for text in TEXTS])
    for key, label, _, most in FIELDS:
        values = ("", "0", "-1", "2.5", str(most + 1), "8\x1f", "\x858")
        odd = [START | {"text": "4", key: value} for value in values]
        agree(counted, odd)
        assert all(by_python(one)["error"].startswith(f"{label}: “") for one in odd)
        blanks = [START | {"text": "4", key: value} for value in ("\ufeff8", "8\u2028", " 8\u3000")]
        agree(counted, blanks)
        assert all("v" in by_python(one) for one in blanks)


@pytest.mark.parametrize(("text", "message"), [
    ("12, x7, 9", "Entry 2 is “x7”. A length is a whole number from 1 to 999,999,999."),
    ("3 4 0", "Entry 3 is “0”"), ("1,0240", "Entry 2 is “0240”"), ("", "Nothing is entered."),
    ("1 " * 20_001, "There are 20,001 lengths, and this page takes 20,000."),
])  # fmt: skip
def test_the_first_thing_that_is_no_length_is_named(text, message):
    with pytest.raises(ValueError) as error:
        lengths_of(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(("text", "run", "plain"), [
    ("1,536 2,512 1,200", "1,536", "1536"), ("4 1,024", "1,024", "1024"),
    ("[512,300,128]", "512,300,128", "512300128"), ("1'024", "1'024", "1024"),
])  # fmt: skip
def test_a_comma_that_could_stand_between_thousands_is_never_read_silently(text, run, plain):
    with pytest.raises(ValueError) as error:
        lengths_of(text)
    assert str(error.value).startswith(f"“{run}” can be one length or several. Write {plain} if")


@pytest.mark.parametrize(("text", "lengths"), [
    ("1, 536", [1, 536]), ("1536,512,300", [1536, 512, 300]), ("12,7,300", [12, 7, 300]),
    ("512;300", [512, 300]), ("512,30", [512, 30]), ("1,2400", [1, 2400]),
])  # fmt: skip
def test_other_commas_separate_lengths(text, lengths):
    assert lengths_of(text) == lengths


def test_what_is_too_long_is_said_first_and_all_tokens_are_counted():
    values = by_python(entry([4, 2, 3, 9], 6, 2))["v"]
    assert (values["entered"], values["tokens"], values["cut_tokens"]) == (18, 15, 3)
    first, second = advice(values)[:2]
    assert first.startswith("Longer than 6 slots: 1 of 4 documents. Settle that first")
    assert first.endswith("3 of the 18 tokens are lost, and 15 are counted.")
    assert second.startswith(("Pad:", "Sort by length", "Packing would hold"))
    assert "18 tokens" in on_paper(values).splitlines()[0]


def test_all_ways_have_a_name():
    assert [key for key, *_ in WAYS] == [*PADDED, *PACKED]


def test_choices_can_be_counted():
    for name, text in presets():
        costs = costs_of(text, START)[0]
        assert costs.documents == 400
        assert bool(costs.cut_documents) == (name == "longer than the row")
        if "mean 512" in name:
            assert costs.tokens / costs.documents == pytest.approx(512, rel=0.05)


# --- on a page


def table(page) -> list[str]:
    return [" ".join(row.split()) for row in page.locator("tbody tr").all_inner_texts()]


def wanted(costs) -> list[str]:
    """What must stand in the table: share, slots, rows and pairs of each way."""
    return [[f"of {c.slots:,} slots", f"{c.rows:,} rows", f"{c.dense:,} pairs", f"{c.causal:,} wit"]
            for c in costs.ways]  # fmt: skip


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_lengths_of_ones_own_are_counted(opened, way):
    touch = way == "touch"
    hand = Hand(opened("calculator", width=390 if touch else 1300, has_touch=touch), way)
    hand.write(hand.page.locator("textarea"), "4, 2; 3 9")
    for field, text in zip(hand.page.locator("input").all(), ("6", "2", "4"), strict=True):
        hand.write(field, text)
    hand.press(hand.page.get_by_role("button", name="Work it out"))
    costs = costs_of("4 2 3 9", {"capacity": "6", "batch_size": "2", "multiple_of": "4"})[0]
    for row, texts in zip(table(hand.page), wanted(costs), strict=True):
        assert all(text in row for text in texts), row
    told = hand.page.locator(".cw-feedback").first.inner_text()
    assert told.startswith("4 documents, 18 tokens. Longer than 6 slots: 1 of 4 documents.")


def test_a_choice_fills_the_lengths_and_is_counted(opened):
    page = opened("calculator")
    page.get_by_role("button", name="constant 512").click()
    assert page.locator("textarea").input_value() == " ".join(["512"] * 400)
    rows = table(page)
    assert "25.00%" in rows[0] and "100.00%" in rows[1] and "100.00%" in rows[6]
    assert page.locator(".cw-feedback").first.inner_text().split("tokens. ")[1].startswith("Pad:")


def test_an_error_says_where_and_takes_the_table_away(opened):
    page = opened("calculator")
    page.locator("textarea").fill("12 30 thirty 7")
    page.locator("textarea").blur()
    box = page.locator(".cw-feedback").first
    assert box.get_attribute("role") == "status"
    assert box.inner_text().startswith("✗ Not counted. Entry 3 is “thirty”.")
    assert not page.locator("table").is_visible()
    assert page.locator("textarea").get_attribute("aria-invalid") == "true"
    page.locator("textarea").fill("12 30 30 7")
    page.locator("textarea").blur()
    assert page.locator("table").is_visible()
    assert page.locator("textarea").get_attribute("aria-invalid") == "false"


def test_a_table_that_is_behind_the_entries_says_so(opened):
    page = opened("calculator")
    late = page.locator("table + .cw-caption")
    assert late.inner_text().startswith("× is")
    page.locator("textarea").fill("3 4")
    assert late.inner_text().startswith("You changed an entry.")
    page.get_by_role("button", name="Work it out").click()
    assert late.inner_text().startswith("× is")


def test_bars_are_as_long_as_the_share(opened):
    page = opened("calculator")
    page.locator("textarea").fill("512 512")
    page.locator("textarea").blur()
    bar = page.locator(".cw-bar").first
    whole = bar.evaluate("e => e.clientWidth")
    part = bar.locator("span").evaluate("e => e.getBoundingClientRect().width")
    assert part / whole == pytest.approx(0.25, abs=0.01)


def test_what_is_printed_are_the_readers_numbers(opened):
    page = opened("calculator")
    page.locator("textarea").fill("5 6 7")
    page.locator("textarea").blur()
    page.wait_for_timeout(50)
    page.emulate_media(media="print")
    printed = page.locator(".course-widget-fallback pre")
    assert printed.is_visible()
    assert printed.inner_text().rstrip() == on_paper(values_of(*costs_of("5 6 7", START)))


def test_the_kernel_counts_what_is_entered():
    widget = Calculator()
    assert widget.result().ok and widget.costs().capacity == 2048
    widget.answer = {"given": {"text": "5 6", "capacity": "8"}}
    assert (widget.costs().tokens, widget.costs()["next_fit"].rows) == (11, 2)
    widget.answer = {"given": {"text": "5 six"}}
    with pytest.raises(ValueError, match="Entry 2 is “six”"):
        widget.costs()
