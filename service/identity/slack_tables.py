"""A migration of people.db: the tables of Slack, which every people.db has, whether or not Slack is installed."""

TABLES = """
    CREATE TABLE slack_people (
        team TEXT NOT NULL, slack_user TEXT NOT NULL, user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
        PRIMARY KEY (team, slack_user)
    ) WITHOUT ROWID;
    CREATE TABLE slack_channels (
        channel TEXT PRIMARY KEY, mode TEXT NOT NULL, replies TEXT NOT NULL, groups TEXT NOT NULL,
        context TEXT NOT NULL, profile TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE slack_threads (
        team TEXT NOT NULL, channel TEXT NOT NULL, ts TEXT NOT NULL, scope TEXT NOT NULL,
        thread TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, last_ts TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (team, channel, ts, scope)
    ) WITHOUT ROWID;
    CREATE TABLE slack_views (
        channel TEXT NOT NULL, ts TEXT NOT NULL, viewed TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (channel, ts)
    ) WITHOUT ROWID;
    CREATE TABLE slack_events (
        id INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, place TEXT NOT NULL UNIQUE, lane TEXT NOT NULL,
        at TEXT NOT NULL, job TEXT, answer TEXT, sent INTEGER NOT NULL DEFAULT 0, stream TEXT NOT NULL DEFAULT '',
        tries INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0, state TEXT NOT NULL, noted_at REAL NOT NULL
    );
    CREATE INDEX slack_events_open ON slack_events (state, due)
"""
