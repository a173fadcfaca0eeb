"""The workflows run the commands that everybody runs, with no more rights than they need."""

from __future__ import annotations

import re

import pytest
import yaml

from tools.prove import PARTS
from tools.sources import ROOT, Course

FILES = sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))
WORKFLOWS = {path.name: yaml.safe_load(path.read_text("utf8")) for path in FILES}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf8"), re.M))
OFFICIAL = re.compile(r"actions/[\w-]+@[0-9a-f]{40}")


def steps(name: str) -> list[dict]:
    return [step for job in WORKFLOWS[name]["jobs"].values() for step in job["steps"]]


def commands(name: str) -> list[str]:
    return [step["run"].strip() for step in steps(name) if "run" in step]


def triggers(name: str) -> dict:
    return WORKFLOWS[name][True]  # YAML 1.1 reads the key `on` as true


def test_there_are_the_two_workflows():
    assert set(WORKFLOWS) == {"site.yml", "colab-weekly.yml"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_step_is_a_make_command_or_an_official_action_of_one_commit(name):
    for step in steps(name):
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert OFFICIAL.fullmatch(step["uses"]), step["uses"]
    for command in commands(name):
        found = re.fullmatch(r"make ([a-z-]+)(?: PARTS=(\w+))?", command)
        assert found, f"not a make command alone: {command}"
        assert found[1] in TARGETS
        assert found[2] is None or found[2] in PARTS


@pytest.mark.parametrize("name", WORKFLOWS)
def test_an_action_has_one_version_and_says_it(name):
    text = (ROOT / ".github" / "workflows" / name).read_text("utf8")
    for line in re.findall(r".*uses:.*", text):
        assert re.search(r"# v\d+\.\d+\.\d+$", line), line
    everywhere = "".join(path.read_text("utf8") for path in FILES)
    for action in set(re.findall(r"uses: ([\w/-]+)@", text)):
        assert len(set(re.findall(rf"{action}@(\w+)", everywhere))) == 1


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_has_no_secret_and_no_right_that_it_does_not_need(name):
    text = (ROOT / ".github" / "workflows" / name).read_text("utf8")
    assert "secrets" not in text and "token:" not in text.replace("id-token:", "")
    assert "pull_request_target" not in text
    assert WORKFLOWS[name]["permissions"] == {"contents": "read"}
    for job, body in WORKFLOWS[name]["jobs"].items():
        rights = body.get("permissions")
        assert rights == ({"pages": "write", "id-token": "write"} if job == "publish" else None)
        assert body["timeout-minutes"] <= 90
    for step in steps(name):
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False
    assert WORKFLOWS[name]["concurrency"]["group"]


def test_the_site_is_proved_and_built_for_every_change_and_published_from_main():
    main = Course().branch
    assert triggers("site.yml")["push"] == {"branches": [main]}
    assert "pull_request" in triggers("site.yml")
    assert commands("site.yml") == ["make test", "make book"]
    prove, publish = (WORKFLOWS["site.yml"]["jobs"][name] for name in ("prove", "publish"))
    assert publish["needs"] == "prove"
    upload = next(s for s in prove["steps"] if "upload-pages" in s.get("uses", ""))
    assert prove["steps"].index(upload) == len(prove["steps"]) - 1
    assert upload["with"]["path"] == "_build/html"
    for where in (upload, publish):
        assert where["if"] == ("github.event_name != 'pull_request' && "
                               f"github.ref == 'refs/heads/{main}'")
    assert [s["uses"].split("@")[0] for s in publish["steps"]] == ["actions/deploy-pages"]


def test_colabs_versions_are_fetched_and_tried_every_week():
    (when,) = triggers("colab-weekly.yml")["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* [0-6]", when["cron"])
    assert commands("colab-weekly.yml") == ["make colab-list", "make test PARTS=colab"]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_what_pip_fetched_is_kept_between_runs(name):
    (python,) = [s for s in steps(name) if "setup-python" in s.get("uses", "")]
    assert python["with"]["cache"] == "pip"
    pattern = python["with"]["cache-dependency-path"]
    assert {p.name for p in ROOT.glob(pattern)} >= {"requirements.txt", "requirements-colab.txt"}
