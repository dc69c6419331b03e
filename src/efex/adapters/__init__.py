"""Any environment as the agent sees it: symbols in, whole-number actions out; and logged walks. No truth in here."""

from efex.adapters.environment import AgentView
from efex.adapters.functions import FunctionEnvironment, from_functions
from efex.adapters.log import Table
from efex.adapters.table import read_table, write_table

__all__ = ["AgentView", "FunctionEnvironment", "Table", "from_functions", "read_table", "write_table"]
