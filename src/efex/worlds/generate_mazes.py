"""Writes the shipped maze texts again: python -m efex.worlds.generate_mazes FOLDER. Needs labmaze."""

import sys
from pathlib import Path

from efex.worlds.sparse_maze import SHIPPED, draw, is_connected
from efex.worlds.topology import write_picture


def maze_text(size: int, count: int) -> str:
    """Return the text of the first `count` different connected mazes of one size, by labmaze seed."""
    mazes: list[str] = []
    random_seed = 0
    while len(mazes) < count:
        picture = draw(size, random_seed=random_seed)
        random_seed += 1
        text = "\n".join(write_picture(picture))
        if is_connected(picture) and text not in mazes:
            mazes.append(text)
    return "\n\n".join(mazes) + "\n"


def write_mazes(folder: Path) -> None:
    """Write a file of mazes per shipped size into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for size, count in SHIPPED.items():
        (folder / f"{size}.txt").write_text(maze_text(size, count), "ascii", newline="\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m efex.worlds.generate_mazes FOLDER")
    write_mazes(Path(sys.argv[1]))
