# SPDX-License-Identifier: Apache-2.0
"""Reading and writing of whole files, and in-memory files for texts and arrays."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .errors import Error, FileError, InputError, UsageError, checked, shown

__all__ = ["in_memory", "text_of_file", "write_by_ending", "write_reports", "write_text"]

_FORMS = {".json": "to_json", ".csv": "to_csv", ".txt": "to_text", ".parquet": "to_parquet", ".html": "to_page"}


def text_of_file(file: str | os.PathLike[str]) -> str:
    try:
        with open(file, encoding="utf-8") as opened:
            return opened.read()
    except OSError as e:
        message = f"can't read: {e.strerror}"
        raise FileError(f"{os.fspath(file)}: {message}", message, os.fspath(file)) from None
    except UnicodeDecodeError as e:
        message = f"found the byte 0x{e.object[e.start]:02X} at {e.start}, expected text in UTF-8"
        raise InputError(f"{os.fspath(file)}: {message}", message, os.fspath(file)) from None


def write_by_ending(file: str | os.PathLike[str], of: object) -> None:
    """Writes the form of an object that the file's ending names."""
    write_text(file, {ending: getattr(of, form) for ending, form in _FORMS.items() if hasattr(of, form)})


def write_text(file: str | os.PathLike[str], by_ending: dict[str, Callable[[], str | bytes]]) -> None:
    name = os.fspath(file)
    make = by_ending.get(os.path.splitext(name)[1].lower())
    if make is None:
        raise UsageError(f"{name}: found the ending '{os.path.splitext(name)[1]}', expected {', '.join(by_ending)}")
    made = make()
    try:
        _write_whole(name, made if isinstance(made, bytes) else made.encode())
    except OSError as e:
        message = f"can't write: {e.strerror}"
        raise FileError(f"{name}: {message}", message, name) from None


def _write_whole(name: str, made: bytes) -> None:
    """Writes a temporary file and renames it: the file appears complete or not at all, and the old one stays until
    then. A target that is not a plain file, such as /dev/stdout, is written directly."""
    target = os.path.realpath(name)
    is_there = os.path.exists(target)
    if is_there and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if is_there and not os.path.isfile(target):
        with open(target, "wb") as opened:
            opened.write(made)
        return
    draft = os.path.join(os.path.dirname(target), f".tilewalk.{uuid.uuid4().hex}")
    try:
        with open(draft, "xb") as opened:
            if is_there:
                os.fchmod(opened.fileno(), stat.S_IMODE(os.stat(target).st_mode))
            opened.write(made)
            opened.flush()
            _flush_to_disk(opened.fileno())
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def _flush_to_disk(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as e:
        if e.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems without flush
            raise


def write_reports(
    folder: str | os.PathLike[str], names: Iterable[str], report: Callable[[str], str]
) -> list[str]:
    """Writes a catalogue of files into a folder, made if missing, and returns their names."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as e:
        message = f"can't be made a folder: {e.strerror}"
        raise FileError(f"{os.fspath(folder)}: {message}", message, os.fspath(folder)) from None
    written = list(names)
    for name in written:
        write_text(os.path.join(folder, name), {os.path.splitext(name)[1]: partial(report, name)})
    return written


def array_of(shocks: Any) -> np.ndarray[Any, Any]:
    """A NumPy array, from one or from any DLPack object in CPU memory."""
    if isinstance(shocks, np.ndarray):
        return shocks
    try:
        return np.asarray(np.from_dlpack(shocks))
    except (BufferError, RuntimeError, TypeError) as e:
        raise UsageError(f"replay: shocks that are not in the memory of the processor: {e}") from None


@contextlib.contextmanager
def in_memory(settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Turns settings of files that are arrays or texts into in-memory files for the duration of a run.

    Messages name the setting, since the file has no known name.
    """
    with contextlib.ExitStack() as opened:
        out = dict(settings)
        names: dict[str, str] = {}
        for name, held in settings.items():
            if name == "replay" and hasattr(held, "__dlpack__"):
                shocks = array_of(held)
                shocks = shocks.astype(shocks.dtype.newbyteorder("="), copy=False)
                if shocks.dtype not in (np.float32, np.float64):
                    raise UsageError(f"replay: found shocks of type {shocks.dtype}, expected float64 or float32")
                if shocks.ndim not in (2, 3):
                    raise UsageError(
                        f"replay: found shocks of shape {shocks.shape}, expected (steps, slots, paths) or (steps, paths)"
                    )
                file = _memory_file(opened, "shocks.npy")
                np.lib.format.write_array(file, np.ascontiguousarray(shocks), allow_pickle=False)
            elif name in ("policy", "decisions") and _text_of(held) is not None:
                file = _memory_file(opened, name)
                file.write(checked(name, _text_of(held) or "").encode())
            else:
                if name in ("replay", "policy", "decisions") and not (held is None or isinstance(held, (str, os.PathLike))):
                    expected = "an array of shocks" if name == "replay" else "the text of one, or results"
                    raise UsageError(f"{name}: found {shown(held)}, expected a file or {expected}")
                continue
            file.flush()
            out[name] = f"/proc/self/fd/{file.fileno()}"
            names[out[name]] = name
        try:
            yield out
        except Error as e:
            if e.file not in names:
                raise
            told = str(e).replace(e.file, names[e.file], 1)
            raise type(e)(told, e.message, names[e.file], e.line, e.column, e.key_path) from None


def _memory_file(opened: contextlib.ExitStack, name: str) -> Any:
    return opened.enter_context(os.fdopen(os.memfd_create(name), "wb"))


def _text_of(held: Any) -> str | None:
    if hasattr(held, "to_json"):
        return str(held.to_json())
    return held if isinstance(held, str) and held.lstrip().startswith("{") else None
