"""Studies: experiments as data. A study is a set of cases and what to draw of their results."""

from __future__ import annotations

from efex.study.case import Case
from efex.study.study import Study

__all__ = ["Case", "Study"]
