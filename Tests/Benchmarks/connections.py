"""What connections take: idle ones, streams, slow readers and bombs. What is measured is the soak test's."""

import asyncio
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Soak"))
import figures  # noqa: E402
from table import Row  # noqa: E402


def rows(bench):
    """All rows of this file."""
    return [
        Row(f"{figure.title}: resident memory", _text(figure.value), _text(figure.limit), "the aim",
            figure.value / figure.limit, "at most", 1)
        for figure in asyncio.run(figures.measure(bench.directory, bench.binary))
    ]


def _text(count):
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count:,.0f} bytes"
