"""Cave: a maze of Colossal Cave (Crowther and Woods, 1977), walked by the game's own engine."""

from __future__ import annotations

import gymnasium
import numpy as np

from efex.graph import LatentGraph

try:
    from adventure import load_advent_dat
    from adventure.game import Game
except ModuleNotFoundError as error:
    raise SystemExit(f'{error}; this example needs pip install "efex[examples]"') from None

VERBS = ("north", "south", "east", "west", "ne", "nw", "se", "sw", "up", "down")

ALIKE = (*range(42, 59), *range(80, 88), 114)
"""The maze of twisty little passages, all alike, with its dead ends and the brink of the pit."""

DIFFERENT = (107, 112, *range(131, 141))
"""The maze of which every passage is described in other words, and the dead end behind it."""


class QuietGame(Game):
    """The game without what disturbs a cartographer: no dwarf, no pirate, no offer of a hint."""

    def move_dwarves(self) -> None:
        """Describe the room; nobody else moves."""
        self.describe_location()

    def should_offer_hint(self, hint: object, obj: object) -> bool:
        """Never."""
        return False


class Cave(gymnasium.Env):
    """The player in some rooms of the cave, lamp lit: ten verbs to move by, the room's description to see.

    A move that would leave the rooms ends where it began, as a move against a wall does. Observations are numbers of
    `texts`, the different descriptions; `info["node"]` is the index of the true room in `rooms`.
    """

    def __init__(self, rooms: tuple[int, ...] = ALIKE, *, episode_steps: int | None = None) -> None:
        self.game = QuietGame(seed=0)
        load_advent_dat(self.game)
        self.game.start()
        self.game.do_command(["no"])  # no instructions
        self.game.lamp.carry()
        self.game.lamp.prop, self.game.lamp_turns = 1, 10**9
        self.rooms = rooms
        self.episode_steps = episode_steps
        shown = [self.game.rooms[n].long_description.strip() for n in rooms]
        self.texts = tuple(dict.fromkeys(shown))
        self.looks = [self.texts.index(text) for text in shown]
        self.observation_space = gymnasium.spaces.Discrete(len(self.texts))
        self.action_space = gymnasium.spaces.Discrete(len(VERBS))
        self.action_names = VERBS
        self.truth = self._walk_all()

    def enter(self, node: int) -> tuple[int, dict[str, int]]:
        """Put the player into a room; return what it shows."""
        self.game.loc = self.game.oldloc = self.game.oldloc2 = self.game.rooms[self.rooms[node]]
        return self.looks[node], {"node": node}

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[int, dict[str, int]]:
        """Begin in the first room."""
        super().reset(seed=seed)
        self.steps = 0
        return self.enter(0)

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, int]]:
        """Say a verb to the game."""
        before = self.rooms.index(self.game.loc.n)
        self.game.do_command([VERBS[action]])
        here = self.game.loc.n
        shown, info = self.enter(self.rooms.index(here) if here in self.rooms else before)
        self.steps += 1
        return shown, 0.0, False, self.steps == self.episode_steps, info

    def _walk_all(self) -> LatentGraph:
        """Return the game's own map, by saying every verb in every room."""
        moves = np.zeros((len(VERBS), len(self.rooms), len(self.rooms)))
        self.reset()
        for action in range(len(VERBS)):
            for node in range(len(self.rooms)):
                self.enter(node)
                moves[action, node, self.step(action)[-1]["node"]] = 1
        return LatentGraph.from_matrices(self.looks, list(moves), starts=[0])
