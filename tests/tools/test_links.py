"""The link checker: a broken link, a host that is out, and no network are three things."""

from __future__ import annotations

import http.server
import socket
import threading

import pytest

from tests.tools.conftest import HEADER
from tools import links
from tools.sources import Course


class Host(http.server.BaseHTTPRequestHandler):
    """Answers each address with the status that it ends in."""

    def do_GET(self) -> None:
        self.send_response(int(self.path.rsplit("/", 1)[1]))
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><body><p id='here'>a page</p></body></html>")

    do_HEAD = do_GET

    def log_message(self, *args) -> None:
        pass


@pytest.fixture(scope="module")
def host():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.fixture(scope="module")
def closed() -> str:
    """An address where nobody answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """A function that checks a page with these links; (exit code, lines, errors)."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(links, "FOLDER", tmp_path / "out")

    def run(*addresses: str):
        page = tmp_path / "01_page.md"
        body = "\n\n".join(f"[text]({address})" for address in addresses)
        page.write_text(f"{HEADER}# A page\n\n{body}\n")
        code = links.main([str(page)])
        shown = capsys.readouterr()
        return code, shown.out.splitlines(), shown.err

    return run


def test_a_broken_link_is_found_and_named_with_its_page(check, host, closed):
    code, lines, _ = check(f"{host}/200", f"{host}/404", f"{host}/a/200#nowhere", f"{host}/403",
                           f"{closed}/200", f"{host}/b/200#here")
    assert code == 1
    broken = [line for line in lines if line.startswith("BROKEN")]
    assert len(broken) == 3
    for address in (f"{host}/404", f"{host}/a/200#nowhere", f"{closed}/200"):
        assert any(f"{address} (book/01_page.md:" in line for line in broken), address
    assert [line.split()[1] for line in lines if line.startswith("unsure")] == [f"{host}/403"]
    assert lines[-1] == "2 links are good, 1 unsure, 3 broken"


def test_good_links_pass(check, host):
    code, lines, _ = check(f"{host}/200")
    assert (code, lines) == (0, ["1 links are good, 0 unsure, 0 broken"])


def test_without_a_network_no_link_is_called_broken(check, closed):
    code, lines, error = check(f"{closed}/200", f"{closed}/2/200")
    assert (code, lines) == (2, [])
    assert error.startswith("no network: none of 2 links got an answer")


def test_a_page_that_is_not_there_is_one_line(check, capsys):
    assert links.main(["book/no_such_page.md"]) == 2
    assert "no such page" in capsys.readouterr().err


def record(address: str, status: str, info: str = "") -> dict:
    return {"uri": address, "status": status, "info": info, "filename": "book/a.md", "lineno": 3}


@pytest.mark.parametrize(("path", "fault"), [
    ("/blob/main/README.md", None),
    ("/blob/main/course_lib/loss.py#L10", None),
    ("", None),
    ("/issues", None),
    ("/blob/main/book/00_gone.ipynb", "no file book/00_gone.ipynb here"),
    ("/tree/old/labs", "a branch of another name than main"),
])  # fmt: skip
def test_links_to_the_repository_are_held_to_the_files(path, fault):
    course = Course()
    for place in links.own_addresses(course)[:2]:
        assert links.own_fault(place + path, course) == fault


def test_links_to_the_site_are_held_to_the_pages():
    course = Course()
    assert links.own_fault(course.page_url("book/02_shift") + "#terms", course) is None
    assert links.own_fault(course.page_url("book/00_gone"), course) == "no page book/00_gone here"
    gone = links.sort_out([record(course.page_url("book/00_gone"), "ignored")], course)
    assert gone.code == 1 and "no page book/00_gone here" in gone.broken[0]


@pytest.mark.parametrize(("records", "code"), [
    ([("working", "")], 0),
    ([("working", ""), ("timeout", "")], 0),
    ([("working", ""), ("broken", "503 Server Error: busy")], 0),
    ([("working", ""), ("broken", "404 Client Error: Not Found")], 1),
    ([("broken", "404 Client Error: Not Found")], 1),
    ([("working", ""), ("broken", "Max retries exceeded: NameResolutionError")], 1),
    ([("broken", "Max retries exceeded: NameResolutionError"), ("timeout", "")], 2),
    ([("timeout", "")], 2),
    ([("broken", "HTTPSConnectionPool: Read timed out."), ("redirected", "")], 0),
    ([("rate-limited", "")], 0),
    ([], 0),
])  # fmt: skip
def test_the_exit_code_tells_broken_from_out_of_reach(records, code):
    found = [record(f"https://example.org/{i}", *r) for i, r in enumerate(records)]
    assert links.sort_out(found, Course()).code == code
