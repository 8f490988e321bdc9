"""Attacks on the studio, each counted; none may succeed."""

import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")

from neuroplastic.studio import guard
from neuroplastic.studio.app import application
from neuroplastic.studio.guard import COOKIE, Door
from neuroplastic.studio.library import Library
from neuroplastic.usecases.opening import box_names
from tests.studio.asking import HOST, ORIGIN, ask, knock

TOKEN = "a-token-that-nobody-guesses"
SECRET = "the secret outside"
STEPS = ("..", "%2e%2e", "..%2f..", "..\\..", "....//", "%252e%252e", "..;", "%c0%ae%c0%ae")
PLACES = (
    "/static/{}/secret.txt",
    "/static/{}%2fsecret.txt",
    "/watch/{}/secret.txt",
    "/{}/secret.txt",
    "//{}/secret.txt",
)
HOSTS = (
    "evil.example",
    "evil.example:8600",
    "127.0.0.1.evil.example:8600",
    "localhost.evil.example:8600",
    "127.0.0.1:8601",
    "127.0.0.1",
    "127.0.0.1:8600@evil.example",
    "evil.example#127.0.0.1:8600",
    "",
    "0.0.0.0:8600",
    "192.168.0.1:8600",
    "127.0.0.1:08600x",
)
ORIGINS = (
    "http://evil.example",
    "http://evil.example:8600",
    "https://127.0.0.1.evil.example:8600",
    "http://127.0.0.1:8601",
    "http://localhost:3000",
    "null",
    "file://",
    "http://127.0.0.1:8600.evil.example",
    "http://[::1]:8600",
    "",
)


@pytest.fixture
def library(tmp_path):
    (tmp_path / "secret.txt").write_text(SECRET, encoding="utf-8")
    (tmp_path / "runs").mkdir()
    return Library(tmp_path / "runs", tmp_path / "models")


@pytest.fixture
def app(library):
    return application(library, Door("127.0.0.1", 8600))


@pytest.fixture
def locked(library):
    return application(library, Door("0.0.0.0", 8600, TOKEN))


def test_no_path_of_a_request_leads_to_a_file_outside_the_list(app, tmp_path):
    paths = [place.format(step) for step in STEPS for place in PLACES]
    paths += ["/static/" + str(tmp_path / "secret.txt"), f"/static/{tmp_path}%00.css"]
    assert len(paths) >= 40
    for path in paths:
        answer = ask(app, path)
        assert answer.status in (404, 200), path
        assert SECRET.encode() not in answer.body, path
        if answer.status == 200:
            assert b"<main" in answer.body, (
                path
            )  # a page's shell, whose script will not find what it is about


def test_an_agent_that_is_edited_saved_or_begun_from_is_looked_up_in_the_list(app, library):
    for name in ("..%2foutside", "%2e%2e", "x%00", str(library.runs.parent).replace("/", "%2f")):
        for what in ("rules", "save", "export"):
            body = b'{"edits": [], "as": "../../outside", "ending": ".txt"}'
            assert ask(app, f"/api/agents/{name}/{what}", method="POST", body=body).status == 404
        started = f'{{"start": "{name}"}}'.encode()
        assert ask(app, "/api/runs", method="POST", body=started).status == 404
    for origin in ("http://evil.example", "null"):
        answer = ask(app, "/api/agents/DTC/save", method="POST", body=b"{}", origin=origin)
        assert answer.status == 403
    assert not list(library.runs.iterdir())


def test_a_watched_name_is_looked_up_in_the_list_and_never_made_a_path(library):
    (library.runs.parent / "outside").mkdir()
    (library.runs.parent / "outside" / "config.json").write_text("{}", encoding="utf-8")
    (library.runs / "link").symlink_to(library.runs.parent / "outside")
    assert set(library.agents()) == set(box_names())
    for name in ("../outside", "link", str(library.runs.parent / "outside"), "..%2foutside"):
        assert name not in library.agents()


@pytest.mark.parametrize("host", [*HOSTS, [HOST, "evil.example"], []], ids=str)
def test_a_foreign_host_is_refused(app, host):
    assert ask(app, "/api/agents", host=host).status == 421
    assert knock(app, "/api/watch/DTC", host=host, origin=ORIGIN)[0]["type"] == "websocket.close"


