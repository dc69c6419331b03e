"""Counting in words: numbers with their nouns, for whatever people read."""


def counted(number: int, noun: str) -> str:
    """Return a number and its noun, in the plural unless it is one.

    >>> counted(1, "node"), counted(20_000, "step")
    ('1 node', '20,000 steps')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
