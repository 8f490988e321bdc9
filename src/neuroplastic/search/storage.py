"""Where studies are kept: SQLite made safe for a few processes, or PostgreSQL."""

from __future__ import annotations

import random
import re
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ..errors import MissingPackageError, NeuroplasticError, in_short

try:
    import optuna
    import sqlalchemy
    from sqlalchemy import event, exc
except ImportError as error:  # pragma: no cover
    raise MissingPackageError(
        "studies need Optuna and SQLAlchemy: pip install 'neuroplastic[study]'"
    ) from error

DEFAULT = "sqlite:///studies.db"
BUSY_SECONDS = 120.0
_ATTEMPTS = 12
# Optuna's. Without one of these it would make it, in a database that is only looked at.
_TABLES = {
    *("studies", "study_directions", "study_user_attributes", "study_system_attributes", "version_info"),
    *("trials", "trial_values", "trial_params", "trial_user_attributes", "trial_system_attributes"),
    *("trial_intermediate_values", "trial_heartbeats", "alembic_version"),
}

T = TypeVar("T")


class StorageError(NeuroplasticError):
    """A storage cannot be reached, or its address is not one."""


class _Looking(sqlite3.Connection):
    """A connection that changes nothing: Optuna would write its version into a damaged database by opening it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.execute("PRAGMA query_only=ON")


def storage_url(text: str) -> str:
    """The address of a storage as SQLAlchemy wants it: `studies.db`, `sqlite:///...`, `postgresql://...`.

    SQLite paths become absolute, for a worker may live in another folder. A PostgreSQL address without a driver
    gets psycopg 3, since SQLAlchemy would look for psycopg 2.
    """
    if "://" not in text:
        text = f"sqlite:///{text}"
    scheme, _, rest = text.partition("://")
    if scheme in ("postgres", "postgresql"):
        return f"postgresql+psycopg://{rest}"
    if scheme.startswith("postgresql+"):
        return text
    if scheme == "sqlite":
        name = rest.removeprefix("/")
        if not name or name == ":memory:":
            raise StorageError("a study must outlive its workers: give a file, such as sqlite:///studies.db")
        return f"sqlite:///{Path(name).absolute()}"
    raise StorageError(f"a storage is sqlite:///FILE or postgresql://USER@HOST/DATABASE, got {shown(text)!r}")


def shown(url: str) -> str:
    """An address without its password."""
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", url)


def open_storage(text: str, *, create: bool = True) -> optuna.storages.RDBStorage:
    """Open a storage; without `create` it is only read: one that is not there, or has no studies, is an error."""
    url = storage_url(text)
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # the command line tells what there is to tell
    options: dict[str, Any]
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        if create:
            _prepare_file(path)
        elif not path.is_file():
            raise StorageError(f"there is no study storage {path}; start one with: neuroplastic study run")
        options = {"connect_args": {"timeout": BUSY_SECONDS, "check_same_thread": False}}
        if not create:
            options["connect_args"]["factory"] = _Looking
    else:
        options = {"pool_pre_ping": True, "connect_args": {"connect_timeout": 10}}
    options.update(pool_size=2, max_overflow=8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return _patiently(lambda: _opened(url, options, create=create), url, _ATTEMPTS if create else 1)


@contextmanager
def reachable(url: str) -> Iterator[None]:
    """While inside, the loss of the storage is a StorageError that says so."""
    try:
        yield
    except (exc.DBAPIError, optuna.exceptions.StorageInternalError) as error:
        cause = error if isinstance(error, exc.DBAPIError) else error.__cause__ or error
        reason = str(getattr(cause, "orig", cause)).strip().splitlines()[0]
        raise StorageError(
            f"the storage {shown(url)} was lost ({reason}); finished trials are safe there: "
            "run the same command again when it is back"
        ) from error


@contextmanager
def understood(storage: optuna.storages.BaseStorage) -> Iterator[None]:
    """While inside, whatever Optuna stumbles over in a damaged or foreign database is a StorageError that names it."""
    try:
        yield
    except NeuroplasticError:
        raise
    except Exception as error:  # whatever kind: Optuna takes what it reads for its own
        url = str(storage.engine.url) if isinstance(storage, optuna.storages.RDBStorage) else "of the study"
        reason = getattr(error, "orig", None) or error
        raise StorageError(
            f"the storage {shown(url)} cannot be read: it is damaged, or not of this program "
            f"({type(reason).__name__}: {in_short(reason)})"
        ) from error


def _prepare_file(path: Path) -> None:
    """Make sure of the file, in write-ahead mode: readers (a dashboard) then never wait for writers."""
    if not path.parent.is_dir():
        raise StorageError(f"the folder {path.parent} of the storage does not exist; make it first")
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
            try:
                connection.execute("PRAGMA journal_mode=WAL")
            finally:
                connection.close()
            return
        except sqlite3.DatabaseError as error:
            # Changing the mode does not wait for others, as other statements do.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise StorageError(f"{path} cannot be used as a study storage: {error}") from error
            time.sleep(0.05 + 0.1 * random.random())


def _opened(url: str, options: dict[str, Any], *, create: bool) -> optuna.storages.RDBStorage:
    if not create and not _has_studies(url, options):
        # Optuna would make its tables there without asking.
        raise StorageError(
            f"{shown(url)} is a database without studies of Optuna; give the one of your studies"
        )
    try:
        storage = optuna.storages.RDBStorage(url, engine_kwargs=options)
    except (exc.DatabaseError, optuna.exceptions.StorageInternalError) as error:
        # Where Optuna finds no version of its own it writes one, which a database that is looked at does not let it.
        if isinstance(error, exc.DatabaseError) and (create or "readonly" not in str(error.orig)):
            raise
        raise StorageError(
            f"the storage {shown(url)} cannot be used: it is damaged, or not of this program"
        ) from error
    if create and url.startswith("sqlite"):
        _begin_with_write_lock(storage.engine)
    return storage


def _has_studies(url: str, options: dict[str, Any]) -> bool:
    engine = sqlalchemy.create_engine(url, **options)
    try:
        return set(sqlalchemy.inspect(engine).get_table_names()) >= _TABLES
    finally:
        engine.dispose()


def _begin_with_write_lock(engine: sqlalchemy.Engine) -> None:
    """Let every transaction take SQLite's write lock at its start, and wait for it there.

    Python's sqlite3 begins a transaction only at the first write, so what a transaction read before may have
    changed since, and two that both want to write can block each other ("database is locked", at once).
    """

    @event.listens_for(engine, "connect")
    def no_implicit_begin(connection: Any, _: object) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def begin(connection: sqlalchemy.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _patiently(make: Callable[[], T], url: str, attempts: int) -> T:
    """Try again where several processes make the tables at once and all but one are told that they exist."""
    for attempt in range(1, attempts + 1):
        try:
            return make()
        except exc.DatabaseError as error:
            if _unreachable(error) or attempt == attempts:
                reason = str(error.orig).strip().splitlines()[0]
                raise StorageError(f"the storage {shown(url)} cannot be reached: {reason}") from error
            time.sleep(random.uniform(0.05, 0.3))
        except ImportError as error:
            raise StorageError(
                f"{shown(url)} needs a database driver: pip install 'neuroplastic[postgresql]'"
            ) from error
        except (exc.ArgumentError, ValueError) as error:
            raise StorageError(f"{shown(url)} is not the address of a storage") from error
        except RuntimeError as error:  # Optuna: the tables are of another version
            if attempt == attempts:
                raise StorageError(f"the storage {shown(url)} cannot be used: {error}") from error
            time.sleep(random.uniform(0.05, 0.3))
    raise AssertionError("unreachable")


def _unreachable(error: exc.DBAPIError) -> bool:
    text = str(error.orig).lower()
    return not isinstance(error, exc.IntegrityError | exc.ProgrammingError) and not any(
        passing in text for passing in ("locked", "already exists", "deadlock")
    )
