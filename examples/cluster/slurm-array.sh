#!/bin/bash
#SBATCH --job-name=multisum
#SBATCH --requeue
# One task of a Slurm array: hashes its slice of a tree that every node sees.
#
#   parts=/shared/parts; mkdir "$parts"
#   array=$(sbatch --parsable --array=1-8 slurm-array.sh /shared/tree "$parts")
#   sbatch --dependency=afterok:"$array" --wrap \
#       "multisum merge $parts/*.jsonl -o /shared/tree.jsonl"
#
# The array may have any number of tasks. A task that is killed and queued again goes on where it was.
set -euo pipefail
tree=$1
parts=$2
exec multisum hash --slice auto --resume -C "$tree" -o "$parts/$SLURM_ARRAY_TASK_ID.jsonl" .
