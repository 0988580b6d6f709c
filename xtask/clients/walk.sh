#!/usr/bin/env bash
# The documented walk over HTTP with curl and a cookie jar. usage: walk.sh http://127.0.0.1:PORT
set -euo pipefail
base=$1
jar=$(mktemp)
trap 'rm -f "$jar"' EXIT
passed=0
expect() {
  if [[ $2 != *"$3"* ]]; then
    printf 'FAILED %s: expected %s in %s\n%s passed, 1 failed\n' "$1" "$3" "$2" "$passed"
    exit 1
  fi
  passed=$((passed + 1))
  printf 'ok %s\n' "$1"
}

# 1) First request: initialize session (cookie is set automatically)
answer=$(curl -sS -c "$jar" -X POST "$base/mcp" \
  -H "Content-Type: application/json" \
  -d '{
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
      "protocolVersion": "2024-11-05",
      "clientInfo": {
        "name": "test-client",
        "version": "0.1.0"
      }
    }
  }')
expect "initialize" "$answer" '"protocolVersion":"2024-11-05"'
expect "the cookie is set" "$(cat "$jar")" "mcp_session"

# 2) Send initialized notification (cookie is sent automatically)
status=$(curl -sS -o /dev/null -w '%{http_code}' -b "$jar" -X POST "$base/mcp" \
  -H "Content-Type: application/json" \
  -d '{
    "jsonrpc": "2.0",
    "method": "initialized",
    "params": {}
  }')
expect "initialized" "$status" 202

# 3) Subsequent request: cookie is sent automatically to reuse session
answer=$(curl -sS -b "$jar" -X POST "$base/mcp" \
  -H "Content-Type: application/json" \
  -d '{
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/list",
    "params": {}
  }')
expect "tools/list" "$answer" '"name":"duality_action_roll"'

# 4) Check health
status=$(curl -sS -o /dev/null -w '%{http_code}' "$base/mcp/health")
expect "health" "$status" 200

printf '%s passed, 0 failed\n' "$passed"
