"""A running `readgate serve`, started and ended as a person would."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
READGATE: Final = (sys.executable, "-m", "deployments.cli")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Served:
    """Has said that it is ready, or ended; `lines` is what it said."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            (*READGATE, "serve", "--config", str(config)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if "Ctrl-C stops it" in line:
                break

    @property
    def url(self) -> str:
        found = re.search(r"ready on (http://\S+)\. Try", "".join(self.lines))
        assert found, "".join(self.lines)
        return found[1]

    def stop(self) -> int:
        """What a container's runtime does: SIGTERM to the server alone."""
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def interrupt(self) -> int:
        """What Ctrl-C in a terminal does: the whole process group gets the signal."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self._ended()

    def _ended(self) -> int:
        try:
            return self.process.wait(timeout=60)
        finally:
            if self.process.stdout is not None:
                self.lines += self.process.stdout.readlines()
                self.process.stdout.close()


@contextmanager
def serving(folder: Path, ended: Callable[[Served], int] = Served.interrupt) -> Generator[Served]:
    """The laptop's configuration on another port; `folder` takes the changed file. It must end with exit code 0."""
    configs = ROOT / "configs"
    text = (configs / "serve.dev.yaml").read_text(encoding="utf-8")
    text = text.replace("port: 8000", f"port: {free_port()}")
    text = text.replace("directory: policies", f"directory: {configs / 'policies'}")
    config = folder / "serve.yaml"
    config.write_text(text, encoding="utf-8")
    running = Served(config)
    try:
        yield running
    finally:
        code = ended(running)
    assert code == 0, "".join(running.lines)
