"""Any environment as the agent sees it: symbols in, whole-number actions out. No truth in here."""

from efex.adapters.environment import AgentView

__all__ = ["AgentView"]
