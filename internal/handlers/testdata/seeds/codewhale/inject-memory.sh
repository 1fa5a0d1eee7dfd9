#!/bin/sh
# The hook of the RFC's manual smoke test: it prepends "[hooked] ".
sed 's/.*"text":"\([^"]*\)".*/{"text": "[hooked] \1"}/'
