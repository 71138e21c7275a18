#!/bin/sh
# Before the first start: an empty knowledge base with an administrator, since Argot listens on a network only where
# people sign in. What is there already stays as it is.
#   FIRST_ADMINISTRATOR   the name; admin
#   /run/secrets/first_password   the password, of at least 10 characters
set -eu
name=${FIRST_ADMINISTRATOR:-admin}
password=/run/secrets/first_password

# Not `argot init` on one that is there: it would begin a store anew that was lost.
[ -e "$ARGOT_HOME/knowledge_base.json" ] || argot init
if [ "$(argot user list --json)" = "[]" ]; then
  [ -s "$password" ] || { echo "Nobody can sign in yet: put the first password into the secret first_password." >&2; exit 1; }
  argot user add "$name" --password --role admin <"$password"
fi
