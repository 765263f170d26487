"""A throwaway certificate authority, and what it signs: a certificate for the brokers and one for a client."""

import shutil
import subprocess
from pathlib import Path

from pipeline.errors import Unavailable

# Ours alone, so that no openssl.cnf of the machine adds to it.
_CONFIG = """
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[broker]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = IP:127.0.0.1, DNS:localhost
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


class Authority:
    """Writes PEM files to `folder`: for each name NAME.pem, the certificate, and NAME.key; raises Unavailable."""

    def __init__(self, folder: Path) -> None:
        openssl = shutil.which("openssl")
        if openssl is None:
            raise Unavailable("TLS certificates for the tests need openssl 3, and there is none: install it")
        self._openssl, self._folder = openssl, folder
        folder.mkdir()
        (folder / "openssl.cnf").write_text(_CONFIG)
        self.certificate = self._make("authority", "authority")

    def sign(self, kind: str, name: str) -> Path:
        """Make a certificate of a `kind`, broker or client; its key is in the file of the same name on `.key`."""
        certificate = self._make(kind, name, "-CA", str(self.certificate), "-CAkey", str(self._key("authority")))
        # Kafka wants both in one file.
        (self._folder / f"{name}.both").write_text(self._key(name).read_text() + certificate.read_text())
        return certificate

    def _key(self, name: str) -> Path:
        return self._folder / f"{name}.key"

    def _make(self, kind: str, name: str, *signed_by: str) -> Path:
        certificate = self._folder / f"{name}.pem"
        command = [self._openssl, "req", "-x509", "-config", str(self._folder / "openssl.cnf"), "-extensions", kind]
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(self._key(name))]
        about = ["-subj", f"/CN={name}", "-days", "2", "-out", str(certificate)]
        done = subprocess.run([*command, *key, *signed_by, *about], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"openssl made no certificate, version 3 can: {done.stderr.strip()}")
        return certificate
