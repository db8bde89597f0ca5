# SPDX-License-Identifier: Apache-2.0
"""Kernels of GPUs that were compiled or tuned ahead of the runs that need them."""

from __future__ import annotations

from . import _core
from .tables import Table

__all__ = ["TunedKernels", "WarmedKernels"]


class _Kernels(Table):
    """A row for each kernel; `message` says why one is missing."""

    def __init__(self, core: _core.Table, text: str) -> None:
        super().__init__(core)
        self._text = text

    @property
    def failed(self) -> list[str]:
        """Names of kernels that failed."""
        columns = self.to_dict()
        return [name for name, why in zip(columns["kernel"], columns["message"], strict=True) if why]

    def to_text(self) -> str:
        """The command's table for people."""
        return self._text

    def __str__(self) -> str:
        return self._text


class WarmedKernels(_Kernels):
    """Kernels ready in the cache, by architecture; `outcome` is compiled, from cache or failed."""


class TunedKernels(_Kernels):
    """Tuned kernels: the default variant, and the fastest, which is kept."""
