"""`make test` itself: a part that fails stops no other, and nothing failed passes."""

import sys

import pytest

from tools import prove

REPORT = """<testsuites><testsuite>
<testcase classname="a" name="good" time="0.5"/>
<testcase classname="a" name="bad" time="2.0"><failure/></testcase>
<testcase classname="a" name="broken" time="1.0"><error/></testcase>
<testcase classname="a" name="left_out" time="0.1"><skipped/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """Two parts; the first writes a report with failures and fails."""
    ran = []

    def first() -> bool:
        "The first."
        ran.append("first")
        tmp_path.mkdir(exist_ok=True)
        (tmp_path / "first.xml").write_text(REPORT)
        return False

    def second() -> bool:
        "The second."
        ran.append("second")
        return True

    monkeypatch.setattr(prove, "REPORTS", tmp_path)
    monkeypatch.setattr(prove, "PARTS", {"first": first, "second": second})
    return ran


def test_every_part_runs_and_one_failure_fails_all(parts, capsys):
    assert prove.main([]) == 1
    assert parts == ["first", "second"]
    assert capsys.readouterr().out.endswith("\n1 passed, 2 failed\n")


def test_a_part_can_run_alone(parts, capsys):
    assert prove.main(["second"]) == 0
    assert parts == ["second"]


def test_an_unknown_part_is_named(parts, capsys):
    assert prove.main(["third"]) == 2
    assert "no such part: third; there are first, second" in capsys.readouterr().err


def test_the_slowest_tests_come_first(parts, capsys):
    prove.main(["first"])
    out = capsys.readouterr().out
    assert out.index("a::bad") < out.index("a::broken") < out.index("a::good")


def test_a_part_beside_the_others_prints_at_its_end_and_its_failure_counts(
    parts, capsys, monkeypatch
):
    def third() -> bool:
        "The third."
        code = "import sys; sys.stdout.buffer.write(b'words\\n\\xff\\n'); raise SystemExit(3)"
        return prove.run(sys.executable, "-c", code)  # and a byte that is no text

    monkeypatch.setitem(prove.PARTS, "third", third)
    monkeypatch.setattr(prove, "ASIDE", ("third",))
    assert prove.main(["second", "third"]) == 1
    out = capsys.readouterr().out
    assert out.index("=== third: The third.") < out.index("\nwords\n")
    assert "FAILED  third" in out and "ok      second" in out


@pytest.mark.parametrize("aside", [(), ("broken",)])
def test_a_part_that_raises_has_failed_and_says_why(parts, capfd, monkeypatch, aside):
    def broken() -> bool:
        "The broken."
        raise FileNotFoundError("no such interpreter")

    monkeypatch.setitem(prove.PARTS, "broken", broken)
    monkeypatch.setattr(prove, "ASIDE", aside)
    assert prove.main(["broken", "second"]) == 1
    assert parts == ["second"]
    assert "no such interpreter" in "".join(capfd.readouterr())
