"""The command line: each command calls one library function."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import gymnasium
import typer

from efex.checks import whole
from efex.cli_words import in_options, wrong_value
from efex.counting import counted
from efex.errors import EfexError, InvalidArgumentError

if TYPE_CHECKING:
    from efex.study.store import Store
    from efex.study.study import Study

app = typer.Typer(
    help="Recover the hidden map of an environment by exploring it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

USAGE_ERROR: Any = typer.BadParameter.__mro__[1]
"""What a wrong argument raises; Typer exports its children only."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from efex import __version__

        typer.echo(f"efex {__version__}")
        raise typer.Exit


@app.callback(epilog="--debug, anywhere, shows the traceback of an error.")
def efex(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Recover the hidden map of an environment by exploring it."""


@app.command()
def explore(
    environment: Annotated[
        str,
        typer.Argument(help="A world's name, a Gymnasium id, or MODULE:CLASS or FILE.py:CLASS for one of yours."),
    ],
    steps: Annotated[int, typer.Option(help="Steps to take in all.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 0,
    out: Annotated[Path, typer.Option(help="The run folder to write.")] = Path("runs/latest"),
    agent: Annotated[str, typer.Option(help="efex, efex-paper, max, bonus-dqn, bootstrapped-dqn or random.")] = "efex",
    clones: Annotated[str, typer.Option(help='Clones per observation: a number, or "auto".')] = "auto",
    episode_steps: Annotated[
        int | None,
        typer.Option(help="Cut episodes after so many steps.", show_default="as the environment ends them"),
    ] = None,
    unique_fraction: Annotated[
        float | None, typer.Option(help="Distinct observations per node (worlds).", show_default="1")
    ] = None,
    slip: Annotated[
        float | None, typer.Option(help="Probability that an action repeats (worlds).", show_default="0")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other option of the environment: --set size=15.", show_default="its own"),
    ] = None,
    measure: Annotated[bool, typer.Option(help="Measure the map against the truth, in a world.")] = True,
    restarts: Annotated[int, typer.Option(help="Learn the map so often again, and say how far they agree.")] = 0,
    until: Annotated[
        str | None,
        typer.Option(help='"complete" stops when nothing is left to try, before --steps.', show_default="all --steps"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out; --steps counts all of it.")
    ] = False,
    replay: Annotated[
        bool | None,
        typer.Option(help="Take all actions again to resume in mid-episode.", show_default="replay worlds and ids"),
    ] = None,
) -> None:
    """Explore an environment and write a run folder: experience, model, graph, map.png, summary.json.

    What it shows on the way: coverage, the share of a world's edges walked;
    states, the places on the map; log-lik, the log-probability that the map
    gives to what a step showed, mean over all steps, in nats (0 is certain).
    """
    from efex import measures
    from efex.cli_environment import named_environment, setting
    from efex.explore import explore as run_explore
    from efex.run import UNASKED
    from efex.storage import MAP, SUMMARY, save, write_json
    from efex.worlds import GraphWorld, world_names

    whole("restarts", restarts, at_least=0)
    options = dict(setting(text) for text in option or [])
    options |= {k: v for k, v in (("unique_fraction", unique_fraction), ("slip", slip)) if v is not None}
    if episode_steps is not None and environment in world_names():
        # A world cuts episodes itself, and may do so before.
        options.setdefault("episode_steps", episode_steps)
    env = named_environment(environment, seed=seed, options=options)
    try:
        lasting: dict[str, Any] = {"folder": out, "until": until, "resume": resume, "replay": replay}
        walked: dict[str, Any] = {"steps": steps, "episode_steps": episode_steps, "seed": seed}
        run = run_explore(env, agent=agent, clones=_clones(clones), **walked, **lasting)
    except KeyboardInterrupt:
        typer.echo(f"interrupted; what was found so far is in {out}, and --resume goes on from there", err=True)
        raise typer.Exit(130) from None
    if restarts:
        typer.echo(f"learning the map {counted(restarts, 'more time')}, to see whether it is the same")
    summary = run.summary(restarts=restarts)
    if restarts:
        save(run, out, goes_on=True)
    summary["nodes_after_merging"] = run.graph.merge_equivalent().n_nodes
    if measure and isinstance(env.unwrapped, GraphWorld):
        typer.echo("measuring the map against the truth")
        summary["true_nodes"] = env.unwrapped.truth.n_nodes
        summary["equivalent_to_the_truth"] = run.graph.equivalent_to(env.unwrapped.truth)
        summary["weighted_coverage"] = measures.weighted_coverage(run, env.unwrapped)
        summary["precision"] = measures.precision(run, env.unwrapped)
        write_json(out / SUMMARY, summary)
    for name, value in summary.items():
        shown = f"{value:.4g}" if isinstance(value, float) else "unknown" if value is None else str(value)
        if value == UNASKED:
            shown = in_options(shown, {"restarts": "--restarts"})
        typer.echo(f"{name.replace('_', ' '):>31}  {shown}")
    _say_where(out / MAP)


@app.command()
def learn(
    file: Annotated[Path, typer.Argument(help="A .csv or .parquet table of walks.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("runs/learned"),
    clones: Annotated[str, typer.Option(help='Clones per observation: a number, or "auto".')] = "auto",
    restarts: Annotated[int, typer.Option(help="Random starts; the best map is kept.")] = 3,
    held_out: Annotated[float, typer.Option(help="Share of the episodes to test on; 0 learns from all.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 0,
    method: Annotated[str, typer.Option(help="em, em+viterbi or em+vb.")] = "em+viterbi",
) -> None:
    """Learn the map of logged walks, write it to a folder like explore's, and say how far to trust it.

    A row of the table is an observation and the action taken there. It needs the column observation; optional are
    action (else there is one action), episode (else there is one) and terminated (else every episode was cut).
    """
    from efex.learn import learn as run_learn
    from efex.storage import MAP, make_folder

    make_folder(out)
    options: dict[str, Any] = {"clones": _clones(clones), "method": method, "restarts": restarts, "seed": seed}
    learned = run_learn(file, held_out=held_out, progress=True, **options)
    learned.save(out)
    typer.echo(learned.report)
    _say_where(out / MAP)


@app.command()
def plan(
    folder: Annotated[Path, typer.Argument(help="A run folder, or a graph that was written as .json.")],
    source: Annotated[str, typer.Option("--from", help="Where to start: a node's number, or what one node shows.")],
    to: Annotated[str, typer.Option(help="Where to go: a node's number, an observation, or a tag KEY=VALUE.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with the action of every node.")] = False,
) -> None:
    """Plan the quickest way on a recovered map, and print its likeliest run.

    A number is a node, also where an observation reads the same: that one is written observation=7. Numbers are
    written as Python writes them: 01 is no node, and may be an observation.
    """
    import json

    from efex.graph.directions import named_node, named_nodes, plan_content, plan_table
    from efex.graph.export import read_json
    from efex.storage import GRAPH, load

    # The file may hold tags and blocks that were added after the run.
    file = folder / GRAPH if isfile(folder / GRAPH) else folder
    graph = read_json(file) if isfile(file) else load(folder).graph
    found = graph.plan(named_node(graph, source, name="source"), to=named_nodes(graph, to, name="to"))
    typer.echo(json.dumps(plan_content(graph, found)) if as_json else plan_table(graph, found))


studies = typer.Typer(help="Run studies: many explorations, measured, and figures of them.", no_args_is_help=True)
app.add_typer(studies, name="study")

STORE = Annotated[Path, typer.Option("--store", help="The file that keeps the results.")]
STUDY = Annotated[str, typer.Argument(help="A study's name, or a Python file that defines `study`.")]


@studies.command("list")
def list_studies(store: STORE = Path("runs/studies.sqlite")) -> None:
    """List the studies there are, and how much of each is done."""
    from efex.study.catalogue import STUDIES
    from efex.study.runner import pending
    from efex.study.store import Store

    with Store(store if store.is_file() else ":memory:") as kept:
        for name, make_study in STUDIES.items():
            study = make_study()
            done = len(study.cases) - len(pending(study, kept))
            typer.echo(f"{name:<16}{done:>6} of {len(study.cases):>5} cases  {study.title}")


@studies.command("run")
def run_a_study(
    name: STUDY,
    only: Annotated[list[str] | None, typer.Option(help="Cases whose id holds this, say slip=0.1; repeatable.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes, -1 for all cores; a cluster has its own.")] = -1,
    engine: Annotated[str, typer.Option(help="local, dask or ray.")] = "local",
    address: Annotated[str | None, typer.Option(help="The cluster's address; a local one is started without.")] = None,
    store: STORE = Path("runs/studies.sqlite"),
) -> None:
    """Play the cases that are not done; stop it at any time and run it again to go on."""
    from efex import __version__
    from efex.study.progress import study_progress
    from efex.study.runner import pending, run_study
    from efex.study.store import Store
    from efex.study.study import load_study

    study = load_study(name).only(only or [])
    with Store(store) as kept, study_progress(study.name, len(study.cases), len(pending(study, kept))) as told:
        try:
            where: dict[str, Any] = {"jobs": jobs, "engine": engine, "address": address}
            failed = run_study(study, kept, version=__version__, told=told, **where)
        except KeyboardInterrupt:
            typer.echo(f"stopped; every finished case is in {store}", err=True)
            raise typer.Exit(130) from None
        for case, trace in kept.failures(failed):
            typer.echo(f"{case.id} failed:{_said_in(trace)}", err=True)
    if failed:
        typer.echo(f"{counted(len(failed), 'case')} failed; the next run plays what failed again", err=True)
        raise typer.Exit(1)


def _said_in(trace: str) -> str:
    """Return what a traceback says: of an error that is raised on purpose the message, of any other all of it."""
    kind, _, message = trace.strip().splitlines()[-1].partition(": ")
    return f" {message}" if kind.startswith("efex.errors.") else f"\n{trace}"


@contextlib.contextmanager
def _played(name: str, store: Path) -> Iterator[tuple[Study, Store]]:
    """Give a study and the store that holds its results, which must be there."""
    from efex.study.store import Store
    from efex.study.study import load_study

    study = load_study(name)
    if not store.is_file():
        raise InvalidArgumentError(f"there is no store {store}; efex study run {name} makes one")
    with Store(store) as kept:
        yield study, kept


@studies.command("report")
def report_a_study(
    name: STUDY,
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("runs/report"),
    store: STORE = Path("runs/studies.sqlite"),
) -> None:
    """Write figures, tables and a page from what the store holds; nothing is run."""
    from efex.study.report import report_study

    with _played(name, store) as (study, kept):
        page = report_study(study, kept, out, asked=name)
        done = any(True for _ in kept.results(study.cases))
    if done:
        typer.echo(f"wrote {page}, and the figures and tables it shows beside it")
    else:
        typer.echo(f"wrote {page}, but nothing is done yet; efex study run {name} plays it")


@studies.command("export")
def export_a_study(
    name: STUDY,
    file: Annotated[Path, typer.Argument(help="The file to write, say topologies.jsonl.gz.")],
    store: STORE = Path("runs/studies.sqlite"),
) -> None:
    """Write a study's finished cases to one compact file."""
    with _played(name, store) as (study, kept):
        typer.echo(f"wrote {counted(kept.export(study.cases, file), 'case')} to {file}")


@studies.command("import")
def import_results(
    file: Annotated[Path, typer.Argument(help="A file that export wrote.", exists=True)],
    store: STORE = Path("runs/studies.sqlite"),
) -> None:
    """Take in exported cases, so that a study goes on from them."""
    from efex.study.store import Store

    with Store(store) as kept:
        typer.echo(f"took in {counted(kept.load(file), 'case')}")


@app.command()
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help="Of learning, planning, merging, wholes, scale, utility.")
    ] = None,
) -> None:
    """Measure what the core costs, beside its bars, as a Markdown table; all of it takes some three minutes."""
    from efex.bench.table import bench as run_bench

    if not run_bench(names or [], write=typer.echo):
        typer.echo("a bar was missed", err=True)
        raise typer.Exit(1)


