#!/usr/bin/env bash
# Installs vLLM into an environment of its own and serves a model on this machine's graphics cards:
#
#   deploy/vllm/gpu/serve.sh 24g          a model for one card with 24 GB
#   deploy/vllm/gpu/serve.sh 80g          a model for one card with 80 GB
#   deploy/vllm/gpu/serve.sh NAME|FOLDER  any other model
#
# What follows is handed on to vLLM (--tensor-parallel-size 2). HOST, PORT and VLLM_API_KEY are read from the environment,
# and LORA, the highest rank of adapters that may be loaded while it runs (32 for those that Argot makes by default);
# SHOW=1 prints the command and runs nothing. docs/model-server.md has the rest.
set -euo pipefail

VLLM=vllm==0.32.0
venv=${MODEL_SERVER_VENV:-$(cd "$(dirname "$0")/../../.." && pwd)/.venv-vllm-gpu}
host=${HOST:-127.0.0.1}
port=${PORT:-8011}

main() {
  (($# > 0)) || fail "say which model: serve.sh 24g, serve.sh 80g, or serve.sh NAME"
  local -a command
  choose "$1"
  adapters
  command=("$venv/bin/vllm" serve "${model[@]}" "${every_model[@]}" "${lora[@]}" --host "$host" --port "$port" "${@:2}")
  if [[ -n ${SHOW:-} ]]; then
    printf '%q ' "${command[@]}"
    echo
    return
  fi
  check_key
  command -v nvidia-smi >/dev/null || fail "no NVIDIA driver here (nvidia-smi). For a processor: make model-server"
  [[ -f $venv/.installed && $(<"$venv/.installed") == "$VLLM" ]] || install
  say "argot will find it with ARGOT_MODEL_URL=http://$host:$port/v1 ARGOT_MODEL=argot (the first start downloads the model)"
  exec env VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1 HF_HUB_DISABLE_TELEMETRY=1 "${command[@]}"
}

# Compact JSON only, else it may end in endless blanks; no interactive API pages; cached what prompts have in common.
every_model=(
  --served-model-name argot --enable-prefix-caching --disable-fastapi-docs
  --structured-outputs-config '{"backend":"xgrammar","disable_any_whitespace":true}'
)

choose() {
  case $1 in
    24g) model=(mistralai/Ministral-3-14B-Instruct-2512 --tokenizer-mode mistral --config-format mistral
      --load-format mistral --language-model-only --max-model-len 8192) ;;
    80g) model=(Qwen/Qwen3.8-27B-FP8 --language-model-only --max-model-len 32768
      --default-chat-template-kwargs '{"enable_thinking":false}') ;;
    -*) fail "the model comes first: serve.sh NAME $*" ;;
    *) model=("$1") ;;
  esac
}

# LORA=32: adapters up to that rank may be loaded while it runs (learn/README.md). Whoever reaches the server can load
# one, so only with a key where others reach it.
adapters() {
  lora=()
  [[ -n ${LORA:-} ]] || return 0
  [[ $LORA =~ ^(8|16|32|64|128|256|320|512)$ ]] || fail "LORA=$LORA: vLLM takes 8, 16, 32, 64, 128, 256, 320 or 512."
  lora=(--enable-lora --max-lora-rank "$LORA")
  export VLLM_ALLOW_RUNTIME_LORA_UPDATING=True
}

check_key() {
  case $host in 127.* | localhost | ::1) return ;; esac
  [[ -n ${VLLM_API_KEY:-} ]] || fail "on $host others can reach it: set VLLM_API_KEY (and give Argot the same as ARGOT_MODEL_KEY)"
}

install() {
  local python=${PYTHON:-python3}
  "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' ||
    fail "vLLM needs Python 3.11 to 3.14. Say where one is: PYTHON=/path/to/python3.12"
  say "installing $VLLM into $venv, once: some 10 GB"
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip --disable-pip-version-check --quiet install "$VLLM"
  echo "$VLLM" >"$venv/.installed"
}

say() { echo "model-server: $*"; }
fail() { echo "model-server: $*" >&2; exit 1; }

main "$@"
