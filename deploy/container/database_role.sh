#!/bin/sh
# At PostgreSQL's first start: a user for Argot that is no superuser, for whom the policies that guard rows hold, and its
# database. The password is that in /run/secrets/database_password.
#   PGUSER, PGHOST, PGPORT   where and as whom this runs; postgres, as in PostgreSQL's image
#   DATABASE_PASSWORD        another file with the password
set -eu
password=$(cat "${DATABASE_PASSWORD:-/run/secrets/database_password}")
psql -X -q -v ON_ERROR_STOP=1 -v password="$password" -U "${PGUSER:-postgres}" -d postgres <<'SQL'
CREATE ROLE argot LOGIN PASSWORD :'password';
CREATE DATABASE argot OWNER argot ENCODING 'UTF8' TEMPLATE template0;
SQL
