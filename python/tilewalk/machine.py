# SPDX-License-Identifier: Apache-2.0
"""The devices of this machine."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from .pages import page
from .results import Row

__all__ = ["Devices", "devices"]


class Devices:
    """The processor and the GPUs, with the reason if one is not used."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._text: str = found["text"]
        self.why_no_gpu: str = found["why_no_gpu"]
        self.why_processor: str = found["why_processor"]
        self.automatic: list[int] = found["automatic"]
        self.all: Row = Row(json.loads(found["json"]))

    @property
    def gpus(self) -> list[Row]:
        """The GPUs; an unusable one has the reason."""
        return [Row(gpu) for gpu in self.all["gpus"]]

    @property
    def processor(self) -> Row:
        """The processor."""
        return Row(self.all["processor"])

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        rows = [f"<tr><td>{line}</td></tr>" for line in _escaped(self._text)]
        return page([("devices", False)], rows, "")

    def __repr__(self) -> str:
        return self._text


def _escaped(text: str) -> list[str]:
    from html import escape

    return [escape(line) for line in text.splitlines() if line.strip()]


def devices() -> Devices:
    """Inspects the devices of this machine without opening them."""
    return Devices(_core.devices())