def _say_where(picture: Path) -> None:
    if isfile(picture):
        typer.echo(f"the map is drawn in {picture}")


def _clones(text: str) -> Any:
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise InvalidArgumentError(f'--clones must be a number or "auto", not {text!r}') from None


def main() -> None:
    """Run the command line; bad input is one line and a non-zero exit."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        code = app(arguments or ["--help"], standalone_mode=False)
    except (EfexError, gymnasium.error.Error) as error:
        if "--debug" in sys.argv:
            raise
        said = "; ".join([str(error), *getattr(error, "__notes__", [])])
        _complain(in_options(said, _options(typer.main.get_command(app))))
    except USAGE_ERROR as error:
        _complain(wrong_value(error, arguments))
    except typer.Abort:
        raise SystemExit(130) from None
    raise SystemExit(code if isinstance(code, int) else 0)


def _options(command: Any) -> dict[str, str]:
    """Return how every argument that is an option is spelled, of a command and those below it."""
    found = {p.name: p.opts[0] for p in command.params if p.param_type_name == "option"}
    for below in getattr(command, "commands", {}).values():
        found |= _options(below)
    return found


def _complain(message: str) -> NoReturn:
    typer.echo(f"efex: {' '.join(message.split())}", err=True)
    raise SystemExit(2)
