"""Calls skald over gRPC with nothing but what its reflection tells, and looks at the same world as an MCP client.

usage: grpc_client.py ADDRESS BIN
"""

import asyncio
import importlib
import json
import sys
import tempfile
from pathlib import Path

import grpc
from google.protobuf import descriptor_pb2
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_status import rpc_status
from grpc_tools import protoc
from mcp import Client, StdioServerParameters

SERVICES = {
    "campaign.v1.CampaignService",
    "session.v1.SessionService",
    "duality.v1.DualityService",
    "skald.v1.Gateway",
}


class Tally:
    passed = failed = 0

    def compare(self, label, expected, got):
        if got == expected:
            self.passed += 1
            print(f"ok {label}")
        else:
            self.failed += 1
            print(f"FAILED {label}\n  expected {expected!r}\n  got      {got!r}")


def gather(database, name, files):
    """A file and all that it needs."""
    if name not in files:
        file = database.FindFileByName(name)
        for needed in file.dependency:
            gather(database, needed, files)
        files[name] = file


def generate(channel, services):
    """Stubs of the services, made by grpcio-tools from what reflection tells."""
    database = ProtoReflectionDescriptorDatabase(channel)
    files = {}
    for service in services:
        gather(database, database.FindFileContainingSymbol(service).name, files)
    folder = Path(tempfile.mkdtemp())
    described = folder / "described.bin"
    described.write_bytes(descriptor_pb2.FileDescriptorSet(file=files.values()).SerializeToString())
    names = [name for name in files if not name.startswith("google/")]
    options = [f"--descriptor_set_in={described}", f"--python_out={folder}", f"--grpc_python_out={folder}"]
    if protoc.main(["protoc", *options, *names]) != 0:
        raise RuntimeError("protoc does not understand what reflection tells")
    sys.path.insert(0, str(folder))


def load(name):
    return importlib.import_module(f"{name}_pb2"), importlib.import_module(f"{name}_pb2_grpc")


def refusal(call, *arguments, **options):
    """The status, the reason and whether there is a hint."""
    try:
        call(*arguments, **options)
    except grpc.RpcError as error:
        reason, hint = None, ""
        for detail in rpc_status.from_call(error).details:
            for kind in (error_details_pb2.ErrorInfo, error_details_pb2.LocalizedMessage):
                if detail.Is(kind.DESCRIPTOR):
                    found = kind()
                    detail.Unpack(found)
                    reason = getattr(found, "reason", reason)
                    hint = getattr(found, "message", hint)
        return error.code(), reason, bool(hint)
    return None


