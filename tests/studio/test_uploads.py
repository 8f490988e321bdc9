"""Uploads that are too large, too slow or no tables, and names that lead nowhere: none gets in."""

import asyncio
import json

import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")

from neuroplastic.studio import requests, tables
from neuroplastic.studio.app import application
from neuroplastic.studio.fitting import Fit
from neuroplastic.studio.guard import Door
from neuroplastic.studio.library import Library
from neuroplastic.studio.uploads import UPLOADS, Uploads, safe_name
from neuroplastic.studio.worker import FAILED
from tests.studio.asking import ask, asked

MALFORMED = {
    "empty": b"",
    "blank": b" \n\n",
    "no rows": b"a,b\n",
    "not text": b"\x89PNG\r\n\x1a\n\0\0\0",
    "parquet": b"PAR1\0\0\0\0PAR1",
    "not UTF-8": b"a,b\n\xff\xfe,1\n",
    "twice the same column": b"a,a \n1,2\n",
    "more values than names": b"a,b\n1,2,3\n4,5,6\n",
    "a quote that never ends": b'a,b\n"1,2\n' + b"3,4\n" * 50,
    "too many columns": b",".join(b"c%d" % k for k in range(600)) + b"\n" + b",".join([b"1"] * 600),
    "too many rows": b"a,b\n" + b"1,2\n" * 200_001,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("uploads")


@pytest.fixture
def app(folder):
    return application(Library(folder / "runs", folder / "models"), Door("127.0.0.1", 8600))


def test_a_malformed_file_is_refused_with_a_reason_and_not_kept(folder):
    async def all_of_them():
        app = application(Library(folder / "runs", folder / "models"), Door("127.0.0.1", 8600))
        answers = {}
        for name, content in MALFORMED.items():
            answers[name] = await asked(app, "/api/tables?name=x.csv", method="POST", body=content)
        kept = (await asked(app, "/api/tables")).json()
        return answers, kept

    answers, kept = asyncio.run(all_of_them())
    assert len(answers) >= 10
    for name, answer in answers.items():
        assert answer.status == 400, name
        assert answer.json()["why"], name
        assert UPLOADS not in answer.json()["why"], name
    assert kept == {"tables": []}
    assert not list((folder / "models").rglob("*.csv"))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("customers.csv", "customers.csv"),
        ("Kunden 2026.csv", "Kunden 2026.csv"),
        ("../../etc/passwd", "passwd.csv"),
        ("C:\\tables\\a<b>.csv", "a-b.csv"),
        ("..", "table.csv"),
        ("", "table.csv"),
        ("x" * 300, "x" * 40 + ".csv"),
    ],
)
def test_an_upload_is_kept_under_the_name_that_its_owner_gave_it_and_leads_nowhere_else(given, kept):
    assert safe_name(given) == kept


def test_a_fit_that_fails_tells_of_its_file_by_the_name_alone():
    made = Fit(1, "x", "models/.uploads/ab/cd/customers.csv")
    made.hear(FAILED, "models/.uploads/ab/cd/customers.csv has no column 'churn'")
    assert made.told()["why"] == "customers.csv has no column 'churn'"


def test_uploads_of_a_studio_that_is_gone_are_removed_and_those_of_a_living_one_stay(tmp_path):
    living, gone = Uploads(tmp_path), tmp_path / UPLOADS / "0123"
    kept = living.write("a.csv", b"a,b")
    gone.mkdir()
    (gone / "b.csv").write_bytes(b"a,b")
    (gone / "lock").touch()
    (tmp_path / UPLOADS / "c.csv").write_bytes(b"a,b")
    Uploads(tmp_path).close()
    assert [path for path in tmp_path.rglob("*.csv")] == [kept]
    living.close()
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_too_large_is_refused_before_it_is_read(app, monkeypatch):
    monkeypatch.setattr(tables, "MOST_BYTES", 1000)
    claimed = ask(app, "/api/tables", method="POST", body=b"a,b\n1,2\n", content_length="999999999")
    lied = ask(app, "/api/tables", method="POST", body=[b"1,2\n" * 100] * 10)
    odd = ask(app, "/api/tables", method="POST", body=b"a,b\n", content_length="-5")
    assert [claimed.status, lied.status, odd.status] == [413, 413, 413]


def test_a_question_that_is_too_large_or_no_object_is_refused(app):
    assert ask(app, "/api/fits", method="POST", body=b"[" * 300_000).status == 413
    for body in (b"", b"nonsense", b"[]", b"[" * 5000, b'"x"', b'{"table": 1}', b'{"table": {"a": 1}}'):
        assert ask(app, "/api/fits", method="POST", body=body).status == 400, body


def test_a_file_that_never_arrives_is_given_up(monkeypatch):
    class Slow:
        headers = {}  # noqa: RUF012

        async def stream(self):
            await asyncio.sleep(60)
            yield b""

    with pytest.raises(requests.HTTPException, match="longer than"):
        asyncio.run(requests.body_of(Slow(), seconds=0.05))


def test_tables_models_and_fits_are_reached_by_names_from_a_list_alone(app, folder):
    (folder / "secret").mkdir(exist_ok=True)
    (folder / "secret" / "columns.json").write_text("{}", encoding="utf-8")
    for name in ("..%2fsecret", "../secret", str(folder / "secret").replace("/", "%2f"), "x%00", ".uploads"):
        for path in (f"/api/models/{name}", f"/api/models/{name}/page", f"/api/models/{name}/download/model"):
            assert ask(app, path).status == 404, path
        assert ask(app, f"/api/tables/{name}").status == 404
        ending = b'{"edits": [], "ending": ".txt"}'
        assert ask(app, f"/api/models/{name}/export", method="POST", body=ending).status == 404
        assert ask(app, f"/api/examples/{name}", method="POST", body=b"{}").status in (400, 404)
        wish = {"table": name, "target": "a"}
        assert ask(app, "/api/fits", method="POST", body=json.dumps(wish).encode()).status == 404
    assert ask(app, "/api/fits/1").status == 404
    assert ask(app, "/api/fits/../../etc/passwd").status == 404
