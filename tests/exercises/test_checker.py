"""What a learner sees: one message, never a traceback, and a `Result` to go on with."""

import threading

import pytest
import torch

from course_lib.exercises import CheckFailed, Result, check, hint
from course_lib.exercises import calling as calling_module
from course_lib.exercises.checker import _hints_given, result_of


def line(message):
    """A message without its line ends."""
    return " ".join(message.split())


def right(logits, labels):
    return logits[:, :-1], labels[:, 1:]


def test_pass_names_the_checks_that_ran(capsys):
    result = check("2.2", right)
    assert result.ok and bool(result) and result.status == "correct"
    assert result.misconception is None and repr(result) == "Result(2.2: correct)"
    assert capsys.readouterr().out == (
        "2.2 Write shift: correct\n"
        "Passed: a row of four tokens and the two-sequence preview;\n"
        "  column 0 meets label 1; 20 random padded batches; rows of\n"
        "  one slot, and large batches.\n"
    )
    assert len(result.checks_run) == 4


def test_failure_shows_input_place_both_sides_and_the_idea(capsys):
    result = check("5.3", lambda ids: [[k <= q for k in range(len(ids))] for q in range(len(ids))])
    assert not result.ok and not result and result.misconception == "no_document_mask"
    assert result.checks_run == ("four small rows",)
    assert capsys.readouterr().out == """\
5.3 The document mask as a loop: not yet
Failed: four small rows
  document_ids = [0, 1, 1, -1, -1]
mask: query 1, key 0
  expected False, got True

  expected          got (! = differs)
    0  1  2  3  4     0  1  2  3  4
  0 1  .  .  .  .   0 1  .  .  .  .
  1 .  1  .  .  .   1 1! 1  .  .  .
  2 .  1  1  .  .   2 1! 1  1  .  .
  3 .  .  .  .  .   3 1! 1! 1! 1! .
  4 .  .  .  .  .   4 1! 1! 1! 1! 1!
Why: query 1 lies in document 1, key 0 in document 0.
Looks like this: only the causal mask: later documents read
the earlier ones of the row.
Reread chapter 5, Packing: a query attends to keys at or
before itself, in its own document; padding to nothing.
"""


def test_the_idea_stands_beside_its_own_chapter():
    turned = line(result_of("5.3", lambda ids: [
        [k >= q and ids[q] == ids[k] >= 0 for k in range(len(ids))] for q in range(len(ids))
    ]).message)  # fmt: skip
    assert "Looks like this: the upper triangle" in turned and "chapter 3" not in turned
    assert "Reread chapter 5, Packing: a query attends" in turned

    def in_place(logits, labels):
        labels[:, 0] = 0
        return right(logits, labels.clone())

    changed = line(result_of("2.2", in_place).message)
    assert "changed its argument labels in place" in changed and "Start from a clone." in changed
    assert "chapter 3" not in changed and "Reread chapter 2, Shift: drop the last" in changed


def test_a_misconception_of_another_chapter_says_where_that_is():
    shifted = line(result_of("3.3", lambda ids, n: torch.cat(
        [torch.where(torch.arange(ids.shape[1]) < n[:, None], ids, -100)[:, 1:],
         torch.full((len(ids), 1), -100)], 1)).message)  # fmt: skip
    assert "it is done twice. See chapter 2, Shift." in shifted
    assert "Reread chapter 3, Padding: where pad and EOS share" in shifted
    assert "See chapter" not in result_of("2.2", lambda logits, labels: (logits, labels)).message
    assert "See chapter" not in result_of("L1.1", dict.fromkeys(
        ("token embedding", "positions", "attention", "feed-forward", "layer norms", "output",
         "total"), 0)).message  # fmt: skip


def test_later_failure_names_what_passed_before():
    message = line(result_of("5.4", lambda ids: torch.tensor(
        [[[k <= q and r[q] == r[k] >= 0 for k in range(len(r))] for q in range(len(r))]
         for r in ids.tolist()]
    )).message)  # fmt: skip
    assert "Passed: four small rows; no query sees another document; 20 random batches." in message
    assert "Failed: Python steps do not grow with T" in message


def test_expected_value_of_a_single_answer_is_not_given_away():
    message = result_of("1.1", 4).message
    assert "got 4" in message and "expected" not in message and "3" not in message
    assert "expected" not in result_of("4.3", dict.fromkeys(
        ("targets", "row_starts", "boundaries", "prompts", "padding"), 1)).message
    drawn = result_of("5.5", [[0] * 6] * 6).message
    assert "expected True, got False" in drawn and "yours (! = differs)" in drawn


@pytest.mark.parametrize("answer", [None, ..., NotImplementedError])
def test_not_attempted(answer, capsys):
    result = check("2.2", answer)
    assert (result.ok, result.status) == (False, "not attempted yet")
    assert capsys.readouterr().out == "2.2 Write shift: not attempted yet\n"


