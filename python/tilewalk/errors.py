# SPDX-License-Identifier: Apache-2.0
"""The errors of Tilewalk, a class for each kind: what was found, what was expected, and where."""

from __future__ import annotations

from typing import Any

__all__ = [
    "Cancelled",
    "CompileError",
    "DeviceError",
    "Error",
    "FileError",
    "InputError",
    "InternalError",
    "MachineFailure",
    "NumericError",
    "RunWarning",
    "ShardsMissing",
    "UsageError",
]


class Error(Exception):
    """An error of Tilewalk. `str()` puts the place and the key path in front of the message."""

    kind: str = "internal"

    def __init__(
        self,
        text: str = "",
        message: str = "",
        file: str = "",
        line: int = 0,
        column: int = 0,
        key_path: str = "",
    ) -> None:
        super().__init__(text)
        self.message = message or text
        self.file = file
        self.line = line
        self.column = column
        self.key_path = key_path

    def __reduce__(self) -> tuple[object, ...]:
        arguments = (str(self), self.message, self.file, self.line, self.column, self.key_path)
        return type(self), arguments, {name: held for name, held in self.__dict__.items() if name == "which"}


class UsageError(Error, ValueError):
    """The caller asked for something that does not exist."""

    kind = "usage"


class InputError(Error, ValueError):
    """A book, a market, a product or a script is wrong."""

    kind = "input"


class NumericError(Error):
    """A path produced a number that is not finite."""

    kind = "numeric"


class FileError(Error):
    """A file could not be read or written."""

    kind = "io"


class Cancelled(Error):
    """The caller asked to stop."""

    kind = "cancelled"


class DeviceError(Error):
    """A GPU, its driver or its memory failed or is missing."""

    kind = "device"


class CompileError(Error):
    """The run-time compiler refused a kernel."""

    kind = "compile"


class InternalError(Error):
    """A defect of Tilewalk."""

    kind = "internal"


class MachineFailure(Error):
    """A failure of the machine, not of the input: a retry may succeed."""

    kind = "machine"


class ShardsMissing(MachineFailure):
    """Shards that are not done yet: `which` are their numbers."""

    kind = "shards_missing"
    which: list[int] = []


class RunWarning(UserWarning):
    """A run succeeded, but its results need care; `remarks` has the same text."""


_classes: dict[str, type[Error]] = {
    known.kind: known
    for known in (
        UsageError,
        InputError,
        NumericError,
        FileError,
        Cancelled,
        DeviceError,
        CompileError,
        InternalError,
        MachineFailure,
        ShardsMissing,
    )
}


def checked(name: str, text: str) -> str:
    """Returns the text, which `name` was given. Raises UsageError for a lone surrogate, which UTF-8 can't encode."""
    try:
        text.encode()
    except UnicodeEncodeError as e:
        raise UsageError(
            f"{name}: found half a character (the surrogate {ascii(text[e.start])}) at place {e.start}, expected a text"
        ) from None
    return text


def shown(thing: Any) -> str:
    """An unexpected value, for a message."""
    if isinstance(thing, (bool, int, float, str)) or thing is None:
        return repr(thing) if len(repr(thing)) < 60 else f"{repr(thing)[:56]}..."
    return f"an object of type {type(thing).__name__}"


def of(
    kind: str,
    message: str,
    file: str,
    line: int,
    column: int,
    key_path: str,
    text: str,
    which: list[int],
) -> Error:
    """Makes an exception of a library error; called by the extension."""
    out = _classes[kind](text, message, file, line, column, key_path)
    if isinstance(out, ShardsMissing):
        out.which = which
    return out
