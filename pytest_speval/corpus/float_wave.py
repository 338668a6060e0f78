"""A WAVE file of 32-bit floats: samples for another program, none of them rounded."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

IEEE_FLOAT = 3


def float_wave(pcm: npt.NDArray[np.float32], rate: int) -> bytes:
    """The bytes of a file with one channel; `pcm` is one-dimensional, full scale 1, at `rate` Hz."""
    data = pcm.astype("<f4", copy=False).tobytes()
    form = struct.pack("<4sIHHIIHHH", b"fmt ", 18, IEEE_FLOAT, 1, rate, 4 * rate, 4, 32, 0)
    fact = struct.pack("<4sII", b"fact", 4, len(pcm))
    body = b"WAVE" + form + fact + struct.pack("<4sI", b"data", len(data)) + data
    return struct.pack("<4sI", b"RIFF", len(body)) + body
