import gzip
import itertools
import json
import sqlite3
from dataclasses import replace
from functools import partial

import pytest
from small import small_case

from efex.errors import EfexError
from efex.study.store import Store

RESULT = {"precision": [0.5, 0.75], "covered_steps": None, "seconds": 1.5}
CASES = [small_case(seed) for seed in range(4)]


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "kept" / "studies.sqlite") as made:
        yield made


def test_what_is_put_is_there(store):
    store.put(CASES[0], "done", RESULT, "1")
    store.put(CASES[1], "failed", "Traceback: no", "1")
    assert dict(store.outcomes()) == {CASES[0].id: "done", CASES[1].id: "failed"}
    assert list(store.results(CASES)) == [(CASES[0], RESULT)]
    assert list(store.failures(CASES)) == [(CASES[1], "Traceback: no")]


def test_it_is_still_there_when_the_file_is_opened_again(store):
    store.put(CASES[0], "done", RESULT, "1")
    store.close()
    with Store(store.path) as again:
        assert list(again.results(CASES)) == [(CASES[0], RESULT)]


def test_a_case_that_failed_may_be_done_later(store):
    store.put(CASES[0], "failed", "Traceback: no", "1")
    store.put(CASES[0], "done", RESULT, "1")
    assert store.outcomes() == [(CASES[0].id, "done")]
    assert list(store.failures(CASES)) == []


def test_a_case_measured_at_other_moments_is_another(store, tmp_path):
    """Two studies may play the same exploration and look at it at different steps; neither overwrites the other."""
    rarely = replace(CASES[0], marks=(1,))
    assert rarely.id == CASES[0].id
    store.put(CASES[0], "done", RESULT, "1")
    store.put(rarely, "done", {"rarely": True}, "1")
    assert [result for _, result in store.results([CASES[0], rarely])] == [RESULT, {"rarely": True}]
    store.export([rarely], tmp_path / "out.gz")
    with Store(tmp_path / "other.sqlite") as other:
        other.put(CASES[0], "done", RESULT, "1")
        assert other.load(tmp_path / "out.gz") == 1
        assert len(list(other.results([CASES[0], rarely]))) == 2


def test_a_store_keyed_by_the_id_alone_is_taken_over(tmp_path, monkeypatch):
    old = sqlite3.connect(tmp_path / "old.sqlite")
    with old:
        old.execute("CREATE TABLE results (id TEXT PRIMARY KEY, spec TEXT, outcome TEXT, result TEXT, version TEXT)")
        row = (CASES[0].id, CASES[0].to_json(), "done", json.dumps(RESULT), "1")
        old.execute("INSERT INTO results VALUES (?, ?, ?, ?, ?)", row)
    old.close()
    rarely = replace(CASES[0], marks=(1,))
    busy = sqlite3.connect(tmp_path / "old.sqlite", timeout=0)
    busy.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0))
    with pytest.raises(EfexError, match="locked; close whatever uses it"):
        Store(tmp_path / "old.sqlite")
    busy.close()
    for _ in range(2):
        with Store(tmp_path / "old.sqlite") as store:
            store.put(rarely, "done", {"rarely": True}, "1")
            assert [result for _, result in store.results([CASES[0], rarely])] == [RESULT, {"rarely": True}]


def test_only_the_cases_asked_for_are_given(store):
    for case in CASES:
        store.put(case, "done", {"seed": case.seed}, "1")
    assert [result["seed"] for _, result in store.results([CASES[2], CASES[0]])] == [2, 0]


def test_nothing_but_done_and_failed_is_kept(store):
    with pytest.raises(sqlite3.IntegrityError):
        store.put(CASES[0], "half done", RESULT, "1")
    assert store.outcomes() == []


def test_a_reader_sees_whole_cases_only(store):
    with Store(store.path) as reader:
        store.put(CASES[0], "done", RESULT, "1")
        assert list(reader.results(CASES)) == [(CASES[0], RESULT)]
        writing = sqlite3.connect(store.path)
        row = (CASES[1].id, CASES[1].to_json(), "done", '{"half": 1}', "1")
        writing.execute("INSERT INTO results VALUES (?, ?, ?, ?, ?)", row)  # and the writer dies before it commits
        assert dict(reader.outcomes()).keys() == {CASES[0].id}
        writing.close()
        assert dict(reader.outcomes()).keys() == {CASES[0].id}
        store.put(CASES[1], "done", RESULT, "1")
        assert dict(reader.outcomes()).keys() == {CASES[0].id, CASES[1].id}