@pytest.mark.parametrize("origin", [*ORIGINS, [ORIGIN, "http://evil.example"]], ids=str)
def test_a_foreign_origin_is_refused_by_requests_and_by_the_websocket(app, origin):
    assert ask(app, "/api/agents", origin=origin).status == 403
    assert ask(app, "/api/tables", method="POST", origin=origin).status == 403
    for address in ("/api/watch/DTC", "/api/agents/DTC/play"):
        assert knock(app, address, origin=origin) == [{"type": "websocket.close", "code": 1008}]


def test_what_changes_something_and_every_websocket_must_say_its_origin(app):
    assert ask(app, "/api/tables", method="POST", origin=[]).status == 403
    assert knock(app, "/api/watch/DTC")[0]["type"] == "websocket.close"


def test_another_sites_scripts_and_pictures_are_refused_but_its_links_lead_here(app):
    for site in ("cross-site", "same-site"):
        assert ask(app, "/api/agents", sec_fetch_site=site, sec_fetch_dest="script").status == 403
        assert ask(app, "/static/studio.js", sec_fetch_site=site, sec_fetch_dest="image").status == 403
        assert ask(app, "/watch/DTC", sec_fetch_site=site, sec_fetch_dest="document").status == 200
        assert ask(app, "/watch/DTC", sec_fetch_site=site, sec_fetch_dest="iframe").status == 403
    assert ask(app, "/api/agents", sec_fetch_site="same-origin", sec_fetch_dest="empty").status == 200


def test_a_page_on_this_machine_gets_in(app):
    for host in (HOST, "localhost:8600", "LOCALHOST:8600", "[::1]:8600"):
        assert ask(app, "/api/agents", host=host, origin=f"http://{host.lower()}").status == 200


def test_scripts_and_frames_of_elsewhere_are_forbidden_on_every_answer(app):
    for path in ("/watch", "/api/agents", "/nowhere", "/static/studio.js"):
        headers = ask(app, path).headers
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    refused = ask(app, "/watch", host="evil.example")
    assert "content-security-policy" in refused.headers


@pytest.mark.parametrize(
    "guess",
    ["", "a", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "a-token", "null", "%00", "*", TOKEN[::-1], "é"],
    ids=repr,
)
def test_a_guessed_token_is_refused_everywhere(locked, guess):
    for how in (
        {"authorization": f"Bearer {guess}"},
        {"cookie": f"{COOKIE}={guess}"},
        {"cookie": f'{COOKIE}="{guess}"; {COOKIE}={guess}'},
    ):
        assert ask(locked, "/api/agents", **how).status == 401
        assert knock(locked, "/api/watch/DTC", origin=ORIGIN, **how)[0]["type"] == "websocket.close"
    assert ask(locked, f"/watch?token={guess}").status == 401


def test_the_token_lets_in_once_it_is_given_and_goes_from_the_address(locked):
    welcome = ask(locked, f"/watch/DTC?seed=7&token={TOKEN}")
    assert (welcome.status, welcome.headers["location"]) == (303, "/watch/DTC?seed=7")
    cookie = welcome.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert ask(locked, "/api/agents", cookie=cookie.partition(";")[0]).status == 200
    assert ask(locked, "/api/agents", authorization=f"Bearer {TOKEN}").status == 200


def test_the_token_does_not_lead_to_another_host(locked):
    for path in (f"//evil.example/?token={TOKEN}", f"/%5cevil.example?token={TOKEN}"):
        assert ask(locked, path).headers["location"].startswith("/evil.example")


def test_with_a_token_a_name_of_somebody_elses_is_refused_all_the_same(locked):
    assert ask(locked, "/api/agents", host="evil.example:8600", authorization=f"Bearer {TOKEN}").status == 421
    assert ask(locked, "/api/agents", host="192.168.0.7:8600", authorization=f"Bearer {TOKEN}").status == 200


def test_tokens_are_compared_in_constant_time(locked, monkeypatch):
    compared = []
    monkeypatch.setattr(guard.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or False)
    assert ask(locked, "/api/agents", authorization=f"Bearer {TOKEN}").status == 401
    assert compared == [(TOKEN.encode(), TOKEN.encode())]
