"""Writes a rule into a SQLite store that no durawheel would write: as src/timer/record.h says, with
right checksums."""
import sqlite3
import struct

HEADER = 28
RULE_NUMBERS = 36  # bytes before the text of a rule


def table_of_crc():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = table_of_crc()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


def with_rule(body, text):
    """The body of a recurring timer with another text."""
    block = HEADER + body[12] + body[13]
    size = struct.unpack_from("<H", body, block + 2)[0]
    numbers = body[block + 4:block + 4 + RULE_NUMBERS]
    rule = numbers + text.encode() + b"\0"
    fresh = (body[:block] + body[block:block + 2] + struct.pack("<H", len(rule)) + rule +
             body[block + 4 + size:])
    fresh = fresh[:4] + struct.pack("<I", len(fresh)) + fresh[8:]
    return fresh[:8] + struct.pack("<I", crc32c(fresh[:8] + fresh[12:])) + fresh[12:]


def set_rule(file, name, text):
    """Gives the recurring timer `name` another rule. Nobody may own the store."""
    store = sqlite3.connect(file)
    row = store.execute("SELECT generation, due, attempt, retries, crashes, state, open, claim, body "
                        "FROM timer WHERE id = ?", (name,)).fetchone()
    body = with_rule(row[8], text)
    head = struct.pack("<QqIIIBBQ", *row[:7], row[7]) + body[8:12]
    store.execute("UPDATE timer SET body = ?, seal = ? WHERE id = ?", (body, crc32c(head), name))
    store.commit()
    store.close()
