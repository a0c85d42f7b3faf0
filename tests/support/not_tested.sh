#!/bin/sh
# not_tested.sh WHY: a test that the machine cannot run.
echo "NOT TESTED: $1"
exit 77
