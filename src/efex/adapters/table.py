"""Tables of logged walks: CSV and Parquet with the columns episode, action, observation, terminated; read and written.

A row is an observation and the action taken there; what the last row of an episode says of an action is ignored.
"""

from __future__ import annotations

import csv
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os.path import isfile
from pathlib import Path
from typing import Any

from efex.adapters.log import Log, Table
from efex.checks import place
from efex.errors import EfexError, InvalidArgumentError, StorageError
from efex.experience import Experience
from efex.graph.action_names import check_action_names
from efex.graph.export import replacing
from efex.symbols import Symbol, symbol_text, to_symbol

COLUMNS = ("episode", "action", "observation", "terminated")
WHOLE = re.compile(r"0|-?[1-9]\d*")
"""A whole number as Python writes it, so that no two texts become one number."""
BATCH = 65_536
"""Rows of a Parquet file in memory at a time."""


def read_table(path: str | Path) -> Table:
    """Return the walks logged in a .csv or .parquet file, and the names of their actions.

    Columns: `observation`, and if need be `action`, `episode` and `terminated`; others are passed over. Without an
    `action` column there is one action, without an `episode` column one episode. `terminated` is true in the last row
    of an episode that the environment ended for good; without the column all were cut. Actions are whole numbers, or
    names, which are numbered in alphabetical order. Observations in a CSV file are whole numbers if all of them are,
    and text otherwise, without the spaces around it; in a Parquet file they are what they are. The rows of an episode
    stand together, in the order they happened.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = Path(folder, "walk.csv")
    ...     _ = log.write_text("action,observation\\nright,hall\\nleft,door\\n,hall\\n")
    ...     table = read_table(log)
    >>> table.experience.symbols, table.experience.actions.tolist(), table.actions
    (['hall', 'door', 'hall'], [1, 0, -1], ('left', 'right'))
    """
    file = place("path", path)
    reader = {".csv": _read_csv, ".parquet": _read_parquet}.get(file.suffix.lower())
    if reader is None:
        raise InvalidArgumentError(f"a table must end in .csv or .parquet, not {file.suffix!r}: {file}")
    if not isfile(file):
        raise StorageError(f"there is no file at {file}")
    return reader(file)


def _read_csv(file: Path) -> Table:
    with _reading(file), file.open(encoding="utf-8-sig", newline="") as stream:
        rows = csv.reader(stream)
        header = next(rows, None)
        if header is None:
            raise InvalidArgumentError(f"{file} is empty; its first line must name the columns {', '.join(COLUMNS)}")
        episode, action, observation, terminated = _columns(file, header)
        log = Log(str(file), has_actions=action is not None)
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise InvalidArgumentError(
                    f"{file}, line {rows.line_num}, has {len(row)} cells under {len(header)} columns; "
                    "text that holds a comma must stand in double quotes"
                )
            log.add(
                rows.line_num,
                None if episode is None else row[episode].strip(),
                None if action is None else row[action].strip() or None,
                row[observation].strip() or None,
                None if terminated is None else row[terminated].strip(),
            )
    experience, names = log.table()
    if all(WHOLE.fullmatch(symbol) for symbol in experience.alphabet.symbols):
        experience = experience.renamed(int)
    return Table(experience, names)


def _read_parquet(file: Path) -> Table:
    parquet = _pyarrow("pyarrow.parquet")
    with _reading(file), parquet.ParquetFile(file) as source:
        header = source.schema_arrow.names
        places = _columns(file, header)
        log, line = Log(str(file), has_actions=places[1] is not None), 0
        wanted = [header[place] for place in places if place is not None]
        for batch in source.iter_batches(batch_size=BATCH, columns=wanted):
            columns = [[None] * len(batch) if p is None else _values(batch.column(header[p])) for p in places]
            for row in zip(*columns):
                line += 1
                log.add(line, *row)
    return log.table()


def _values(column: Any) -> list[Symbol]:
    """Return the symbols of a Parquet column, None where there is none."""
    symbols = map(to_symbol, column.to_pylist())
    return [None if isinstance(symbol, float) and math.isnan(symbol) else symbol for symbol in symbols]


