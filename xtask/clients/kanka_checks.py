"""What the scripts that drive clients of Kanka share: counted checks, and skald's own tools over MCP."""

import json
import os
import sys
import traceback
import urllib.request

# Each type as MCP names it, and its list in Kanka.
TYPES = {
    "character": "characters",
    "creature": "creatures",
    "location": "locations",
    "organization": "organisations",
    "race": "races",
    "note": "notes",
    "journal": "journals",
    "quest": "quests",
}
# More than two pages of 45 rows.
MANY = 95


class Checks:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def equal(self, what, found, expected):
        if found == expected:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}: expected {expected!r}, found {found!r}")

    def true(self, what, found):
        self.equal(what, bool(found), True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)

    def run(self, steps):
        try:
            steps(self)
        except Exception:  # A client that fails is a failed check.
            traceback.print_exc(file=sys.stdout)
            self.failed += 1
        self.finish()


class Skald:
    """A session over MCP with a token."""

    def __init__(self, url, token):
        self.url, self.token, self.session = url, token, None
        self.send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "checks", "version": "1"}})
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, message):
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Authorization": f"Bearer {self.token}"}
        if self.session:
            headers |= {"Mcp-Session-Id": self.session, "Mcp-Protocol-Version": "2025-06-18"}
        request = urllib.request.Request(f"{self.url}/mcp", json.dumps(message).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            self.session = answer.headers.get("Mcp-Session-Id") or self.session
            return answer.read()

    def send(self, method, params):
        answer = json.loads(self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def call(self, tool, arguments):
        result = self.send("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result["structuredContent"]

    def new_campaign(self, name):
        """A campaign's id and its number."""
        campaign_id = self.call("campaign_create", {"name": name, "gm_mode": "HUMAN"})["id"]
        headers = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{self.url}/api/kanka/1.0/campaigns/{campaign_id}", headers=headers)
        with urllib.request.urlopen(request) as answer:
            return campaign_id, json.load(answer)["data"]["id"]

    def get(self, campaign_id, entity_id):
        arguments = {"campaign_id": campaign_id, "entity_ids": [entity_id], "include_posts": True}
        return self.call("get_entities", arguments)["results"][0]

    def create(self, campaign_id, entities):
        results = self.call("create_entities", {"campaign_id": campaign_id, "entities": entities})["results"]
        return [result["entity_id"] for result in results]


def connect(base_url):
    return Skald(base_url, os.environ["SKALD_TOKEN"])
