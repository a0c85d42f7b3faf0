#!/usr/bin/env bash
# The functions that preprocessed headers export, one a line: what stands behind the attribute.
set -euo pipefail
{ tr '\n' ' ' && echo; } | sed 's/__attribute__((visibility("default")))/\n&/g' |
	sed -n 's/^__attribute__((visibility("default")))[^(]*\b\(dw_[a-z_]*\) *(.*/\1/p'
