"""A setting's secret, read from where it says. The one place that sees the value before its user does."""

from collections.abc import Mapping
from pathlib import Path

from deployments.settings import Secret


class SecretMissing(Exception):
    """The environment variable or file that a setting names is not there, or is empty."""


def read_secret(secret: Secret, environ: Mapping[str, str]) -> str:
    """The value, without surrounding white space. Raises SecretMissing that names the variable or file."""
    if secret.env is not None:
        value, where = environ.get(secret.env, "").strip(), f"environment variable {secret.env}"
    else:
        path = Path(secret.file or "")
        where = f"file {path}"
        try:
            value = path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SecretMissing(f"{where}: {error.strerror}") from error
    if not value:
        raise SecretMissing(f"{where} is not set or empty")
    return value
