"""What is kept is what ran: other cells or another course run again, and a failure is not kept."""

import nbformat
import pytest

from tools import kept


def notebook(source):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])


class Runs:
    """Counts its calls and writes their number as the output."""

    def __init__(self):
        self.calls = 0

    def __call__(self, nb):
        self.calls += 1
        nb.cells[0].outputs = [nbformat.v4.new_output("stream", text=str(self.calls))]
        return nb


def test_the_same_cells_run_once_and_others_again(tmp_path):
    run = Runs()
    texts = [kept.executed(notebook(source), run, tmp_path).cells[0].outputs[0].text
             for source in ("1", "1", "2", "1")]
    assert texts == ["1", "1", "2", "1"] and run.calls == 2


def test_a_changed_course_runs_again(tmp_path, monkeypatch):
    run = Runs()
    kept.executed(notebook("1"), run, tmp_path)
    monkeypatch.setattr(kept, "course_key", lambda: "another")
    kept.executed(notebook("1"), run, tmp_path)
    assert run.calls == 2


def test_the_key_of_the_course_changes_with_a_file_of_it(tmp_path):
    for name in ("book", *kept.DEPENDS_ON[:-1]):
        (tmp_path / name).mkdir()
    (tmp_path / "requirements.txt").write_text("a")
    keys = {kept.course_key.__wrapped__(tmp_path)}
    for name in ("course_lib/x.py", "labs/x.md", "tools/x.py", "requirements.txt",
                 "book/x.yml"):
        (tmp_path / name).write_text("b")
        keys.add(kept.course_key.__wrapped__(tmp_path))
    assert len(keys) == 6


def test_a_tag_makes_another_notebook(tmp_path):
    run, tagged = Runs(), notebook("1")
    tagged.cells[0].metadata["tags"] = ["raises-exception"]
    for nb in (notebook("1"), tagged, notebook("1")):
        kept.executed(nb, run, tmp_path)
    assert run.calls == 2


@pytest.mark.parametrize("damage", ["", "{", "null"])
def test_a_damaged_one_runs_again(tmp_path, damage):
    run = Runs()
    kept.executed(notebook("1"), run, tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_text(damage)
    texts = [kept.executed(notebook("1"), run, tmp_path).cells[0].outputs[0].text for _ in "12"]
    assert texts == ["2", "2"]


def test_a_failure_is_not_kept(tmp_path):
    def fails(nb):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        kept.executed(notebook("1"), fails, tmp_path)
    run = Runs()
    kept.executed(notebook("1"), run, tmp_path)
    assert run.calls == 1


def test_old_ones_make_room(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "MOST", 2)
    for source in "123":
        kept.executed(notebook(source), Runs(), tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
