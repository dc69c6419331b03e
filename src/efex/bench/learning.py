"""EM and Viterbi decoding on workload W, and what pruning leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numba
import numpy as np

from efex.bench.measuring import Line, best_time, in_products
from efex.bench.workloads import converged, random_walks, workload
from efex.experience import Experience
from efex.model.cscg import Model
from efex.model.em import CYCLE, PRUNE, em
from efex.model.expectation import bind, expected_counts, pass_messages
from efex.model.variational import ITERATIONS, LEAST_LOG_WEIGHT, geometric_weights, variational_bayes
from efex.model.viterbi_training import viterbi_training
from efex.special import psi


def lines() -> Iterator[Line]:
    """Yield one EM iteration from a random start and after convergence, a long decode, and what threads change."""
    yield _first_iteration()
    yield _converged_iteration()
    yield _variational_iteration()
    yield _decode()
    yield _threads()


def iteration_time(model: Model, experience: Experience, iterations: int, *, prune: float, repeats: int = 20) -> float:
    """Return the seconds of one iteration among so many, without binding the experience to the model."""

    def seconds(count: int) -> float:
        return best_time(lambda: em(model, experience, iterations=count, tolerance=0, prune=prune), repeats=repeats)

    return (seconds(1 + iterations) - seconds(1)) / iterations


def _first_iteration() -> Line:
    experience, model = workload()
    double = replace(model, counts=model.counts.astype(np.float64))
    steps = bind(model, experience)
    single, exact = (
        expected_counts(steps, m.weights, pass_messages(steps, m.weights)).transitions for m in (model, double)
    )
    error = float(np.abs(single - exact).max() / exact.max())
    seconds = iteration_time(model, experience, 20, prune=0)
    check = f"counts within {error:.0e} of double precision"
    return in_products("EM iteration on W, random start", seconds, 0.05, check, error < 1e-5)


def _converged_iteration() -> Line:
    experience, _ = workload()
    model = converged()
    # Two whole cycles, each with its full pass and the choice of clones, after the one that is subtracted.
    seconds = iteration_time(model, experience, 2 * CYCLE, prune=PRUNE)
    pruned, full = (em(model, experience, iterations=CYCLE, tolerance=0, prune=p).model for p in (PRUNE, 0))
    loss = (full.log_likelihood(experience) - pruned.log_likelihood(experience)) / experience.n_steps
    error = float(np.abs(pruned.counts - full.counts).max())
    check = f"{loss:.0e} nats a step lost (bound {PRUNE:g}), counts within {error:.0e}"
    return in_products("the same, converged, full passes included", seconds, 0.015, check, abs(loss) <= PRUNE)


def _variational_iteration() -> Line:
    experience, _ = workload()
    soft = converged()
    model = replace(soft, counts=soft.counts.astype(np.float64))
    seconds = best_time(lambda: variational_bayes(soft, experience, tolerance=-np.inf), repeats=3) / ITERATIONS
    close, exact = (variational_bayes(soft, experience, tolerance=-np.inf, prune=p).objective[-1] for p in (PRUNE, 0))
    loss = (exact - close) / experience.n_steps
    total = psi(model.totals + model.pseudocount * model.layout.n_states).ravel()[model.blocks.row]
    whole = np.exp(np.maximum(psi(model.counts + model.pseudocount) - total, LEAST_LOG_WEIGHT))
    error = float(np.abs(geometric_weights(model).values - whole).max())
    check = f"{loss:.0e} nats a step lost (bound {PRUNE:g}), weights within {error:.0e} of those of all counts"
    is_sound = error < 1e-12 and abs(loss) <= PRUNE
    return in_products("an iteration of variational Bayes from there", seconds, 0.03, check, is_sound)


def _decode() -> Line:
    experience, _ = workload()
    model = viterbi_training(converged(), experience).model.uniform_start()
    walks = random_walks(21, episodes=100, steps=10_000)
    seconds = best_time(lambda: model.decode(walks), repeats=3)
    double = replace(model, counts=model.counts.astype(np.float64))
    gap = model.decode(walks).log_probability / double.decode(walks).log_probability - 1
    check = f"log-probability within {abs(gap):.0e} of double precision"
    return in_products("Viterbi decode of 100 walks of 10,000 steps", seconds, 1.2, check, abs(gap) < 1e-6)


def _threads() -> Line:
    experience, model = workload()
    available, results = numba.get_num_threads(), []
    times = []
    for threads in (1, available):
        numba.set_num_threads(threads)
        times.append(iteration_time(model, experience, 20, prune=0))
        trained = em(model, experience, iterations=40, tolerance=0).model
        results.append((trained.counts.tobytes(), trained.decode(experience).path.tobytes()))
    numba.set_num_threads(available)
    what = f"EM iteration on {available} threads, against one"
    return Line(what, times[1] / times[0], "of its time", None, "results bitwise equal", results[0] == results[1])
