"""The ledger as bars: lengths in proportion, one cell for each slot where they can be counted."""

import pytest

from course_lib import Ledger, Lost, pack_documents
from course_lib.figures import ledger_bar, ledger_bar_text

CHAT = pack_documents(
    [[5, 1, 6, 2], [5, 2, 6, 1]], 12, eos_id=4, boundary="B", prompt_lengths=[3, 3]
)


def bars(ax, name):
    return [p for p in ax.patches if p.get_label().rsplit(" ", 1)[0] == name]


def test_small_ledgers_show_every_slot():
    ledger, ax = CHAT.ledger(), ledger_bar(CHAT)
    for reason in ("targets", "row starts", "boundaries", "prompts", "padding"):
        assert len(bars(ax, reason)) == getattr(ledger, reason.replace(" ", "_"))
    assert len(bars(ax, "slots")) == 12


def test_large_ledgers_show_one_bar_in_proportion():
    ax = ledger_bar(Ledger(targets=3000, padding=1000))
    (targets,), (padding,) = bars(ax, "targets"), bars(ax, "padding")
    assert targets.get_width() == pytest.approx(3 * padding.get_width())


def test_slots_that_are_no_targets_are_hatched():
    ax = ledger_bar(Ledger(targets=4, prompts=2))
    assert sum(p.get_label() == "hatch" for p in ax.patches) == 2


def test_the_text_adds_up_and_names_what_was_lost():
    lines = ledger_bar_text(Ledger(targets=3, padding=1, lost=Lost(dropped_tokens=7))).splitlines()
    assert lines[0] == "4 slots, 3 of them targets"
    assert lines[1].split() == ["targets", "3", "75.0%"]
    assert lines[-1].split() == ["dropped", "tokens", "7", "lost"]


def test_what_was_lost_has_a_number_and_no_bar():
    ax = ledger_bar(Ledger(targets=3, lost=Lost(dropped_tokens=7)))
    assert "7" in [t.get_text() for t in ax.texts]
    assert not bars(ax, "dropped tokens")


def test_something_else_is_refused():
    with pytest.raises(TypeError, match="Ledger or a Batch"):
        ledger_bar(7)
