"""Certificates made with the openssl program: authorities, and what they sign."""

import os
import ssl
import subprocess

import tenured


def openssl(*words):
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, timeout=tenured.PATIENCE)
    assert done.returncode == 0, done.stderr


NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class Authority:
    """Signs certificates; all files lie in the folder."""

    def __init__(self, folder, name="authority"):
        self.folder = folder
        self.certificate, self.key = self._path(name + ".pem"), self._path(name + ".key")
        openssl("req", "-x509", *NEW_KEY, "-keyout", self.key, "-out", self.certificate, "-days", "2",
                "-subj", f"/CN={name}")

    def sign(self, name, file=None, days=1, host=None):
        """The paths of a certificate and its key."""
        certificate, key, request = (self._path((file or name) + ending) for ending in (".pem", ".key", ".csr"))
        extension = ["-addext", f"subjectAltName=IP:{host}"] if host else []
        openssl("req", *NEW_KEY, "-keyout", key, "-out", request, "-subj", f"/CN={name}", *extension)
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-days", str(days),
                "-copy_extensions", "copy", "-out", certificate)
        return certificate, key

    def trust(self, certificate=None):
        """What a client needs that believes this authority, and shows a certificate."""
        context = ssl.create_default_context(cafile=self.certificate)
        if certificate:
            context.load_cert_chain(*certificate)
        return context

    def _path(self, name):
        return os.path.join(self.folder, name)
