#!/usr/bin/env python3
"""wrong_replies.py PORT: a proxy in front of the Redis server at that port of 127.0.0.1. While the
file "broken" exists, the reply to each EVALSHA has a wrong shape. While the file "meanwhile" exists,
a shell runs it before each HMGET, which reads a timer. The file proxy.port has its own port, and
proxy.count how many connections it has accepted."""

import os
import socket
import subprocess
import sys
import threading


def read_reply(stream):
    """Returns the bytes of one reply."""
    line = stream.readline()
    if not line:
        raise EOFError
    size = int(line[1:]) if line[:1] in b"$*" else -1
    if line[:1] == b"$" and size >= 0:
        return line + stream.read(size + 2)
    if line[:1] == b"*":
        return line + b"".join(read_reply(stream) for _ in range(max(size, 0)))
    return line


one_at_a_time = threading.Lock()


def is_command(command, name):
    return b"\r\n" + name + b"\r\n" in command[:24]


def is_wrong(command):
    return is_command(command, b"EVALSHA") and os.path.exists("broken")


def pump(source, sink):
    """Passes messages of channels on, which answer no command."""
    try:
        while part := source.read1(65536):
            sink.sendall(part)
    except OSError:
        pass


def serve(client, port):
    try:
        with client, socket.create_connection(("127.0.0.1", port)) as server:
            commands, replies = client.makefile("rb"), server.makefile("rb")
            subscribed = False
            while True:
                command = read_reply(commands)
                if is_command(command, b"HMGET") and os.path.exists("meanwhile"):
                    with one_at_a_time:
                        subprocess.run(["sh", "meanwhile"], check=False)
                server.sendall(command)
                if is_command(command, b"SUBSCRIBE"):
                    threading.Thread(target=pump, args=(replies, client), daemon=True).start()
                    subscribed = True
                if not subscribed:
                    reply = read_reply(replies)
                    client.sendall(b"*1\r\n+wrong\r\n" if is_wrong(command) else reply)
    except (OSError, EOFError, ValueError):
        pass


def write(name, number):
    with open(name + ".new", "w", encoding="ascii") as file:
        print(number, file=file)
    os.rename(name + ".new", name)


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    count = 0
    write("proxy.port", listener.getsockname()[1])
    while True:
        client, _ = listener.accept()
        count += 1
        write("proxy.count", count)
        threading.Thread(target=serve, args=(client, int(sys.argv[1])), daemon=True).start()


main()
