import rich
from small import small_case

from efex.study.progress import study_progress
from efex.study.runner import Played


def test_the_bar_shows_the_time_taken_and_the_time_left(monkeypatch, capsys):
    now = 0.0
    monkeypatch.setattr(rich.get_console(), "get_time", lambda: now)
    with study_progress("mine", 7, 5) as told:
        for seed in range(3):
            now += 60
            told(Played(small_case(seed), *(("failed", "Traceback: no") if seed == 1 else ("done", {}))))
    printed = capsys.readouterr().out
    assert f"failed: {small_case(1).id}" in printed
    last = printed.splitlines()[-1]
    assert last.startswith("mine, 2 already done ")
    assert last.split()[-4:] == ["3/5", "0:03:00", "left", "0:02:00"]
