# SPDX-License-Identifier: Apache-2.0
"""Progress of long calls: a line on standard error, tqdm, or a callable."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .errors import UsageError, shown

__all__ = ["watching"]

News = dict[str, Any]


def _steps(news: News) -> tuple[int, int]:
    """Work done and total work: path steps or kernels; 0 if unknown."""
    unit = "kernels" if "kernels" in news else "path_steps"
    return news.get(f"{unit}_done", 0), news.get(unit, 0)


def _share(news: News) -> float:
    done, steps = _steps(news)
    return done / steps if steps else 0.0


def _text_of(news: News) -> str:
    if "doing" in news:
        return f"tilewalk: {news['doing']}"
    unit = "kernels" if "kernels" in news else "trades"
    return f"tilewalk: {_share(news):4.0%}, {news[f'{unit}_done']} of {news[unit]} {unit}"


class _Line:
    """A line on standard error that disappears when the run ends."""

    def __call__(self, news: News) -> None:
        print(f"\r{_text_of(news)}\x1b[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _Lines:
    """Lines of a log: at most one for each tenth of the work or each item."""

    def __init__(self) -> None:
        self.tenths = 0
        self.doing = ""

    def __call__(self, news: News) -> None:
        tenths, doing = int(10 * _share(news)), news.get("doing", "")
        if tenths > self.tenths or doing != self.doing:
            self.tenths, self.doing = tenths, doing
            print(_text_of(news), file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


class _Bar:
    """Drives an object with `total` and `update(n)`, like tqdm's."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.done = 0

    def __call__(self, news: News) -> None:
        done, steps = _steps(news)
        if "doing" in news and hasattr(self.bar, "set_postfix_str"):
            self.bar.set_postfix_str(news["doing"])
        self.bar.total = steps or None
        self.bar.update(done - self.done)
        self.done = done


@contextlib.contextmanager
def watching(asked: Any) -> Iterator[Callable[[News], None] | None]:
    """Yields the callback for an argument `progress`: None, True, a callable, or an object like tqdm's."""
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
