"""Flat files as bytes, plain or packed by gzip; what cannot be read becomes a Refusal that names the file."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from polling_baseline.refusal import Refusal

# The standard input, as a file's name.
STDIN = Path("-")
GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """The file's bytes, unpacked if they are gzip's, and a function that says how many were taken from disk."""
    try:
        with os.fdopen(0, "rb", closefd=False) if path == STDIN else path.open("rb") as packed:
            where = packed.tell if packed.seekable() else lambda: 0
            if packed.peek(2)[:2] == GZIP_MAGIC:
                with gzip.open(packed) as unpacked:
                    yield cast(BinaryIO, unpacked), where
            else:
                yield packed, where
    except FileNotFoundError:
        raise Refusal(f"{path} does not exist") from None
    except IsADirectoryError:
        raise Refusal(f"{path} is a folder; name the files in it") from None
    except EOFError:
        raise Refusal(f"{path} is cut short (gzip ends early); fetch it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise Refusal(f"{path} is damaged ({error}); fetch it again") from None
    except OSError as error:
        raise Refusal(f"cannot read {path}: {error.strerror or error}") from None


def is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
