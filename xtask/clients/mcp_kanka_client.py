"""Drives the Kanka-compatible API with the mcp-kanka that PyPI has, unmodified, over its own stdio.

usage: SKALD_TOKEN=… KANKA_BASE_URL=URL/api/kanka/1.0 PYTHONPATH=FOLDER mcp_kanka_client.py URL
"""

import ast
import os
import sys
from pathlib import Path

import anyio
from kanka_checks import MANY, TYPES, Checks, connect
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ENTRY = "Says **hello** to [entity:1|her].\n\n- one\n- two"


class McpKanka:
    """The tools of mcp-kanka. It answers in Python's notation."""

    def __init__(self, session):
        self.session = session

    async def call(self, tool, **arguments):
        result = await self.session.call_tool(tool, arguments)
        [block] = result.content
        if result.isError or block.text.startswith("Error"):
            raise RuntimeError(f"{tool}: {block.text}")
        return ast.literal_eval(block.text)

    async def find(self, **arguments):
        return (await self.call("find_entities", **arguments))["entities"]


async def drive_type(check, kanka, skald, campaign_id, entity_type):
    """One type from its creation to its end."""
    fields = {"entity_type": entity_type, "type": "Old", "entry": ENTRY, "tags": ["Elf", "North"], "is_hidden": True}
    names = [f"First {entity_type}", f"Other {entity_type}"]
    results = await kanka.call("create_entities", entities=[fields | {"name": name} for name in names])
    check.equal(f"{entity_type}: created", [result["success"] for result in results], [True, True])
    first, other = (result["entity_id"] for result in results)
    there = skald.get(campaign_id, first)
    check.equal(
        f"{entity_type}: over MCP",
        (there["entity_type"], there["name"], there["type"], sorted(there["tags"]), there["is_private"], there["id"]),
        (entity_type, names[0], "Old", ["Elf", "North"], True, results[0]["id"]),
    )
    check.true(f"{entity_type}: the text over MCP", "Says **hello** to [entity:1|her]." in there["entry"])

    found = await kanka.find(entity_type=entity_type)
    check.equal(f"{entity_type}: found", [one["name"] for one in found], names)
    check.equal(f"{entity_type}: its entry", found[0]["entry"], ENTRY)
    check.equal(f"{entity_type}: its tags", sorted(found[0]["tags"]), ["Elf", "North"])
    for filters in [{"name": "first"}, {"name": f"Frist {entity_type}", "name_fuzzy": True}, {"query": f"first {entity_type}"}]:
        found = await kanka.find(entity_type=entity_type, **filters)
        check.true(f"{entity_type}: {filters}", first in [one["entity_id"] for one in found])
    check.equal(f"{entity_type}: by type and tags", len(await kanka.find(entity_type=entity_type, type="old", tags=["elf", "north"])), 2)

    [result] = await kanka.call("update_entities", updates=[{"entity_id": first, "name": f"Second {entity_type}", "tags": ["South"], "is_hidden": False}])
    check.equal(f"{entity_type}: updated", (result["success"], result["error"]), (True, None))
    there = skald.get(campaign_id, first)
    check.equal(f"{entity_type}: updated over MCP", (there["name"], there["tags"], there["is_private"]), (f"Second {entity_type}", ["South"], False))
    check.true(f"{entity_type}: the text stays", "Says **hello** to [entity:1|her]." in there["entry"])

    [result] = await kanka.call("create_posts", posts=[{"entity_id": first, "name": "Secret", "entry": "A **secret**", "is_hidden": True}])
    post = result["post_id"]
    check.equal(f"{entity_type}: post over MCP", [(one["name"], one["entry"], one["is_private"]) for one in skald.get(campaign_id, first)["posts"]], [("Secret", "A **secret**", True)])
    await kanka.call("update_posts", updates=[{"entity_id": first, "post_id": post, "name": "Open", "is_hidden": False}])
    [got] = await kanka.call("get_entities", entity_ids=[first], include_posts=True)
    check.equal(f"{entity_type}: posts", [(one["name"], one["entry"], one["is_hidden"]) for one in got["posts"]], [("Open", "A **secret**", False)])
    await kanka.call("delete_posts", deletions=[{"entity_id": first, "post_id": post}])
    check.equal(f"{entity_type}: no posts", skald.get(campaign_id, first)["posts"], [])

    [made] = skald.create(campaign_id, [{"entity_type": entity_type, "name": f"Made {entity_type}", "entry": "**bold** text", "tags": ["Elf"], "is_private": False}])
    [got] = await kanka.call("get_entities", entity_ids=[made])
    check.equal(f"{entity_type}: made over MCP", (got["name"], got["entry"], got["tags"], got["is_hidden"]), (f"Made {entity_type}", "**bold** text", ["Elf"], False))

    results = await kanka.call("delete_entities", entity_ids=[first, other])
    check.equal(f"{entity_type}: deleted", [result["success"] for result in results], [True, True])
    check.equal(f"{entity_type}: left", [one["entity_id"] for one in await kanka.find(entity_type=entity_type)], [made])
    check.true(f"{entity_type}: deleted over MCP", not skald.get(campaign_id, first)["success"])
    [got] = await kanka.call("get_entities", entity_ids=[first])
    check.equal(f"{entity_type}: a deleted one", got["success"], False)


async def drive_pages(check, kanka, skald, campaign_id):
    """More rows than a page of the API has."""
    names = [f"Name {number:03}" for number in range(MANY)]
    skald.create(campaign_id, [{"entity_type": "race", "name": name} for name in names])
    found = await kanka.find(entity_type="race", name="Name", limit=0)
    check.equal("all pages", [one["name"] for one in found], names)
    found = await kanka.find(entity_type="race", name="Name", page=4, limit=25)
    check.equal("the last page", [one["name"] for one in found], names[75:])


async def connected(check):
    url = sys.argv[1]
    skald = connect(url)
    campaign_id, number = skald.new_campaign("Driven by mcp-kanka")
    variables = {"KANKA_TOKEN": os.environ["SKALD_TOKEN"], "KANKA_CAMPAIGN_ID": str(number), "MCP_LOG_LEVEL": "ERROR"}
    passed_on = {name: os.environ[name] for name in ["KANKA_BASE_URL", "PYTHONPATH", "PATH"]}
    program = StdioServerParameters(command=str(Path(sys.executable).parent / "mcp-kanka"), env=variables | passed_on)
    async with stdio_client(program) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        kanka = McpKanka(session)
        for entity_type in TYPES:
            await drive_type(check, kanka, skald, campaign_id, entity_type)
        await drive_pages(check, kanka, skald, campaign_id)


def drive(check):
    anyio.run(connected, check)


if __name__ == "__main__":
    Checks().run(drive)
