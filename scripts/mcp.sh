#!/bin/sh
# Starts an MCP server over stdio, from wherever it is called. Options go to `skald mcp`: for example
#   scripts/mcp.sh --addr 127.0.0.1:8080        a bridge to a running server
#   scripts/mcp.sh --transport http             over HTTP instead
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
exec cargo run --quiet --release --manifest-path "$root/Cargo.toml" --package skald -- mcp "$@"
