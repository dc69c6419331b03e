"""Arrays in, arrays out. `reference` is the readable specification, `cpu` the fast implementation."""

import os

# Idle OpenMP threads spin by default, which on a busy machine costs the working ones their core. Here they spin for as
# long as waking up would take, then sleep. It must be said before Numba loads its threading layer.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("GOMP_SPINCOUNT", "20000")
