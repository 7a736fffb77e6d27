#!/usr/bin/env bash
# Runs a command with this checkout on Linux aarch64, under emulation.
#
#   release/emulated/aarch64.sh FOLDER [COMMAND]
#
# Makes a Debian for aarch64 in FOLDER (once; 300 MB), copies what is committed here into it, installs cosim with
# its tests in an environment (again only when the commit changed), and runs COMMAND there; without one, the tests
# of `quick_tests.txt`. Needs root and the Debian packages debootstrap and qemu-user-static. A program takes some
# ten times as long as on this processor.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(git -C "$here" rev-parse --show-toplevel)
[ $# -ge 1 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "aarch64.sh: run it as root: it changes into another root folder" >&2; exit 2; }
for program in debootstrap qemu-aarch64-static; do
    command -v $program >/dev/null || { echo "aarch64.sh: $program is missing: apt-get install debootstrap qemu-user-static" >&2; exit 2; }
done
mkdir -p "$1"
root=$(cd "$1" && pwd)
tests=$(grep -v '^#' "$here/quick_tests.txt" | tr '\n' ' ')
command=${2:-python -P -m pytest -q -p no:cacheprovider $tests}

# Programs for aarch64 are given to qemu by the kernel: by their first twenty bytes.
formats=/proc/sys/fs/binfmt_misc
[ -e $formats/register ] || mount -t binfmt_misc none $formats
if [ ! -e $formats/qemu-aarch64 ]; then
    elf='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    echo ":qemu-aarch64:M::$elf:$mask:$(command -v qemu-aarch64-static):F" > $formats/register
fi

if [ ! -e "$root/is-complete" ]; then
    debootstrap --arch=arm64 --foreign --variant=minbase \
        --include=python3,python3-venv,gcc,libc6-dev,ca-certificates bookworm "$root"
    chroot "$root" /debootstrap/debootstrap --second-stage
    touch "$root/is-complete"
fi

mounted=()
unmount() { for place in "${mounted[@]}"; do umount "$place"; done; }
trap unmount EXIT
mount -t proc proc "$root/proc"; mounted+=("$root/proc")
mount --bind /dev "$root/dev"; mounted+=("$root/dev")

# What this machine says about its package index and its certificates.
for file in /etc/pip.conf /etc/xdg/pip /etc/ssl/certs/ca-certificates.crt /etc/resolv.conf /etc/hosts; do
    [ ! -e $file ] || { mkdir -p "$root$(dirname $file)"; cp -rL $file "$root$(dirname $file)/"; }
done
[ ! -e "$HOME/.config/pip" ] || { mkdir -p "$root/root/.config"; cp -rL "$HOME/.config/pip" "$root/root/.config/"; }
env | { grep -E '^(PIP_|SSL_|CURL_CA|REQUESTS_)' || true; } | sed -E "s/^([^=]*)=(.*)$/export \1='\2'/" > "$root/root/index.sh"

commit=$(git -C "$checkout" rev-parse HEAD)
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
    chroot "$root" bash -ec ". /root/index.sh; cd /root/checkout; $1"; }
if [ "$(cat "$root/root/installed" 2>/dev/null)" != "$commit" ]; then
    rm -rf "$root/root/checkout" "$root/root/installed"
    mkdir "$root/root/checkout"
    git -C "$checkout" archive "$commit" | tar -x -C "$root/root/checkout"
    inside 'python3 -m venv .venv; .venv/bin/python -m pip install -q --no-compile ".[dev]" ./examples/engine_mount/plugin'
    echo "$commit" > "$root/root/installed"
fi
inside ". .venv/bin/activate; $command"
