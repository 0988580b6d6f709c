"""Drives skald with the Python SDK 2.x, in each way it can settle on a protocol revision.

usage: python_client.py stdio BIN | http URL | bridge BIN ADDRESS
"""

import asyncio
import json
import logging
import sys

from mcp import Client, StdioServerParameters
from mcp.types import PromptReference

ROLL = {"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15}
OUTCOME = ROLL | {"total": 15, "is_crit": False, "meets_difficulty": True, "outcome": "SUCCESS_WITH_HOPE"}
COUNTS = {"crit_count": 12, "success_count": 84, "failure_count": 60, "total_outcomes": 144}
RULES = "dice://rules/duality"
ODDS = "dice://duality/odds/{modifier}/{difficulty}"
TOOLS = {
    "campaign_overview",
    "canon",
    "entity_compare",
    "entity_search",
    "relationships",
    "timeline",
    "visibility",
    "state_gate.create_run",
    "state_gate.emit_event",
    "state_gate.get_state",
    "state_gate.list_events",
    "state_gate.list_runs",
    "state_gate.run",
    "state_gate.submit_process",
    "duality_rules_version",
    "duality_action_roll",
    "duality_outcome",
    "duality_explain",
    "duality_probability",
    "odds",
    "roll",
    "group_roll",
    "roll_dice",
    "campaign_create",
    "participant_create",
    "actor_create",
    "actor_control_set",
    "tracker",
    "session_start",
    "set_context",
    "universe",
    "get_universe_state",
    "list_universe_commands",
    "send_universe_command",
    "session_note",
    "session_recap",
    "luck",
    "session_end",
    "campaign_read",
    "events_list",
    "campaign_update",
    "participant_update",
    "actor_update",
    "find_entities",
    "create_entities",
    "update_entities",
    "get_entities",
    "delete_entities",
    "create_posts",
    "update_posts",
    "delete_posts",
    "check_entity_updates",
    "lore_history",
    "kanka_mirror",
}

# How the client negotiates, and the revision that should come of it.
PASSES = {
    "default": ({}, "2026-07-28"),
    "legacy": ({"mode": "legacy"}, "2025-11-25"),
    "pinned": ({"mode": "2026-07-28"}, "2026-07-28"),
}


def counts(odds):
    return {key: odds.get(key) for key in COUNTS}


async def tools(client):
    return {tool.name for tool in (await client.list_tools()).tools}


async def outcome(client):
    result = await client.call_tool("duality_outcome", ROLL)
    return result.is_error, result.structured_content


async def outcome_text(client):
    return [json.loads(block.text) for block in (await client.call_tool("duality_outcome", ROLL)).content]


async def odds(client):
    arguments = {"modifier": 2, "difficulty": 15}
    return counts((await client.call_tool("duality_probability", arguments)).structured_content)


async def universe(client):
    made = await client.call_tool("universe", {"method": "create", "name": "Sol"})
    which = {"universeId": made.structured_content["universe"]["id"]}
    await client.call_tool("send_universe_command", which | {"command": {"type": "tick", "dt": 5}})
    whole = await client.call_tool("get_universe_state", which)
    part = await client.call_tool("get_universe_state", which | {"view": "summary"})
    return whole.structured_content["time"], json.loads(whole.content[0].text)["time"], part.structured_content["view"]


async def gate(client):
    made = await client.call_tool("state_gate.create_run", {"process_id": "exploration-process"})
    which = {"run_id": made.structured_content["run_id"]}
    plan = {"event_name": "submit_experiment_plan", "payload": {"plan": "Ask."}, "expected_revision": 1}
    evidence = {"artifacts": [{"path": "experiment_plan.md", "text": "Ask ten."}], "idempotency_key": "plan"}
    await client.call_tool("state_gate.emit_event", which | plan | evidence)
    early = {"event_name": "finish_observation", "expected_revision": 2, "idempotency_key": "early"}
    refused = await client.call_tool("state_gate.emit_event", which | early)
    state = await client.call_tool("state_gate.get_state", which)
    return refused.is_error, refused.structured_content["error"]["code"], state.structured_content["current_state"]


async def refusal(client):
    result = await client.call_tool("duality_outcome", {"hope": 13, "fear": 5})
    words, *details = (block.text for block in result.content)
    codes = [json.loads(text)["error"]["code"] for text in details]
    return result.is_error, words.startswith("INVALID_PARAMS") or words, codes, result.structured_content


async def resources(client):
    return {resource.uri: resource.mime_type for resource in (await client.list_resources()).resources}.get(RULES)


async def rules(client):
    [page] = (await client.read_resource(RULES)).contents
    return page.uri, page.mime_type, "Hope" in page.text or page.text


async def templates(client):
    listed = (await client.list_resource_templates()).resource_templates
    return {template.uri_template: template.mime_type for template in listed}.get(ODDS)


async def odds_resource(client):
    [page] = (await client.read_resource(ODDS.format(modifier=2, difficulty=15))).contents
    return page.mime_type, counts(json.loads(page.text))


async def prompts(client):
    listed = {prompt.name: prompt.arguments for prompt in (await client.list_prompts()).prompts}
    return {argument.name: bool(argument.required) for argument in listed["explain_odds"]}


async def prompt(client):
    result = await client.get_prompt("explain_odds", {"modifier": "2", "difficulty": "15"})
    text = "\n".join(message.content.text for message in result.messages)
    return "84" in text or text


async def completion(client):
    reference = PromptReference(name="explain_odds")
    return (await client.complete(reference, {"name": "outcome", "value": "CRIT"})).completion.values


CHECKS = [
    ("tools/list names the tools", tools, TOOLS),
    ("tools/call answers structured content", outcome, (False, OUTCOME)),
    ("tools/call repeats it as JSON text", outcome_text, [OUTCOME]),
    ("tools/call counts the odds", odds, COUNTS),
    ("a universe is created, changed, and read whole and in part", universe, (5, 5, "summary")),
    ("a run refuses without evidence and moves with it", gate, (False, "GUARD_FAILED", "observe")),
    ("a refusal is a readable tool error", refusal, (True, True, ["INVALID_PARAMS"], None)),
    ("resources/list names the rules", resources, "text/markdown"),
    ("resources/read gives the rules", rules, (RULES, "text/markdown", True)),
    ("resources/templates/list names the odds", templates, "application/json"),
    ("resources/read goes through the template", odds_resource, ("application/json", COUNTS)),
    ("prompts/list names the prompt and its arguments", prompts, {"modifier": False, "difficulty": True, "outcome": False}),
    ("prompts/get fills the prompt", prompt, True),
    ("completion/complete finishes an outcome", completion, ["CRITICAL_SUCCESS"]),
]


class LogRecords(logging.Handler):
    """Warnings and errors that the SDK logs."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []
        logging.getLogger().addHandler(self)

    def emit(self, record):
        self.texts.append(f"{record.levelname} {record.name}: {record.getMessage()}")


class Tally:
    passed = failed = 0

    def compare(self, label, expected, got):
        if got == expected:
            self.passed += 1
            print(f"ok {label}")
        else:
            self.failed += 1
            print(f"FAILED {label}\n  expected {expected!r}\n  got      {got!r}")


async def main(server):
    tally, records = Tally(), LogRecords()
    for name, (options, version) in PASSES.items():
        try:
            async with Client(server, read_timeout_seconds=30, **options) as client:
                tally.compare(f"{name}: connects with {version}", version, client.protocol_version)
                for label, get, expected in CHECKS:
                    try:
                        got = await get(client)
                    except Exception as error:
                        got = error
                    tally.compare(f"{name}: {label}", expected, got)
        except Exception as error:
            tally.compare(f"{name}: connects and closes", "no exception", error)
    tally.compare("the SDK logs no warning and no error", [], records.texts)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["stdio", binary]:
            target = StdioServerParameters(command=binary, args=["mcp", "--store", "memory"])
        case ["http", url]:
            target = url
        case ["bridge", binary, address]:
            target = StdioServerParameters(command=binary, args=["mcp", "--addr", address])
        case _:
            sys.exit(__doc__)
    sys.exit(asyncio.run(main(target)))