def test_a_case_is_put_at_once_for_whoever_looks_between_any_two_statements(store, monkeypatch):
    seen = []

    class Watched(sqlite3.Connection):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.set_trace_callback(lambda statement: look())

    def look():
        seen.append([*store.results(CASES), *store.failures(CASES)])

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Watched))
        writer = Store(store.path)
    for before, now in itertools.pairwise([None, ("failed", "Traceback: no"), ("done", RESULT), ("done", {})]):
        seen.clear()
        writer.put(CASES[0], *now, "1")
        look()
        states = [state for state, _ in itertools.groupby(seen)]
        assert states == [[(CASES[0], before[1])] if before else [], [(CASES[0], now[1])]]
    writer.close()


def test_the_same_results_are_exported_as_the_same_bytes(store, tmp_path):
    for case in CASES:
        store.put(case, "done", RESULT, "1")
    with Store(tmp_path / "other.sqlite") as other:
        for case in reversed(CASES):
            other.put(case, "done", dict(reversed(RESULT.items())), "1")
        assert store.export(CASES, tmp_path / "one.gz") == other.export(reversed(CASES), tmp_path / "two.gz") == 4
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


def test_what_was_exported_comes_back(store, tmp_path):
    store.put(CASES[0], "done", RESULT, "1")
    store.put(CASES[1], "failed", "Traceback: no", "1")
    assert store.export(CASES, tmp_path / "out.gz") == 1
    with Store(tmp_path / "other.sqlite") as other:
        assert other.load(tmp_path / "out.gz") == 1
        assert list(other.results(CASES)) == [(CASES[0], RESULT)]
        other.export(CASES, tmp_path / "again.gz")
    assert (tmp_path / "out.gz").read_bytes() == (tmp_path / "again.gz").read_bytes()


def test_done_results_are_not_overwritten_by_others_but_failures_are(store, tmp_path):
    for case in CASES[:2]:
        store.put(case, "done", {"from": "afar"}, "1")
    store.export(CASES, tmp_path / "out.gz")
    with Store(tmp_path / "other.sqlite") as other:
        other.put(CASES[0], "done", {"from": "here"}, "1")
        other.put(CASES[1], "failed", "Traceback: no", "1")
        assert other.load(tmp_path / "out.gz") == 1
        assert [result for _, result in other.results(CASES)] == [{"from": "here"}, {"from": "afar"}]


@pytest.mark.parametrize("content", [b"no database at all, " * 100, b"SQLite format 3\0" + b"torn" * 200])
def test_a_file_that_is_no_database_is_refused(content, tmp_path):
    (tmp_path / "studies.sqlite").write_bytes(content)
    with pytest.raises(EfexError, match=r"studies\.sqlite is not a store"):
        Store(tmp_path / "studies.sqlite")
    assert (tmp_path / "studies.sqlite").read_bytes() == content


def test_a_place_where_no_file_can_be_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file" / "studies.sqlite"):
        with pytest.raises(EfexError, match="cannot be opened"):
            Store(path)


def test_a_file_that_export_did_not_write_is_refused_and_nothing_of_it_kept(store, tmp_path):
    store.put(CASES[0], "done", RESULT, "1")
    store.export(CASES, tmp_path / "out.gz")
    whole = (tmp_path / "out.gz").read_bytes()
    with Store(tmp_path / "other.sqlite") as other:
        for content in (b"plain text", whole[:-12], whole[:20] + b"torn" + whole[24:]):
            (tmp_path / "torn.gz").write_bytes(content)
            with pytest.raises(EfexError, match=r"torn\.gz cannot be read"):
                other.load(tmp_path / "torn.gz")
        for line in ("3", "[]", '["id", {}, "done", "{}", "1"]', '{"id": 1}'):
            (tmp_path / "strange.gz").write_bytes(gzip.compress(line.encode()))
            with pytest.raises(EfexError, match=r"strange\.gz cannot be read"):
                other.load(tmp_path / "strange.gz")
        assert other.outcomes() == []
