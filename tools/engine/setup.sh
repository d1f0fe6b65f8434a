#!/bin/sh
# setup.sh FOLDER: the engine environment in FOLDER/venv and the tiny checkpoint in FOLDER/tiny. Python 3.11 or later.
# Does nothing when both were made from the files as they are now. PYTHON names another interpreter than python3.
set -eu

folder=${1:?usage: setup.sh FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python=$folder/venv/bin/python

# One digest for everything the environment is made of.
digest=$(cd "$root" && find requirements/engine.txt tools/engine -type f ! -path '*/__pycache__/*' ! -path '*/build/*' \
  ! -path '*.egg-info/*' -exec sha256sum {} + | sort -k 2 | sha256sum | cut -d ' ' -f 1)
if [ -x "$python" ] && [ "$(cat "$folder/made-from" 2>/dev/null || true)" = "$digest" ]; then
  echo "engine environment in $folder is up to date"
  exit 0
fi
rm -f "$folder/made-from"

"${PYTHON:-python3}" -m venv "$folder/venv"
# requirements/engine.in says why torch comes apart from the hashed rest, and why nothing brings dependencies.
"$python" -m pip install --quiet --no-deps --only-binary :all: torch==2.13.0
"$python" -m pip install --quiet --no-deps --only-binary :all: --require-hashes -r "$root/requirements/engine.txt"

# Built from a copy: the build writes beside its sources.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/triton_cpu" "$work/triton_cpu"
"$python" -m pip install --quiet --no-build-isolation --no-deps --force-reinstall "$work/triton_cpu"

site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
cp "$here/readgate_cpu_boot.py" "$site/"
echo 'import readgate_cpu_boot' >"$site/readgate_cpu_boot.pth"
# The project itself, importable and not installed: no entry points, no second copy.
echo "$root" >"$site/readgate.pth"

"$python" "$here/tiny_checkpoint.py" "$folder/tiny"
echo "$digest" >"$folder/made-from"
echo "engine environment is ready: $python"
