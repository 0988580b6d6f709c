"""Measures the searches of mcp-kanka over the Kanka-compatible API, and skald's own on the same entities, in turns.

Both are asked over stdio, line by line, so that no client's own work is measured. Prints a name and a number on each line.

usage: SKALD_TOKEN=… SKALD_STORE=… KANKA_BASE_URL=… PYTHONPATH=FOLDER mcp_kanka_bench.py URL SKALD ROUNDS
"""

import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from kanka_checks import connect

ENTITIES = 2000
TAGS = 60
WORDS = "river stone lantern grey harbour oath winter crown ember salt raven bell tide iron moon road ash vale storm".split()
SEARCHES = {
    "type": {"entity_type": "character", "type": "NPC"},
    "two_tags": {"entity_type": "character", "tags": ["Tag 1", "Tag 31"]},
    "name_part": {"entity_type": "character", "name": "name 0777"},
    "fuzzy_name": {"entity_type": "character", "name": "Aylysh", "name_fuzzy": True},
    "word": {"entity_type": "character", "query": "zephyr"},
    "names_only": {"entity_type": "character", "name": "name 0777", "include_full": False},
}


class StdioServer:
    """An MCP server on its standard input and output."""

    def __init__(self, command, variables):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | variables, text=True)
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.write({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("the server ended")
            if '"id":1' in line.replace(" ", ""):
                return json.loads(line)["result"]

    def find_milliseconds(self, arguments):
        """How long a search takes, and how many entities its answer names."""
        began = time.perf_counter()
        result = self.ask("tools/call", {"name": "find_entities", "arguments": arguments})
        took = (time.perf_counter() - began) * 1000
        text = result["content"][0]["text"]
        return took, text.count("'entity_id'") + text.count('"entity_id"')


def make_entities(skald, campaign_id):
    chance = random.Random(7)
    for begin in range(0, ENTITIES, 100):
        entities = []
        for number in range(begin, begin + 100):
            text = " ".join(chance.choices(WORDS, k=180))
            entities.append({
                "entity_type": "character",
                "name": "Aelysh" if number == 1234 else f"Name {number:04}",
                "type": "NPC" if number % 3 else "Hero",
                "entry": f"# Name\n\n{text[:500]}\n\n- {text[500:700]}\n- {'zephyr' if number % 250 == 0 else 'calm'}\n\n{text[700:1050]}",
                "tags": [f"Tag {number % TAGS}", f"Tag {(number + 30) % TAGS}"],
            })
        skald.create(campaign_id, entities)


def main():
    url, program, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    skald = connect(url)
    campaign_id, number = skald.new_campaign("Two thousand")
    make_entities(skald, campaign_id)
    kanka_variables = {"KANKA_TOKEN": os.environ["SKALD_TOKEN"], "KANKA_CAMPAIGN_ID": str(number), "MCP_LOG_LEVEL": "ERROR"}
    kanka = StdioServer([str(Path(sys.executable).parent / "mcp-kanka")], kanka_variables)
    ours = StdioServer([program, "mcp"], {"PYTHONPATH": ""})
    # The first search fills mcp-kanka's cache of tags, and opens the lore here.
    kanka.find_milliseconds(SEARCHES["type"])
    ours.find_milliseconds(SEARCHES["type"] | {"campaign_id": campaign_id})
    for name, arguments in SEARCHES.items():
        theirs, skalds = [], []
        for _ in range(rounds):
            took, their_count = kanka.find_milliseconds(arguments)
            theirs.append(took)
            for _ in range(10):
                took, count = ours.find_milliseconds(arguments | {"campaign_id": campaign_id})
                skalds.append(took)
            if count != their_count:
                raise RuntimeError(f"{name}: skald finds {count}, mcp-kanka {their_count}")
        print(f"kanka_{name}_ms {statistics.median(theirs):.3f}")
        print(f"skald_{name}_ms {statistics.median(skalds):.4f}")
    for server in (kanka, ours):
        server.process.stdin.close()
        server.process.terminate()


if __name__ == "__main__":
    main()
