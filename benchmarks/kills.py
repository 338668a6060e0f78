"""A thousand SIGKILLs at random points of runs that are taken up again each time.

After every kill: no finished clip is asked twice, at most the clip in flight is unknown, a paid clip is asked once for
ever, the ledger holds no fewer calls than the server counted. At the end of every run: the numbers of an undisturbed
one. Stops at the first promise that does not hold.

    python benchmarks/kills.py [--kills 1000] [--clips 40] [--seed 1]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--clips", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()

    from tests.kills import study

    with tempfile.TemporaryDirectory() as folder:
        found = study(Path(folder) / "project", asked.clips, asked.seed, asked.kills, print)
    print(f"{found.kills} kills in {found.rounds} runs, {len(found.server.asked)} calls: every promise held")


if __name__ == "__main__":
    main()
