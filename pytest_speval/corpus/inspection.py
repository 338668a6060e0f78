"""What one clip's sound shows, before anything is asked about it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_speval.corpus import contract as contracts
from pytest_speval.corpus import levels
from pytest_speval.corpus.audio import Notice, Sound
from pytest_speval.errors import AudioFault

CODES = {
    "silent": "A clip holds no sample beyond one 16-bit step.",
    "clipped": "A clip has runs of at least three equal samples at full scale.",
    "dc-offset": "The mean of a clip lies beyond 0.01 of full scale.",
    "equal-channels": "Two channels of a clip hold the same samples.",
    "implausible-rate": "A clip's sampling rate lies outside 4,000 to 384,000 Hz, where no speech is recorded.",
}
PLAUSIBLE_RATES = (4_000, 384_000)


@dataclass(frozen=True, slots=True)
class Inspection:
    """The findings on one decoded clip.

    `fault` is (code, message) of what breaks the contract or takes the clip out, None for a clip that may be
    asked about. `notices` are reported only: `silent`, `clipped`, `over-full-scale`, `dc-offset`, `equal-channels`,
    `implausible-rate`, `placeholder-header`, `contradictory-header`, `padded`, `cut`, `resampled`.
    """

    bytes_sha256: str
    samples_sha256: str
    rate: int
    channels: int
    frames: int
    seconds: float
    container: str
    subtype: str
    fault: tuple[str, str] | None
    notices: tuple[Notice, ...]


def inspect(sound: Sound, contract: contracts.Contract) -> Inspection:
    """Hold one clip against the contract and look at its levels, on the channels that the contract listens to."""
    fault: tuple[str, str] | None = None
    planned: tuple[Notice, ...] = ()
    try:
        planned = contracts.check(sound, contract)
    except AudioFault as broken:
        fault = (broken.code, broken.message)
    return Inspection(
        sound.bytes_sha256,
        sound.samples_sha256,
        sound.rate,
        sound.channels,
        sound.frames,
        sound.seconds,
        sound.container,
        sound.subtype,
        fault,
        sound.notices + _form_notices(sound) + _level_notices(sound, contract) + planned,
    )


def _form_notices(sound: Sound) -> tuple[Notice, ...]:
    """A rate that nobody records at, and channels that say nothing new."""
    found: list[Notice] = []
    low, high = PLAUSIBLE_RATES
    if not low <= sound.rate <= high:
        found.append(Notice("implausible-rate", f"{sound.rate:,} Hz, where {low:,} to {high:,} Hz are plausible"))
    repeated = levels.repeated_channels(sound.stored)
    if repeated:
        found.append(
            Notice("equal-channels", f"{repeated} of {sound.channels} channels repeat another, sample by sample")
        )
    return tuple(found)


def _level_notices(sound: Sound, contract: contracts.Contract) -> tuple[Notice, ...]:
    """Silence: nothing beyond one 16-bit step. DC: a mean beyond 0.01 of full scale. Clipping: see `levels`."""
    heard = contracts.heard(sound, contract)
    peak = levels.peak(heard)
    if peak <= levels.SILENT_PEAK:
        return (Notice("silent", f"no sample beyond one 16-bit step, peak {peak:.6g}"),)
    found: list[Notice] = []
    runs, samples = levels.clipping(heard, sound.subtype)
    if runs:
        found.append(Notice("clipped", f"{samples} clipped samples in {runs} runs"))
    offset = levels.dc_offset(heard)
    if abs(offset) > levels.DC_LIMIT:
        found.append(Notice("dc-offset", f"mean {offset:+.4f} of full scale"))
    return tuple(found)
