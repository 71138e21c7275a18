"""The process at the other end of a Unix socket."""

from __future__ import annotations

import os
import socket
import struct


def is_same_user(connection: socket.socket) -> bool:
    """Return whether the process at the other end runs as the same user (or as root)."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _pid, uid, _gid = struct.unpack("3i", credentials)
    # root can read the files anyway.
    return uid in (os.getuid(), 0)
