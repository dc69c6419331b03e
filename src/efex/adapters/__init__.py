"""Any environment as the agent sees it: symbols in, whole-number actions out. No truth in here."""

from efex.adapters.environment import AgentView
from efex.adapters.symbols import to_symbol

__all__ = ["AgentView", "to_symbol"]
