"""What studies say about the agents' defaults is what the agents do."""

import inspect

import pytest

from efex.agents import Efex, EfexPaper
from efex.model.restarts import Warm
from efex.study.moments import agent_setting
from efex.study.paper.sensitivity import DEFAULTS, TRIED


@pytest.mark.parametrize(("name", "kind"), [("efex", Efex), ("efex-paper", EfexPaper)])
def test_the_defaults_of_the_sensitivity_study_are_the_agents_own(name, kind):
    signature = inspect.signature(kind).parameters
    for setting, value in DEFAULTS[name].items():
        assert value in TRIED[name][setting]
        if setting == "iterations":
            assert value == Warm().iterations
        elif setting != "clones":
            assert agent_setting(value) == signature[setting].default, setting
