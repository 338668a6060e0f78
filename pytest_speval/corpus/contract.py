"""The audio contract of a suite: what a clip must be, and the one-dimensional signal that an adapter gets."""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus import levels
from pytest_speval.corpus.audio import Notice, Sound, as_float
from pytest_speval.errors import AudioFault, MissingExtra

CODES = {
    "wrong-rate": "A clip has another sampling rate than the suite expects, and `resample` is off.",
    "wrong-channels": "A clip has other channels than the suite expects, or lacks the one it asks for.",
    "wrong-container": "A clip is in another container than the suite expects.",
    "wrong-subtype": "A clip's samples are stored in another form than the suite expects.",
    "too-short": "A clip is shorter than the suite accepts.",
    "too-long": "A clip is longer than the suite accepts.",
    "short-excluded": "A clip is shorter than the suite evaluates, and excluded by `short: exclude`.",
    "short-abstains": "A clip is shorter than the suite asks about, and abstains by `short: abstain`.",
    "long-excluded": "A clip is longer than the suite evaluates, and excluded by `long: exclude`.",
    "downmix-cancels": "The mean of a clip's channels would cancel its sound.",
    "clipping": "A clip is clipped, and the suite rejects clipping.",
    "resampled-length": "A resampler made a signal of another length than the rates ask for.",
    "padded": "A short clip was padded with zeros by `short: pad`.",
    "cut": "A long clip was cut by `long: tail` or `long: head`.",
    "resampled": "A clip was resampled to the rate that the suite expects.",
}
CANCELS = -0.9  # channels that correlate below this are silenced by averaging


