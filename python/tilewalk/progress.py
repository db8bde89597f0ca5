# SPDX-License-Identifier: Apache-2.0
"""Progress of long calls: a line on standard error, tqdm, or whatever the caller hands in."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .errors import UsageError, shown

__all__ = ["watching"]

News = dict[str, Any]


def _share(news: News) -> float:
    steps = news["path_steps"]
    return float(news["path_steps_done"]) / steps if steps else 0.0


def _text_of(news: News) -> str:
    return f"tilewalk: {_share(news):4.0%}, {news['trades_done']} of {news['trades']} trades"


class _Line:
    """A line of standard error that goes when the run ends."""

    def __call__(self, news: News) -> None:
        print(f"\r{_text_of(news)}\x1b[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _Lines:
    """Lines of a log, which stay: one for each tenth of the work at most."""

    def __init__(self) -> None:
        self.tenths = 0

    def __call__(self, news: News) -> None:
        tenths = int(10 * _share(news))
        if tenths > self.tenths:
            self.tenths = tenths
            print(_text_of(news), file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


class _Bar:
    """Feeds an object with `total` and `update(n)`, as tqdm has them."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.done = 0

    def __call__(self, news: News) -> None:
        self.bar.total = news["path_steps"]
        self.bar.update(news["path_steps_done"] - self.done)
        self.done = news["path_steps_done"]


@contextlib.contextmanager
def watching(asked: Any) -> Iterator[Callable[[News], None] | None]:
    """What a run calls with its news, for an argument `progress`: None, True, a callable or one like tqdm."""
    if asked is None or asked is False:
        yield None
    elif asked is not True:
        if not callable(asked) and not hasattr(asked, "update"):
            raise UsageError(
                f"progress: found {shown(asked)}, expected True, a callable that takes a dict, or an object like tqdm"
            )
        yield _Bar(asked) if hasattr(asked, "update") and not isinstance(asked, dict) else asked
    else:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            line = _Line() if sys.stderr.isatty() else _Lines()
            try:
                yield line
            finally:
                line.close()
        else:
            with tqdm(unit="step", unit_scale=True, desc="tilewalk") as bar:
                yield _Bar(bar)