def test_half_filled_answers_are_not_attempted():
    assert result_of("4.3", {"targets": 5, "row_starts": ...}).status == "not attempted yet"
    assert result_of("2.1", [(0, 3), ...]).status == "not attempted yet"
    assert result_of("2.2", lambda a, b: (a, ...)).status == "not attempted yet"


def test_forgotten_return_is_told():
    def forgets(logits, labels):
        labels = labels[:, 1:]

    result = result_of("2.2", forgets)
    assert result.status == "not yet" and "returned None. Is there a `return`" in result.message


def test_unknown_id_names_near_ones(capsys):
    result = check("2.9", right)
    assert result.status == "no such exercise" and result.id == "2.9" and not result.ok
    out = capsys.readouterr().out
    assert out.startswith("There is no exercise '2.9'. Near it: 2.") and "2.3" in out
    for odd in (22, None, "", "x" * 99, ["2.2"]):
        assert result_of(odd, right).status == "no such exercise"
    assert result_of(" 2.2 ", right).ok


def test_call_in_place_of_a_function_and_the_other_way_round():
    assert "Pass shift itself, without calling it" in line(result_of("2.2", (1, 2)).message)
    message = line(result_of("1.1", lambda: 3).message)
    assert "and you gave a function. Pass what it returns." in message


def test_wrong_parameters_are_told_in_the_learners_terms():
    message = line(result_of("2.2", lambda logits: logits).message)
    assert "Your function takes (logits); it must take (logits, labels), in this order." in message


def test_builtin_without_signature_is_called():
    assert "Your function raised" in result_of("2.2", max).message


def test_endless_loop_does_not_end_the_notebook(monkeypatch):
    monkeypatch.setattr(calling_module, "SECONDS", 0.2)

    def endless(logits, labels):
        while True:
            pass

    result = result_of("2.2", endless)
    assert "did not end within 0.2 seconds" in result.message and result.misconception is None
    monkeypatch.undo()  # a busy machine may need longer than that for a right answer
    assert result_of("2.2", right).ok


def test_checks_work_outside_of_the_main_thread():
    box = []
    thread = threading.Thread(target=lambda: box.append(result_of("2.2", right).ok))
    thread.start()
    thread.join()
    assert box == [True]


def test_strict_raises_for_all_but_correct(monkeypatch, capsys):
    monkeypatch.setenv("COURSE_CHECK", "strict")
    assert check("2.2", right).ok
    for exercise_id, answer in (("2.2", ...), ("1.1", 5), ("2.2", lambda a, b: 0), ("9.9", 1)):
        with pytest.raises(CheckFailed, match=exercise_id):
            check(exercise_id, answer)
    monkeypatch.setenv("COURSE_CHECK", "")
    assert not check("1.1", 5).ok
    assert "Looks like this" in capsys.readouterr().out


def test_same_text_on_every_run():
    wrong = lambda ids: ids[:, :, None] == ids[:, None, :]  # noqa: E731
    assert len({result_of("5.4", wrong).message for _ in range(3)}) == 1


def test_result_is_not_shown_twice_in_a_notebook():
    assert Result(True, "1.1", "text")._ipython_display_() is None


def test_hints_go_one_step_further_each_time(capsys):
    _hints_given.clear()
    for _ in range(5):
        hint("2.3")
    first = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Hint")]
    assert [line.split(":")[0] for line in first] == [
        "Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Hint 3 of 3", "Hint 3 of 3",
    ]  # fmt: skip
    hint("2.3", 1)
    hint("2.3")
    hint("9.9")
    out = capsys.readouterr().out
    assert "Hint 1 of 3" in out and "Hint 2 of 3" in out and "There is no exercise" in out
    hint("2.2", 99)
    assert "Hint 3 of 3" in capsys.readouterr().out


def test_lines_fit_on_a_page():
    for exercise_id, answer in (("5.6", lambda n, c: [n]), ("6.2", lambda x, m, d: 0.0),
                                ("2.2", lambda a, b: (a, b))):  # fmt: skip
        lines = result_of(exercise_id, answer).message.splitlines()
        assert max(map(len, lines)) <= 60


def test_an_argument_of_another_type_than_the_answer_takes_is_named():
    def a_column(lengths, total):
        return lengths[:, None]

    told = result_of("5.1", a_column).message
    assert "Why: lengths was a list of int." in told and "total was" not in told

    def in_two_lines(lengths, total):
        sizes = lengths
        return sizes.sum()

    told = line(result_of("5.1", in_two_lines).message)
    assert "lengths was a list of int; total was an int." in told
    told = result_of("3.3", lambda ids, lengths: lengths.append(1)).message
    assert "lengths was a torch.int64 tensor of shape [2]." in line(told)

    def another_reason(lengths, total):
        return lengths[total]

    assert "Why:" not in result_of("5.1", another_reason).message
