"""Drives skald with a Python SDK 1.x, which knows the initialize era only, and fails if the SDK reports anything.

usage: python1_client.py REVISION stdio BIN | http URL
"""

import json
import logging
import sys
from collections import Counter
from datetime import timedelta

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl

ROLL = {"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15}
OUTCOME = ROLL | {"total": 15, "is_crit": False, "meets_difficulty": True, "outcome": "SUCCESS_WITH_HOPE"}
RULES = "dice://rules/duality"
# How long an answer or a notification may take.
DEADLINE_SECONDS = 30


class Reports(logging.Handler):
    """What the SDK reports, in the log or to the handler of messages, and how often."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()
        self.stream_is_open = anyio.Event()
        # The SDK logs to its own loggers and to the root logger, and mentions the GET stream only at the level debug.
        logging.getLogger().addHandler(self)
        logging.getLogger("mcp").setLevel(logging.DEBUG)

    def emit(self, record):
        message = record.getMessage()
        if message == "GET SSE connection established":
            self.stream_is_open.set()
        elif record.levelno >= logging.WARNING or message.startswith("GET stream error"):
            self.counts[f"{record.levelname} {record.name}: {message}"] += 1

    def errors(self):
        return [f"{count} x {text}" for text, count in self.counts.items()]


class Link:
    """A connected session, and the notifications that it was sent."""

    def __init__(self, reports):
        self.reports = reports
        self.session = None
        self.notified, self.notifications = anyio.create_memory_object_stream(max_buffer_size=1000)

    async def take(self, message):
        if isinstance(message, Exception):
            self.reports.counts[f"to the message handler: {message!r}"] += 1
        else:
            await self.notified.send(message.root)

    async def call(self, name, arguments):
        result = await self.session.call_tool(name, arguments)
        return result.isError, [block.text for block in result.content]

    async def value(self, name, arguments):
        is_error, [text] = await self.call(name, arguments)
        return text if is_error else json.loads(text)

    async def updated(self, uri):
        with anyio.fail_after(DEADLINE_SECONDS):
            async for notification in self.notifications:
                if notification.method == "notifications/resources/updated" and str(notification.params.uri) == uri:
                    return notification.method


async def tools(link):
    names = {tool.name for tool in (await link.session.list_tools()).tools}
    return {"duality_outcome", "campaign_create", "campaign_update"} - names


async def outcome(link):
    return await link.value("duality_outcome", ROLL)


async def refusal(link):
    is_error, [words, *_] = await link.call("duality_outcome", {"hope": 13, "fear": 5})
    return is_error, words.split()[0].rstrip(":")


async def rules(link):
    [page] = (await link.session.read_resource(AnyUrl(RULES))).contents
    return page.mimeType, "Hope" in page.text or page.text


async def prompts(link):
    return "explain_odds" in {prompt.name for prompt in (await link.session.list_prompts()).prompts}


async def prompt(link):
    result = await link.session.get_prompt("explain_odds", {"modifier": "2", "difficulty": "15"})
    text = "\n".join(message.content.text for message in result.messages)
    return "84" in text or text


async def notification(link):
    made = await link.value("campaign_create", {"name": "The Drowned Bell", "gm_mode": "HUMAN"})
    uri = f"campaign://{made['id']}"
    await link.session.subscribe_resource(AnyUrl(uri))
    await link.call("campaign_update", {"campaign_id": made["id"], "name": "The Salt Road"})
    told = await link.updated(uri)
    [page] = (await link.session.read_resource(AnyUrl(uri))).contents
    return told, "The Salt Road" in page.text or page.text


async def many(link):
    faces = {}

    async def one(hope):
        faces[hope] = (await link.value("duality_outcome", ROLL | {"hope": hope}))["hope"]

    async with anyio.create_task_group() as group:
        for hope in range(1, 13):
            group.start_soon(one, hope)
    return [faces[hope] for hope in range(1, 13)]


CHECKS = [
    ("tools/list names the tools", tools, set()),
    ("tools/call answers", outcome, OUTCOME),
    ("a refusal is a readable tool error", refusal, (True, "INVALID_PARAMS")),
    ("resources/read gives the rules", rules, ("text/markdown", True)),
    ("prompts/list names the prompt", prompts, True),
    ("prompts/get fills the prompt", prompt, True),
    ("a subscriber is told of a change", notification, ("notifications/resources/updated", True)),
    ("calls at once are answered each with its own", many, list(range(1, 13))),
]


class Tally:
    passed = failed = 0

    def compare(self, label, expected, got):
        if got == expected:
            self.passed += 1
            print(f"ok {label}")
        else:
            self.failed += 1
            print(f"FAILED {label}\n  expected {expected!r}\n  got      {got!r}")


async def check(tally, link, label, get, expected):
    try:
        got = await get(link)
    except Exception as error:
        got = error
    tally.compare(label, expected, got)


async def converse(tally, link, revision, streams, has_stream):
    timeout = timedelta(seconds=DEADLINE_SECONDS)
    async with ClientSession(*streams, read_timeout_seconds=timeout, message_handler=link.take) as link.session:
        agreed = (await link.session.initialize()).protocolVersion
        tally.compare(f"connects with {revision}", revision, agreed)
        if has_stream:
            with anyio.move_on_after(DEADLINE_SECONDS):
                await link.reports.stream_is_open.wait()
            tally.compare("the GET stream opens", True, link.reports.stream_is_open.is_set())
        for label, get, expected in CHECKS:
            await check(tally, link, label, get, expected)


async def main(revision, kind, address):
    tally, link = Tally(), Link(Reports())
    try:
        if kind == "http":
            async with streamablehttp_client(address) as (read, write, _):
                await converse(tally, link, revision, (read, write), has_stream=True)
        else:
            server = StdioServerParameters(command=address, args=["mcp", "--store", "memory"])
            async with stdio_client(server) as streams:
                await converse(tally, link, revision, streams, has_stream=False)
    except Exception as error:
        tally.compare("connects and closes", "no exception", error)
    tally.compare("the SDK reports no error", [], link.reports.errors())
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[2] not in ("stdio", "http"):
        sys.exit(__doc__)
    sys.exit(anyio.run(main, *sys.argv[1:]))
