"""The programs that have a knowledge base on PostgreSQL open, and a command that needs it exclusively."""

import pytest

from argot.errors import KnowledgeBaseBusy
from argot.postgresql.stores import PostgresqlStores


def test_an_exclusive_command_and_other_processes_exclude_each_other(postgresql_url: str) -> None:
    others = [PostgresqlStores(postgresql_url) for _ in range(2)]
    for one in others:  # a pool connects in the background, and each connection declares itself
        with one.connection():
            pass
    with pytest.raises(KnowledgeBaseBusy, match=r"in use by 'argot' on 127\.0\.0\.1, \d connection"):
        PostgresqlStores(postgresql_url, alone="argot move")
    for one in others:
        one.close()
    alone = PostgresqlStores(postgresql_url, alone="argot move")
    for program in ("", "argot move"):
        with pytest.raises(KnowledgeBaseBusy, match=r"in use by 'argot move' on 127\.0\.0\.1.* and try again"):
            PostgresqlStores(postgresql_url, alone=program)
    # Other knowledge bases of the same database are not affected.
    PostgresqlStores(postgresql_url, "elsewhere").close()
    alone.open("x", ("CREATE TABLE x (a TEXT PRIMARY KEY)",)).write("INSERT INTO x VALUES ('a')")
    alone.close()
    PostgresqlStores(postgresql_url).close()
