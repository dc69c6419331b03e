"""The store: results by case in one SQLite file, one transaction each, so that nothing finished is ever lost."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from efex.errors import EfexError
from efex.study.case import Case

SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    id TEXT NOT NULL,
    spec TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('done', 'failed')),
    result TEXT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (id, spec)
) WITHOUT ROWID
"""
"""A case may be measured at other moments in another study, so its id alone is no key."""
KEYED_BY_ID = "SELECT count(*) = 1 FROM pragma_table_info('results') WHERE pk > 0"
REKEY = (
    "ALTER TABLE results RENAME TO before",
    SCHEMA,
    "INSERT INTO results SELECT * FROM before",
    "DROP TABLE before",
)
"""What a store takes that was made when the id was the key."""
COLUMNS = ("id", "spec", "outcome", "result", "version")
INSERT = "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?)"


class Store:
    """Finished cases on disk. One process writes; a case is there wholly or not at all."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.path)
        except (OSError, sqlite3.Error) as error:
            raise EfexError(f"{self.path} cannot be opened as a store: {error}") from error
        try:
            self._prepare()
        except sqlite3.OperationalError as error:
            self.close()
            raise EfexError(f"{self.path} cannot be made ready: {error}; close whatever uses it") from error
        except sqlite3.DatabaseError as error:
            self.close()
            raise EfexError(f"{self.path} is not a store of studies: {error}") from error

    def _prepare(self) -> None:
        """Make the table, or make an old one anew."""
        with self._database:
            self._database.execute(SCHEMA)
            if self._database.execute(KEYED_BY_ID).fetchone()[0]:
                self._database.execute("BEGIN IMMEDIATE")
                # Somebody else may have done so meanwhile.
                for statement in REKEY if self._database.execute(KEYED_BY_ID).fetchone()[0] else ():
                    self._database.execute(statement)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def put(self, case: Case, outcome: str, result: Any, version: str) -> None:
        """Keep the result of a case, in place of the one that was there."""
        row = (case.id, case.to_json(), outcome, json.dumps(result, sort_keys=True), version)
        with self._database:
            self._database.execute(INSERT, row)

    def outcomes(self) -> list[tuple[str, str]]:
        """Return the id, and "done" or "failed", of every case there is."""
        return list(self._database.execute("SELECT id, outcome FROM results"))

    def results(self, cases: Iterable[Case]) -> Iterator[tuple[Case, dict[str, Any]]]:
        """Yield the results of those of the cases that are done."""
        return ((case, json.loads(row[3])) for case, row in self._rows(cases, "done"))

    def failures(self, cases: Iterable[Case]) -> Iterator[tuple[Case, str]]:
        """Yield the tracebacks of those of the cases that failed."""
        return ((case, json.loads(row[3])) for case, row in self._rows(cases, "failed"))

    def _rows(self, cases: Iterable[Case], outcome: str) -> Iterator[tuple[Case, tuple[str, ...]]]:
        query = "SELECT * FROM results WHERE id = ? AND spec = ? AND outcome = ?"
        for case in cases:
            row = self._database.execute(query, (case.id, case.to_json(), outcome)).fetchone()
            if row is not None:
                yield case, row

    def export(self, cases: Iterable[Case], path: str | Path) -> int:
        """Write the finished cases as compressed JSON lines, the same bytes for the same results; return how many."""
        ordered = sorted(cases, key=lambda case: case.id)
        lines = [json.dumps(row) for _, row in self._rows(ordered, "done")]
        packed = gzip.compress("".join(f"{line}\n" for line in lines).encode(), 9, mtime=0)
        Path(path).write_bytes(packed)
        return len(lines)

    def load(self, path: str | Path) -> int:
        """Take in all that `export` wrote; results that are already here stay. Return how many came."""
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                rows = [tuple(json.loads(line)) for line in file]
        except (OSError, EOFError, TypeError, ValueError, zlib.error) as error:
            raise EfexError(f"{path} cannot be read as exported results: {error}") from error
        if any(len(row) != len(COLUMNS) or not all(isinstance(each, str) for each in row) for row in rows):
            raise EfexError(f"{path} cannot be read as exported results: every line must be {', '.join(COLUMNS)}")
        here = set(self._database.execute("SELECT id, spec FROM results WHERE outcome = 'done'"))
        come = [row for row in rows if row[:2] not in here]
        with self._database:
            self._database.executemany(INSERT, come)
        return len(come)
