"""Reporting: figures and tables from the store alone."""

from __future__ import annotations

from pathlib import Path

from efex.study.results import Results
from efex.study.store import Store
from efex.study.study import Study


def report_study(study: Study, store: Store, folder: str | Path) -> Path:
    """Write the study's figures, tables and a page that shows them into `folder`; return the page."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    results = Results(list(store.results(study.cases)), study.cases)
    seconds = sum(result.get("seconds", 0.0) for result in results)
    failed = sum(1 for _ in store.failures(study.cases))
    head = [
        f"# {study.title}\n",
        f"{results.share}, {seconds / 3600:.1f} core hours of exploring; {failed} failed. "
        f"`efex study run {study.name}`, then `efex study report {study.name}`.\n",
    ]
    body = study.report(results, folder) if len(results) else "Nothing is done yet.\n"
    page = folder / f"{study.name}.md"
    page.write_text("\n".join([*head, body]), encoding="utf-8")
    return page
