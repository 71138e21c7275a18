# Where the two scripts of this folder keep things, how they speak, and what the processor can do. Sourced by both, and by
# .ci/run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
venv=${MODEL_SERVER_VENV:-$root/.venv-vllm}
# The same cache folder as Argot's own setting says, so that nothing large lies in the repository.
cache=${ARGOT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/argot}/model-server
small_model=$cache/smollm2-135m-instruct-0.1.2

say() { echo "model-server: $*"; }
fail() { echo "model-server: $*" >&2; exit 1; }
# What an installed environment must match; a changed pin makes a new one.
wanted_environment() { cat "$root"/deploy/vllm/cpu/{setup.sh,requirements.txt} | cksum; }
# A processor without instructions for bfloat16 converts each product: with eight requests at once a third of the speed.
has_bfloat16() { grep -qm1 -E 'avx512_bf16|amx_bf16|\bbf16\b' /proc/cpuinfo; }
