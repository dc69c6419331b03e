import subprocess
import sys

import pytest
from hypothesis import HealthCheck, settings

from efex.cli import main

settings.register_profile(
    "efex",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("efex")


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs the command line in this process, which has loaded all it needs, and gives what a process would leave."""

    def run(*arguments, cwd=None):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["efex", *map(str, arguments)])
            if cwd is not None:
                patch.chdir(cwd)
            with pytest.raises(SystemExit) as left:
                main()
        return subprocess.CompletedProcess(arguments, left.value.code, *capsys.readouterr())

    return run