@dataclass(frozen=True, slots=True)
class Contract:
    """`corpus.audio` of a suite, with the adapter's rate filled in.

    `rate` None keeps the file's rate. `seconds` are inclusive bounds, compared in samples at the file's own rate.
    `container` and `subtype` are libsndfile's names; `WAV` also stands for its extensible form `WAVEX`.
    """

    rate: int | None = None
    resample: bool = False
    channels: int = 1
    channel: int | Literal["mean"] | None = None
    container: str | None = None
    subtype: str | None = None
    seconds: tuple[float, float] | None = None
    short: Literal["reject", "exclude", "pad", "abstain"] = "reject"
    long: Literal["reject", "exclude", "tail", "head"] = "reject"
    clipping: Literal["report", "reject"] = "report"


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What an adapter gets: read-only one-dimensional float32, full scale 1, at `rate` Hz."""

    pcm: npt.NDArray[np.float32]
    rate: int
    notices: tuple[Notice, ...]


def frames_at(seconds: float, rate: int) -> int:
    """The border in frames at a time: floor(seconds * rate + 0.5)."""
    return math.floor(seconds * rate + 0.5)


def resampled_frames(frames: int, source: int, target: int) -> int:
    """The length after resampling: floor(frames * target / source + 0.5), in integers."""
    return (2 * frames * target + source) // (2 * source)


def heard(sound: Sound, contract: Contract) -> levels.Stored:
    """The stored samples [frames, channels] of the channels that the contract listens to."""
    if isinstance(contract.channel, int) and contract.channel < sound.channels:
        return sound.stored[:, contract.channel : contract.channel + 1]
    return sound.stored


def check(sound: Sound, contract: Contract) -> tuple[Notice, ...]:
    """Hold a clip against the contract; the notices say what `prepare` will do to it.

    Raises `AudioFault`: `wrong-rate`, `wrong-channels`, `wrong-container`, `wrong-subtype`, `too-short`,
    `too-long`, `downmix-cancels`, `clipping` for a broken contract; `short-excluded`, `short-abstains`,
    `long-excluded` where the contract says so.
    """
    _check_rate(sound, contract)
    _check_channels(sound, contract)
    _check_format(sound, contract)
    notices = _length_notices(sound, contract)
    if contract.channel == "mean" and sound.channels > 1:
        correlation = levels.lowest_correlation(sound.stored)
        if correlation < CANCELS:
            raise AudioFault(
                "downmix-cancels",
                f"averaging would silence channels that correlate at {correlation:.3f}: "
                "set corpus.audio.channel to one channel",
            )
    if contract.clipping == "reject":
        runs, samples = levels.clipping(heard(sound, contract), sound.subtype)
        if runs:
            raise AudioFault("clipping", f"{samples} clipped samples in {runs} runs, and the suite rejects clipping")
    if contract.rate not in (None, sound.rate):
        notices += (_resampling_notice(sound.rate, contract.rate or sound.rate),)
    return notices


def prepare(sound: Sound, contract: Contract) -> Prepared:
    """The signal for the adapter: channel picked, padded or cut, resampled. Raises what `check` raises.

    Padding is zeros at the end. Resampling is soxr's HQ; its length must lie within one frame of
    frames * target / source and is then cut or padded with zeros to `resampled_frames`.
    """
    notices = check(sound, contract)
    samples = as_float(heard(sound, contract))
    pcm = samples[:, 0] if samples.shape[1] == 1 else samples.mean(axis=1, dtype=np.float32)
    pcm = _fitted(pcm, sound.rate, contract)
    rate = contract.rate or sound.rate
    if rate != sound.rate:
        pcm = _resampled(pcm, sound.rate, rate)
    pcm = np.ascontiguousarray(pcm)
    pcm.flags.writeable = False
    return Prepared(pcm, rate, notices)


def _check_rate(sound: Sound, contract: Contract) -> None:
    if contract.rate not in (None, sound.rate) and not contract.resample:
        raise AudioFault(
            "wrong-rate",
            f"{sound.rate} Hz, expected {contract.rate} Hz: convert the file or set corpus.audio.resample: true",
        )


def _check_channels(sound: Sound, contract: Contract) -> None:
    channel, there = contract.channel, sound.channels
    if there < contract.channels:
        raise AudioFault("wrong-channels", f"{there} of {contract.channels} expected channels")
    if channel is None and there > 1:
        expected = f", expected {contract.channels}" if there > contract.channels else ""
        raise AudioFault(
            "wrong-channels",
            f"{there} channels{expected}: set corpus.audio.channel to a channel from 0, or to mean",
        )
    if isinstance(channel, int) and not 0 <= channel < there:
        raise AudioFault("wrong-channels", f"there is no channel {channel}: the channels are 0 to {there - 1}")


def _check_format(sound: Sound, contract: Contract) -> None:
    accepted = {sound.container, "WAV"} if sound.container == "WAVEX" else {sound.container}
    if contract.container is not None and contract.container not in accepted:
        raise AudioFault("wrong-container", f"container {sound.container}, expected {contract.container}")
    if contract.subtype not in (None, sound.subtype):
        raise AudioFault("wrong-subtype", f"subtype {sound.subtype}, expected {contract.subtype}")


def _bounds(rate: int, contract: Contract) -> tuple[int, float]:
    if contract.seconds is None:
        return 0, math.inf
    return frames_at(contract.seconds[0], rate), frames_at(contract.seconds[1], rate)


def _length_notices(sound: Sound, contract: Contract) -> tuple[Notice, ...]:
    fewest, most = _bounds(sound.rate, contract)
    there = f"{sound.frames} frames at {sound.rate} Hz"
    if sound.frames < fewest:
        text = f"{there}, at least {fewest} expected"
        codes = {"reject": "too-short", "exclude": "short-excluded", "abstain": "short-abstains"}
        if contract.short in codes:
            raise AudioFault(codes[contract.short], text)
        return (Notice("padded", f"{there}, padded with zeros to {fewest}"),)
    if sound.frames > most:
        text = f"{there}, at most {most} expected"
        codes = {"reject": "too-long", "exclude": "long-excluded"}
        if contract.long in codes:
            raise AudioFault(codes[contract.long], text)
        return (Notice("cut", f"{there}, cut to the {'last' if contract.long == 'tail' else 'first'} {most}"),)
    return ()


def _fitted(pcm: npt.NDArray[np.float32], rate: int, contract: Contract) -> npt.NDArray[np.float32]:
    fewest, most = _bounds(rate, contract)
    if len(pcm) < fewest:
        return np.pad(pcm, (0, fewest - len(pcm)))
    if len(pcm) > most:
        return pcm[len(pcm) - int(most) :] if contract.long == "tail" else pcm[: int(most)]
    return pcm


def _soxr(source: int, target: int) -> Any:
    try:
        return importlib.import_module("soxr")
    except ImportError:
        raise MissingExtra("audio", f"resampling {source} Hz to {target} Hz") from None


def _resampling_notice(source: int, target: int) -> Notice:
    soxr = _soxr(source, target)
    return Notice("resampled", f"resampled {source}->{target} with soxr {soxr.__version__} HQ")


def _resampled(pcm: npt.NDArray[np.float32], source: int, target: int) -> npt.NDArray[np.float32]:
    made: npt.NDArray[np.float32] = _soxr(source, target).resample(pcm, source, target, quality="HQ")
    wanted = resampled_frames(len(pcm), source, target)
    if abs(len(made) * source - len(pcm) * target) > source:
        raise AudioFault("resampled-length", f"the resampler made {len(made)} frames, {wanted} expected")
    return np.pad(made[:wanted], (0, max(0, wanted - len(made))))
