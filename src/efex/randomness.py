"""Named random streams: everything random in a run comes from one seed."""

import zlib

import numpy as np

from efex.errors import InvalidArgumentError


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the generator of the stream `name` under `seed`; streams of other names are independent of it."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidArgumentError(f"seed must be a whole number of at least 0, not {seed!r}")
    key = zlib.crc32(name.encode())
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int(seed), spawn_key=(key,))))