def programs(tally, channel):
    """What a program does; the campaign that it leaves behind."""
    listed = set(ProtoReflectionDescriptorDatabase(channel).get_services())
    expected = SERVICES | {"grpc.health.v1.Health"}
    tally.compare("reflection lists the services", expected, expected & listed)
    generate(channel, SERVICES)
    campaign_pb2, campaign_grpc = load("campaign.v1.campaign")
    session_pb2, session_grpc = load("session.v1.session")
    duality_pb2, duality_grpc = load("duality.v1.duality")
    gateway_pb2, gateway_grpc = load("skald.v1.gateway")

    health = health_pb2_grpc.HealthStub(channel)
    told = {health.Check(health_pb2.HealthCheckRequest(service=name)).status for name in SERVICES}
    tally.compare("every service is healthy", {health_pb2.HealthCheckResponse.SERVING}, told)

    campaigns = campaign_grpc.CampaignServiceStub(channel)
    created = campaigns.CreateCampaign(
        campaign_pb2.CreateCampaignRequest(name="Bells", gm_mode=campaign_pb2.HYBRID, theme_prompt="deep water")
    ).campaign
    tally.compare("a campaign is created", ("Bells", 3), (created.name, created.gm_mode))
    for number in range(23):
        campaigns.CreateParticipant(
            campaign_pb2.CreateParticipantRequest(
                campaign_id=created.id, display_name=f"P{number}", role=campaign_pb2.PLAYER
            )
        )
    names, sizes, token = [], [], ""
    while True:
        page = campaigns.ListParticipants(
            campaign_pb2.ListParticipantsRequest(campaign_id=created.id, page_size=50, page_token=token)
        )
        sizes.append(len(page.participants))
        names += [participant.display_name for participant in page.participants]
        token = page.next_page_token
        if not token:
            break
    tally.compare("participants come in pages", [10, 10, 3], sizes)
    tally.compare("each of them once, the newest first", [f"P{number}" for number in reversed(range(23))], names)

    gateway = gateway_grpc.GatewayStub(channel)
    uri = f"campaign://{created.id}/events"
    watched = gateway.Watch(gateway_pb2.WatchRequest(uris=[uri]), timeout=20)
    opening = next(watched)
    session = session_grpc.SessionServiceStub(channel).StartSession(
        session_pb2.StartSessionRequest(campaign_id=created.id, name="One")
    ).session
    tally.compare("a session is active", session_pb2.ACTIVE, session.status)
    news = next(watched)
    tally.compare("an event arrives", [uri], [change.resource for change in news.changes])
    watched.cancel()
    again = gateway.Watch(gateway_pb2.WatchRequest(uris=[uri], after=opening.place), timeout=20)
    next(again)
    missed = [change.resource for change in next(again).changes]
    tally.compare("and arrives again for whoever missed it", [uri], missed)
    again.cancel()
    question = json.dumps({"campaign_id": created.id, "types": ["session"]})
    listed = gateway.Call(gateway_pb2.CallRequest(operation="events_list", input=question))
    events = [event["event"]["type"] for event in json.loads(listed.answer)["events"]]
    tally.compare("the event is a session", ["session.started.v1"], events)

    duality = duality_grpc.DualityServiceStub(channel)
    judged = duality.DualityOutcome(duality_pb2.DualityOutcomeRequest(hope=8, fear=5, modifier=2, difficulty=15))
    tally.compare("dice are judged", (15, duality_pb2.SUCCESS_WITH_HOPE), (judged.total, judged.outcome))

    tally.compare(
        "an unknown id is not found",
        (grpc.StatusCode.NOT_FOUND, "NOT_FOUND", True),
        refusal(campaigns.GetCampaign, campaign_pb2.GetCampaignRequest(campaign_id="camp_nowhere")),
    )
    tally.compare(
        "a wrong token is nobody's",
        (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHORIZED", True),
        refusal(
            campaigns.ListCampaigns,
            campaign_pb2.ListCampaignsRequest(),
            metadata=[("authorization", "Bearer skald_nobody_nothing")],
        ),
    )
    tally.compare(
        "a second session is refused",
        (grpc.StatusCode.FAILED_PRECONDITION, "ACTIVE_SESSION_EXISTS", True),
        refusal(
            session_grpc.SessionServiceStub(channel).StartSession,
            session_pb2.StartSessionRequest(campaign_id=created.id),
        ),
    )
    tally.compare(
        "a campaign without a mode is refused",
        (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PARAMS", True),
        refusal(campaigns.CreateCampaign, campaign_pb2.CreateCampaignRequest(name="x")),
    )
    return created.id, names


async def at_the_table(tally, address, binary, campaign_id, names):
    """The same world, through a bridge."""
    bridge = StdioServerParameters(command=binary, args=["mcp", "--addr", address])
    async with Client(bridge, read_timeout_seconds=30) as client:
        arguments = {"campaign_id": campaign_id, "view": "participants"}
        read = await client.call_tool("campaign_read", arguments)
        seen = [participant["display_name"] for participant in read.structured_content["participants"]]
        tally.compare("an MCP client sees them through a bridge", names, seen)
        [page] = (await client.read_resource(f"campaign://{campaign_id}/sessions")).contents
        tally.compare("and the session", ["One"], [session["name"] for session in json.loads(page.text)["sessions"]])


def main(address, binary):
    tally = Tally()
    with grpc.insecure_channel(address) as channel:
        campaign_id, names = programs(tally, channel)
    asyncio.run(at_the_table(tally, address, binary, campaign_id, names))
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
