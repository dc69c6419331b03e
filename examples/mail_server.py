"""A mail server's protocol, recovered by talking to it: which commands it takes when, and what it answers.

A real server (aiosmtpd) listens on this machine. The agent sends one of eight commands and sees the three digits of
the reply; that the server remembers who greeted and which mail is half written, it has to find out.

Run: python examples/mail_server.py --out out (needs pip install "efex[examples]")
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import efex
from systems.mail import MailServer
from systems.options import options
from systems.phases import Moves, foretold, phases


def draw(moves: Moves, path: Path) -> None:
    """Draw the phases as discs in a ring, clockwise, what is said and answered beside the arrows; also as DOT."""
    arrows = (f'  {here} -> {there} [label="' + r"\n".join(words) + '"];' for (here, there), words in moves.items())
    path.with_suffix(".dot").write_text("\n".join(["digraph {", '  0 [label="start"];', *arrows, "}", ""]))
    figure = Figure(figsize=(9, 8), layout="constrained")
    axes = figure.subplots()
    angle = np.pi * (0.75 - np.linspace(0, 2, 1 + max(map(max, moves)), endpoint=False))
    places = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    arrow = {"arrowstyle": "-|>", "connectionstyle": "arc3,rad=-0.2", "shrinkA": 16, "shrinkB": 16, "color": "#3c4653"}
    for (here, there), words in moves.items():
        begin, end = places[here], places[there]
        beside, said = 1.4 * begin, ["(stays)", *words]
        if here != there:
            axes.annotate("", end, begin, arrowprops=arrow)
            beside, said = (begin + end) / 2 + 0.1 * np.array([[0, -1], [1, 0]]) @ (end - begin), words
        axes.annotate("\n".join(said), beside, ha="center", va="center", fontsize=8, backgroundcolor="white")
    axes.plot(*places.T, "o", markersize=28, color="#4477aa")
    for phase, place in enumerate(places):
        axes.annotate(str(phase or "start"), place, ha="center", va="center", color="white", fontsize=8)
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.3, 1.3), aspect="equal")
    axes.axis("off")
    figure.savefig(path, dpi=120)


def main() -> None:
    """Explore the server, compare the map with the server and with an exhaustive search, and draw it."""
    chosen = options(__doc__)
    server = MailServer()
    run = efex.explore(server, steps=1_500 if chosen.short else 10_000, seed=chosen.seed, progress=False)
    judge = efex.measures.expected_log_likelihood
    ahead, blind = (judge(each, server, walks=4, steps=500) for each in (run, run.first_order))
    print(f"{run.graph}; nats per reply to random commands: {ahead:.3f}, without a memory {blind:.3f}")
    assert ahead > blind / 2
    machine = run.graph.merge_equivalent()
    if not chosen.short:
        assert machine.difference(server.probe()) is None
    moves, commands = phases(machine, server.names), np.random.default_rng(0).integers(len(server.names), size=500)
    replies = server.ask(commands.tolist())[1:]
    right = foretold(moves, [server.names[command] for command in commands], replies)
    print(f"what is drawn foretells {right:.1%} of the replies to random commands")
    assert right > 0.95 if chosen.short else right == 1
    draw(moves, chosen.out / "mail_server.png")
    server.close()


if __name__ == "__main__":
    main()
