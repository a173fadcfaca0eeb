"""Every source is written once: each link has its entry, each entry somebody who cites it."""

from dataclasses import replace

import pytest
import yaml

from tools.references import KINDS, References, addresses, by_name, normal
from tools.sources import Course, Page

COURSE = Course()
REFERENCES = References(COURSE)
ENTRIES = list(REFERENCES.entries.values())
PAGE = COURSE.pages["book/19_references"].text


@pytest.mark.parametrize("name", list(COURSE.pages))
def test_every_link_of_a_page_has_an_entry(name):
    unknown = REFERENCES.unknown(COURSE.pages[name])
    assert unknown == [], "write an entry in book/references.yml"


def test_every_entry_is_cited_by_a_page():
    alone = [key for key, pages in REFERENCES.cited_by.items() if not pages]
    assert alone == [], "cite it, or take it out of book/references.yml"


def test_a_link_that_nobody_entered_is_found(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book/09_new.md").write_text(
        "# New\n\n[here](https://example.org/paper) and [known](https://arxiv.org/abs/2107.02027v2)\n"
        f"and [ours]({COURSE.repository}/issues)\n\n```{{code-cell}} ipython3\n"
        "print('https://example.org/in-code')\n```\n")
    assert REFERENCES.unknown(Page(tmp_path, "book/09_new")) == ["https://example.org/paper"]


def test_keys_and_addresses_are_written_once():
    rows = REFERENCES.data["references"]
    assert len({row["key"] for row in rows}) == len(rows)
    leads = [normal(a) for e in ENTRIES for a in (e.address, *e.also)]
    assert len(set(leads)) == len(leads)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.key)
def test_an_entry_says_what_is_needed_and_in_one_sentence(entry):
    assert entry.kind in KINDS and entry.title
    assert bool(entry.doi) != bool(entry.url), "a DOI, or else an address"
    assert entry.found.endswith(".") and ". " not in entry.found, "one sentence"
    if entry.kind in ("paper", "text"):
        assert entry.authors and 1950 < entry.year < 2030
    if entry.doi:
        assert entry.doi.startswith("10.") and " " not in entry.doi
    else:
        assert addresses(entry.url) == [entry.url] and entry.url.startswith("https://")
        assert "arxiv.org" not in entry.url, "give the DOI: 10.48550/arXiv.…"


def test_the_page_shows_every_entry_once():
    shown = "\n".join(REFERENCES.markdown(kind) for kind in KINDS)
    for entry in ENTRIES:
        assert shown.count(f"(ref-{entry.key})=") == 1
        assert entry.address in shown and entry.found in shown
    for kind in (*KINDS, "absent"):
        assert PAGE.count(f"{{references}} {kind}\n") == 1


def test_what_is_absent_or_excused_has_a_reason():
    for row in REFERENCES.data["absent"]:
        assert len(row["reason"]) > 20
    used = {normal(a) for page in COURSE.pages.values() for a in REFERENCES.links(page)}
    for row in REFERENCES.data["not_sources"]:
        assert len(row["reason"]) > 20
        assert normal(row["address"]) in used, f"nobody links {row['address']} any more"


def test_an_unknown_kind_is_an_error_that_names_the_kinds():
    with pytest.raises(ValueError, match="'papers': paper, documentation"):
        REFERENCES.markdown("papers")


def test_the_data_is_plain_yaml_with_nothing_unknown():
    rows = yaml.safe_load((COURSE.root / "book/references.yml").read_text("utf8"))
    assert set(rows) == {"references", "absent", "not_sources"}


@pytest.mark.parametrize("address", [
    "HTTPS://ArXiv.org/abs/2107.02027", "https://export.arxiv.org/abs/2107.02027v1",
    "https://arxiv.org/html/2107.02027v2", "http://arxiv.org/pdf/2107.02027v2.pdf",
])  # fmt: skip
def test_spellings_of_one_paper_are_one(address):
    assert normal(address) == normal("https://doi.org/10.48550/arXiv.2107.02027")


def test_a_name_that_is_given_twice_is_an_error():
    assert by_name(ENTRIES, "key") == REFERENCES.entries
    with pytest.raises(ValueError, match=f"key {ENTRIES[0].key!r} is given twice"):
        by_name([*ENTRIES, replace(ENTRIES[0], title="Another")], "key")
