#!/usr/bin/env python3
"""A proxy that speaks TLS on one side and to a member on the other: members speak it in their commercial edition only.

tls_proxy.py FOLDER MEMBER-PORT makes an authority and a certificate in the folder (authority.pem), prints the port it
listens at, and ends with its standard input.
"""

import os
import pathlib
import socket
import ssl
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
os.environ.setdefault("TENURED", "")  # what lies there is for tests of the server

import certificates  # noqa: E402

HOST = "127.0.0.1"


def carry(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass  # the other side has ended
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it has ended already


def serve(plain, context, member_port):
    try:
        client = context.wrap_socket(plain, server_side=True)
        member = socket.create_connection((HOST, member_port))
    except OSError:
        return  # a client that does not believe us, or no member
    threading.Thread(target=carry, args=(client, member), daemon=True).start()
    carry(member, client)


def listen(listener, context, member_port):
    while True:
        plain, _ = listener.accept()
        threading.Thread(target=serve, args=(plain, context, member_port), daemon=True).start()


def main():
    folder, member_port = sys.argv[1], int(sys.argv[2])
    certificate, key = certificates.Authority(folder).sign("proxy", host=HOST)
    certificates.Authority(folder, "stranger")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server((HOST, 0))
    threading.Thread(target=listen, args=(listener, context, member_port), daemon=True).start()
    print(listener.getsockname()[1], flush=True)
    sys.stdin.read()


main()
