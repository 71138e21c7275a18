#!/bin/sh
# Settings that are secrets come as files: /run/secrets/argot_model_key is read into ARGOT_MODEL_KEY. Argot itself takes
# them from its environment, and the engine's own lists of environments shall not show them.
set -eu
for file in /run/secrets/argot_*; do
  [ -f "$file" ] || continue
  name=$(basename "$file" | tr '[:lower:]' '[:upper:]')
  export "$name=$(cat "$file")"
done
exec "$@"
