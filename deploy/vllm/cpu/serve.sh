#!/usr/bin/env bash
# Serves a model with vLLM on the processor until it is stopped. PORT, MODEL (a Hugging Face folder), THREADS, CONTEXT;
# DTYPE: bfloat16 or float32; LORA: the highest rank of adapters that may be loaded while it runs.
set -euo pipefail
. "$(dirname "$0")/places.sh"

port=${PORT:-8011}
model=${MODEL:-$small_model}
context=${CONTEXT:-4096}
log=$cache/server-$port.log
START_SECONDS=600

main() {
  [[ -f $venv/.installed ]] || fail "not set up yet: make model-server-setup"
  [[ -f $model/config.json ]] || fail "$model is not a Hugging Face model folder (it has no config.json)."
  [[ -n ${MODEL:-} ]] && name=$(basename "$model") || name=smollm2
  [[ ${THREADS:-0} =~ ^[0-9]+$ ]] || fail "THREADS=$THREADS is no number of processor cores."
  [[ $port =~ ^[0-9]+$ ]] && ((port > 0 && port < 65536)) || fail "PORT=$port is no port."
  dtype=${DTYPE:-$(fastest_dtype)}
  [[ $dtype =~ ^(bfloat16|float32)$ ]] || fail "DTYPE=$dtype: bfloat16 or float32, which takes twice the memory."
  lora=()
  if [[ -n ${LORA:-} ]]; then
    [[ $LORA =~ ^(8|16|32|64|128|256|320|512)$ ]] || fail "LORA=$LORA: vLLM takes 8, 16, 32, 64, 128, 256, 320 or 512."
    lora=(--enable-lora --max-lora-rank "$LORA")
    export VLLM_ALLOW_RUNTIME_LORA_UPDATING=True
  fi
  port_is_free || fail "port $port is taken. Another one: make model-server PORT=$((port + 1))"
  mkdir -p "$cache"
  say "starting vLLM with $name on processor cores $(cores); some 4.5 GB of memory, 20 to 90 seconds. Log: $log"
  start
  trap 'stop; exit 143' TERM
  trap 'stop; exit 130' INT HUP
  wait_until_up
  tell
  wait "$server" || explain_end
}

fastest_dtype() { has_bfloat16 && echo bfloat16 || echo float32; }

start() {
  # Nothing is downloaded and nothing reported; the last option bounds JSON, which otherwise may end in endless blanks.
  HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1 VLLM_HOST_IP=127.0.0.1 VLLM_CPU_KVCACHE_SPACE=2 \
    VLLM_CPU_OMP_THREADS_BIND=$(cores) \
    "$venv/bin/python" -m vllm.entrypoints.launchers.api_server.entry --model "$model" --served-model-name "$name" \
    --host 127.0.0.1 --port "$port" --max-model-len "$context" --dtype "$dtype" --enforce-eager \
    --structured-outputs-config '{"backend":"xgrammar","disable_any_whitespace":true}' "${lora[@]}" >"$log" 2>&1 &
  server=$!
}

stop() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  rm -f "$log" # it tells of an end that nobody wished for only
}

wait_until_up() {
  local waited
  for ((waited = 0; waited < START_SECONDS; waited++)); do
    kill -0 "$server" 2>/dev/null || explain_end
    healthy && return
    ((waited % 15 == 14)) && say "  still starting"
    sleep 1
  done
  kill "$server"
  fail "it did not answer within $START_SECONDS seconds. See $log"
}

tell() {
  say "$name answers on http://127.0.0.1:$port/v1. In another terminal:"
  echo "  export ARGOT_MODEL_URL=http://127.0.0.1:$port/v1"
  echo "  export ARGOT_MODEL=$name"
  say "ctrl-C stops it. The small model is for trying out and for tests; for answers worth reading see docs/model-server.md."
}

explain_end() {
  tail -n 20 "$log" >&2
  fail "vLLM has ended. The lines above are the end of $log; too little memory is the likeliest cause (it takes some 4.5 GB)."
}

# The last THREADS of the cores this process may use; without THREADS all but one, which is left to Argot.
cores() {
  "$venv/bin/python" - "${THREADS:-0}" <<'PYTHON'
import os, sys
mine = sorted(os.sched_getaffinity(0))
wanted = int(sys.argv[1]) or max(1, len(mine) - 1)
print(",".join(map(str, mine[-wanted:])))
PYTHON
}

port_is_free() {
  "$venv/bin/python" - "$port" 2>/dev/null <<'PYTHON'
import socket, sys
with socket.socket() as probe:
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", int(sys.argv[1])))
PYTHON
}

healthy() {
  "$venv/bin/python" - "$port" 2>/dev/null <<'PYTHON'
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=5)
connection.request("GET", "/health")
sys.exit(connection.getresponse().status != 200)
PYTHON
}

main
