"""A call of an answer cannot hurt the notebook: it is timed, copied, and its errors are told."""

import gc
import threading
import time

import pytest
import torch

from course_lib.exercises import calling
from course_lib.exercises.calling import call, describe, is_library


def test_value_comes_back_as_plain_data():
    outcome = call(lambda x: x + 1, [torch.tensor([1, 2])])
    assert outcome.kind == "value" and outcome.value.values.tolist() == [2, 3]
    assert outcome.changed == () and not outcome.not_attempted and outcome.steps == 0


def test_answer_gets_copies_and_a_change_is_noticed():
    labels, lengths = torch.tensor([[1, 2]]), [2]

    def change(first, labels, lengths):
        labels[0, 0] = 9
        lengths.append(1)

    outcome = call(change, [0, labels, lengths])
    assert outcome.changed == (1, 2)
    assert labels.tolist() == [[1, 2]] and lengths == [2]


@pytest.mark.parametrize(
    "change",
    [lambda x: x[0].fill_(1.0), lambda x: x.reverse(), lambda x: x.__setitem__(0, x[0].double())],
)
def test_change_inside_a_list_is_noticed(change):
    assert call(change, [[torch.zeros(2), torch.ones(3)]]).changed == (0,)


def test_nan_that_stays_is_no_change():
    assert call(lambda x: None, [torch.tensor([float("nan")])]).changed == ()


def spin():
    while True:
        pass


def stubborn():
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


def lazy():
    while True:
        yield 1


@pytest.mark.parametrize("endless", [spin, stubborn, lambda: [*lazy()]])
def test_endless_loop_is_stopped_and_its_thread_is_gone(endless):
    outcome = call(endless, [], seconds=0.2)
    assert outcome.kind == "endless"
    assert outcome.error == (
        "did not end within 0.2 seconds. Is there a loop that never ends?"
    )
    assert not [t for t in threading.enumerate() if t.name.endswith("(_work_until_stopped)")]


def test_endless_iterator_is_cut_off(monkeypatch):
    monkeypatch.setattr("course_lib.exercises.plain.MOST_ITEMS", 10)
    assert len(call(lazy, []).value) == 10


def test_call_that_cannot_be_stopped_is_told_and_left_behind():
    outcome = call(time.sleep, [30], seconds=0.1)
    assert outcome.kind == "endless"
    assert outcome.error.endswith("restart the kernel if all gets slow.")
    assert call(lambda: 1, []).value == 1


def test_works_from_another_thread():
    box = []
    thread = threading.Thread(target=lambda: box.append(call(spin, [], seconds=0.1).kind))
    thread.start()
    thread.join()
    assert box == ["endless"]


def fails():
    x = [1, 2]
    return x[5]  # the line that is told


def test_exception_is_told_with_its_line():
    outcome = call(fails, [])
    assert outcome.kind == "raised" and not outcome.not_attempted
    assert outcome.error == (
        "raised IndexError: list index out of range, in the line "
        "`return x[5]  # the line that is told`"
    )


def leaves():
    raise SystemExit


def interrupts():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "answer, name", [(leaves, "SystemExit"), (interrupts, "KeyboardInterrupt")]
)
def test_even_an_exit_is_told(answer, name):
    assert call(answer, []).error.startswith(f"raised {name}")


def unfinished():
    raise NotImplementedError("your code here")


def test_not_implemented_is_not_attempted_unless_a_library_says_it():
    assert call(unfinished, []).not_attempted

    def uses_torch():
        return torch.zeros(2).to_sparse().view(torch.uint8)

    outcome = call(uses_torch, [])
    assert outcome.kind == "raised" and not outcome.not_attempted


def test_addresses_are_left_out_of_errors():
    assert describe(ValueError("<object at 0x7f00ab> is odd\nmore")) == (
        "raised ValueError: <object> is odd"
    )
    assert describe(ValueError()) == "raised ValueError"


def test_steps_count_python_code_of_the_answer_only():
    def loop(n):
        return [i for i in range(n)]

    def vectorised(n):
        return torch.arange(n) + 1

    few, many = (call(loop, [n], count_steps=True).steps for n in (4, 104))
    assert many - few > 100
    same = {call(vectorised, [n], count_steps=True).steps for n in (4, 104)}
    assert len(same) == 1 and same.pop() > 0


def test_a_debugger_of_the_caller_stays():
    import sys

    before = sys.gettrace()
    call(lambda: 1, [], count_steps=True)
    assert sys.gettrace() is before


def test_no_thread_and_no_garbage_piles_up():
    for _ in range(20):
        call(lambda: 1, [])
    gc.collect()
    assert threading.active_count() < 10


def test_library_files():
    assert is_library("/x/site-packages/torch/nn.py") and is_library(calling.__file__)
    assert not is_library("/tmp/ipykernel_1/2.py") and not is_library(__file__)
