"""Symbols are plain values: what a file gives back is what was seen."""

from collections import namedtuple
from enum import Enum, IntEnum, StrEnum

import numpy as np
import pytest

import efex
from efex.adapters import from_functions
from efex.errors import InvalidArgumentError
from efex.experience import Alphabet
from efex.symbols import decode_symbol, encode_symbol, to_symbol


class Cell(IntEnum):
    DOOR = 0
    WALL = 1


class Word(str, Enum):  # noqa: UP042, whose str() is not its value
    DOOR = "door"
    WALL = "wall"


class Name(StrEnum):
    DOOR = "door"
    WALL = "wall"


class Share(float, Enum):
    DOOR = 0.25
    WALL = 0.5


class Loud(str):
    def __str__(self):
        return self.upper()


class Raw(bytes):
    pass


Pair = namedtuple("Pair", "left right")
RECORD = np.array((3, 0.5), [("cell", int), ("share", float)])


@pytest.mark.parametrize(
    ("observation", "symbol"),
    [
        (Cell.WALL, 1),
        (Word.WALL, "wall"),
        (Name.WALL, "wall"),
        (Share.WALL, 0.5),
        (Loud("wall"), "wall"),
        (Raw(b"wall"), b"wall"),
        (np.str_("wall"), "wall"),
        (np.bool_(True), True),
        ([Cell.WALL, {Word.DOOR: Share.WALL}], (1, (("door", 0.5),))),
        (Pair(Name.DOOR, 2), ("door", 2)),
        (RECORD, (3, 0.5)),
        (np.array([RECORD, RECORD]), ((3, 0.5), (3, 0.5))),
        (2**13_000 - 1, 2**13_000 - 1),
    ],
)
def test_a_symbol_is_plain_and_reads_back(observation, symbol):
    came = to_symbol(observation)
    assert (came, kinds(came)) == (symbol, kinds(symbol))
    assert decode_symbol(encode_symbol(came)) == came


def kinds(symbol):
    return [kinds(part) for part in symbol] if type(symbol) is tuple else type(symbol)


def test_an_alphabet_knows_a_member_of_an_enumeration_by_its_value():
    alphabet = Alphabet([Cell.WALL, Word.WALL])
    assert [type(symbol) for symbol in alphabet.symbols] == [int, str]
    assert alphabet.lookup([1, Cell.WALL, Name.WALL, "wall", True, (Cell.WALL,)]).tolist() == [0, 0, 1, 1, -1, -1]


@pytest.mark.parametrize("words", [Cell, Word, Name, Share])
def test_a_run_with_an_enumeration_is_saved_loaded_and_goes_on(tmp_path, words):
    place = [0]

    def step(way):
        place[0] = (place[0] + way) % 4
        return words.DOOR if place[0] == 0 else words.WALL

    ring = from_functions(None, step, [-1, 1])
    options = {"seed": 1, "progress": False, "folder": tmp_path}
    run = efex.explore(ring, steps=100, **options)
    again = efex.load(tmp_path)
    walk = [words.WALL, words.WALL], [0]
    assert again.decode(*walk).tolist() == run.decode(*walk).tolist()
    assert run.decode(*walk).min() >= 0
    assert run.graph.plan(0, observation=words.DOOR).targets == again.graph.plan(0, observation=words.DOOR).targets
    longer = efex.explore(ring, steps=200, resume=True, **options)
    assert len(longer.experience.alphabet) == 2
    assert longer.graph.merge_equivalent().n_nodes == 4


def test_nan_is_one_symbol():
    alphabet = Alphabet([float("nan"), float("nan"), (float("nan"),), (float("nan"),)])
    assert len(alphabet) == 2
    assert alphabet.lookup([float("nan")]).tolist() == [0]


def holding_itself(kind):
    if kind is dict:
        held = {}
        held["again"] = held
        return held
    held = [1]
    held += [held, held]
    return held


@pytest.mark.parametrize(
    ("observation", "says"),
    [
        ([10**5_000], "observations must be whole numbers of at most 13,000 bits, not of 16,610; pass observe="),
        ([Cell.DOOR, -(10**5_000)], "at most 13,000 bits"),
        (holding_itself(list), "observations must not hold themselves .* as this list is; pass observe="),
        (holding_itself(dict), "observations must not hold themselves .* as this dict is; pass observe="),
        (np.array([np.datetime64("2020-01-01")]), "not date; pass observe="),
    ],
)
def test_what_cannot_be_kept_is_refused_in_one_line(observation, says):
    with pytest.raises(InvalidArgumentError, match=says) as refused:
        to_symbol(observation)
    assert len(str(refused.value)) < 300
