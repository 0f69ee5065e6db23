#!/bin/bash
# Hashes a tree in slices with GNU parallel, here or on many hosts, and joins the parts.
#
#   parallel.sh TREE MANIFEST SLICES [options of parallel, such as -S host1,host2 or -j 4]
#
# With -S every host must see TREE and the folder of MANIFEST under the same paths, and have multisum.
set -euo pipefail
tree=$(realpath "$1")
manifest=$(realpath "$2")
slices=$3
shift 3
parts=$manifest.parts
mkdir -p "$parts"
seq "$slices" | parallel "$@" --halt soon,fail=1 \
    multisum hash --slice "{}/$slices" --resume --force -C "$tree" -o "$parts/{}.jsonl" .
multisum merge "$parts"/*.jsonl -o "$manifest"
rm -r "$parts"
