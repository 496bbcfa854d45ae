"""Files with secrets in them: readable by their owner only from the moment they exist, and never half written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_private(file: Path, text: str) -> None:
    """Create a file with mode 0600 beside the old one, then replace it: readers see the old text or the new."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # mode 0600, whatever the umask
    try:
        with os.fdopen(descriptor, "w") as new:
            new.write(text)
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
