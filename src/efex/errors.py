"""The errors efex raises on purpose: each message says what must be, what came, and what to do."""


class EfexError(Exception):
    """Every error the package raises on purpose is one of these."""


class InvalidArgumentError(EfexError, ValueError):
    """An argument is not what it must be."""


class ImpossibleObservationError(EfexError):
    """A walk holds an observation that the model gives probability zero."""

    def __init__(self, episode: int, step: int) -> None:
        self.episode = episode
        self.step = step
        super().__init__(
            f"the model gives the observation at step {step} of episode {episode} probability zero; "
            "a pseudocount above zero makes every observation possible"
        )


class StorageError(EfexError):
    """A file or folder cannot be written, or does not hold what efex wrote."""
