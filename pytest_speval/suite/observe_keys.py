"""The section `observe`: which functions of a scorer are watched while it rates a clip."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Annotated

from pydantic import Field

from pytest_speval.suite.base_keys import Dotted, ItemName, Keys


class CropKind(Keys):
    """Crops that a scorer takes through one alias: how many of a clip, and how many samples each has.

    `beta` is the parameter of the beta(b, b) number that the scorer draws after each.
    """

    name: ItemName | None = None
    alias: Dotted
    count: Annotated[int, Field(ge=1)]
    samples: Annotated[int, Field(ge=1)] | None = None
    beta: Annotated[float, Field(gt=0)] | None = None


class Observe(Keys):
    """Aliases below `module` of a function that crops an array, and the crops that are expected of every clip.

    Kinds that share an alias take turns: 2 and 8 crops come as two rounds of one and four. With a `seed`, which the
    scorer sets before every call, the places of all crops can be told from the clip's length alone.
    """

    module: Dotted
    aliases: Annotated[tuple[Dotted, ...], Field(min_length=1)]
    kinds: Annotated[tuple[CropKind, ...], Field(min_length=1)]
    seed: Annotated[int, Field(ge=0, lt=1 << 32)] | None = None

    def expected(self, alias: str) -> list[CropKind]:
        """The crops of a clip through one alias, in order."""
        kinds = [kind for kind in self.kinds if kind.alias == alias]
        rounds = gcd(*(kind.count for kind in kinds))
        return [kind for _ in range(rounds) for kind in kinds for _ in range(kind.count // rounds)]

    @property
    def sequence(self) -> Sequence[CropKind]:
        """All crops of a clip, in order: alias by alias."""
        return [kind for alias in self.aliases for kind in self.expected(alias)]
