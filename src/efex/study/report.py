"""Reporting: figures and tables from the store alone."""

from __future__ import annotations

from pathlib import Path

from efex.study.results import Results
from efex.study.store import Store
from efex.study.study import Study


def report_study(study: Study, store: Store, folder: str | Path, *, asked: str | None = None) -> Path:
    """Write the study's figures, tables and a page that shows them into `folder`; return the page.

    `asked` is what the study is called on the command line: its name, or its file.
    """
    asked = asked or study.name
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    results = Results(list(store.results(study.cases)), study.cases)
    seconds = sum(result.get("seconds", 0.0) for result in results)
    failed = sum(1 for _ in store.failures(study.cases))
    head = [
        f"# {study.title}\n",
        f"{results.share}, {seconds / 60:,.0f} core minutes of exploring; {failed} failed. "
        f"`efex study run {asked}`, then `efex study report {asked}`.\n",
    ]
    body = study.report(results, folder) if len(results) else "Nothing is done yet.\n"
    page = folder / f"{study.name}.md"
    page.write_text("\n".join([*head, body]), encoding="utf-8")
    return page