def _columns(file: Path, header: Sequence[str]) -> tuple[int | None, int | None, int, int | None]:
    """Return where the columns episode, action, observation and terminated stand; only observation must be there."""
    names = [name.strip().lower() for name in header]
    if "observation" not in names or any(names.count(name) > 1 for name in COLUMNS):
        raise InvalidArgumentError(
            f"{file} must have a column observation, and may have episode, action and terminated, once each, "
            f"commas between them; its columns are {', '.join(map(repr, header)) or 'none'}"
        )
    unread = [repr(name) for name in header if name.strip().lower() not in COLUMNS]
    if "action" not in names and unread:
        warnings.warn(
            f"{file} has no column action, so that there is one action only; {', '.join(unread)} is not read",
            stacklevel=5,
        )
    episode, action, terminated = (
        names.index(name) if name in names else None for name in ("episode", "action", "terminated")
    )
    return episode, action, names.index("observation"), terminated


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Turn what reading a file that is no table raises into one clear error."""
    try:
        yield
    except EfexError:
        raise
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror or error}") from error
    except (csv.Error, ValueError) as error:
        kind = "UTF-8 text with commas" if file.suffix.lower() == ".csv" else "Parquet"
        raise InvalidArgumentError(f"{file} is not a table of {kind}: {error}") from error


def _pyarrow(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InvalidArgumentError(
            "Parquet files need pyarrow: pip install 'efex[parquet]', or use a .csv file"
        ) from error


def write_table(experience: Experience, path: str | Path, *, actions: Sequence[str] | None = None) -> Path:
    """Write an experience as a .csv or .parquet file that `read_table` and `efex.learn` take; return the path.

    `actions` are names to write in place of the numbers, say `run.graph.action_names`. Observations that a column
    cannot hold as they are, such as tuples or numbers among text, are written as Python writes them, and come back as
    that text. Where an episode terminated there is a column that says which did.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> walk = Experience.from_episodes([([0, 0, 1], [0, 1])])
    >>> with TemporaryDirectory() as folder:
    ...     read_table(write_table(walk, Path(folder, "walk.csv"))).experience
    Experience(1 episodes, 2 steps, 2 symbols)
    """
    file = place("path", path)
    writer = {".csv": _write_csv, ".parquet": _write_parquet}.get(file.suffix.lower())
    if writer is None:
        raise InvalidArgumentError(f"path must end in .csv or .parquet, not {file.suffix!r}: {file}")
    if not isinstance(experience, Experience) or len(experience) == 0:
        raise InvalidArgumentError(
            f"experience must be an efex.Experience of at least one observation, not {experience!r}"
        )
    names = check_action_names(actions, experience.n_actions, argument="actions")
    with replacing(file) as draft:
        writer(experience, draft, names)
    return file


def _rows(
    experience: Experience, symbols: Sequence[Symbol], actions: Sequence[str] | None
) -> Iterator[tuple[int, Any, Symbol, bool]]:
    """Yield (episode, action, observation, terminated) of every row, None for the action of an episode's last."""
    episode, terminated = 0, set(experience.terminated.tolist())
    for t, (action, code) in enumerate(zip(experience.actions.tolist(), experience.observations.tolist())):
        name = None if action < 0 else action if actions is None else actions[action]
        yield episode, name, symbols[code], t in terminated
        episode += action < 0


def _written(experience: Experience) -> int:
    """Return how many of the columns are written: the last one only where an episode terminated."""
    return len(COLUMNS) if len(experience.terminated) else len(COLUMNS) - 1


def _write_csv(experience: Experience, file: Path, actions: Sequence[str] | None) -> None:
    symbols = _column(experience, (int, str))
    lost = [symbol for symbol in symbols if isinstance(symbol, str) and (not symbol or symbol != symbol.strip())]
    if lost:
        raise InvalidArgumentError(
            f"a CSV file has no cell for the observation {lost[0]!r}, since spaces around a cell do not count; "
            "write .parquet instead, or rename observations first, by experience.renamed"
        )
    if any(name != name.strip() for name in actions or ()):
        raise InvalidArgumentError(f"actions must be names without spaces around them for a CSV file, not {actions!r}")
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        n = _written(experience)
        table.writerow(COLUMNS[:n])
        table.writerows(row[:n] for row in _rows(experience, symbols, actions))


def _write_parquet(experience: Experience, file: Path, actions: Sequence[str] | None) -> None:
    from itertools import islice

    arrow, parquet = _pyarrow("pyarrow"), _pyarrow("pyarrow.parquet")
    types = {int: arrow.int64(), str: arrow.string(), float: arrow.float64(), bool: arrow.bool_()}
    symbols = _column(experience, tuple(types))
    kinds = (arrow.int64(), types[int if actions is None else str], types[type(symbols[0])], arrow.bool_())
    kinds = kinds[: _written(experience)]
    schema = arrow.schema(list(zip(COLUMNS, kinds)))
    rows = _rows(experience, symbols, actions)
    with parquet.ParquetWriter(file, schema) as table:
        while batch := list(islice(rows, BATCH)):
            arrays = [arrow.array(column, kind) for column, kind in zip(zip(*batch), kinds)]
            table.write_batch(arrow.record_batch(arrays, schema=schema))


def _column(experience: Experience, types: tuple[type, ...]) -> list[Symbol]:
    """Return the alphabet as one column can hold it: as it is if all symbols are of one of the types, else as text."""
    symbols = [symbol.item() if hasattr(symbol, "item") else symbol for symbol in experience.alphabet.symbols]
    if len({type(symbol) for symbol in symbols}) == 1 and type(symbols[0]) in types and all(map(_fits, symbols)):
        return symbols
    texts = [symbol_text(symbol) for symbol in symbols]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise InvalidArgumentError(
            f"two observations would both be written as {twice!r}; rename them first, by experience.renamed"
        )
    return texts


def _fits(symbol: Symbol) -> bool:
    """Return whether a symbol of a column's type comes back as it was."""
    if isinstance(symbol, float):
        return not math.isnan(symbol)
    return symbol_text(symbol) == symbol if isinstance(symbol, str) else abs(symbol) < 2**63
