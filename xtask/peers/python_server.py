"""Benchmark peer: one duality tool on the Python SDK 2.x (MCPServer) and uvicorn.

usage: python_server.py session|stateless PORT
`session` keeps Mcp-Session-Id sessions and streams SSE; `stateless` has none and answers JSON.
"""

import logging
import sys
from typing import Annotated

import uvicorn
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

Die = Annotated[int, Field(ge=1, le=12)]


class Outcome(BaseModel):
    hope: Die
    fear: Die
    modifier: int
    difficulty: int | None
    total: int
    is_crit: bool
    meets_difficulty: bool
    outcome: str


server = MCPServer("peer-python")


@server.tool()
def duality_outcome(
    hope: Die, fear: Die, modifier: int = 0, difficulty: Annotated[int, Field(ge=0)] | None = None
) -> Outcome:
    """The outcome of a duality roll with known dice."""
    total = hope + fear + modifier
    is_crit = hope == fear
    meets = difficulty is not None and (is_crit or total >= difficulty)
    kind = "ROLL" if difficulty is None else "SUCCESS" if meets else "FAILURE"
    return Outcome(
        hope=hope,
        fear=fear,
        modifier=modifier,
        difficulty=difficulty,
        total=total,
        is_crit=is_crit,
        meets_difficulty=meets,
        outcome="CRITICAL_SUCCESS" if is_crit else f"{kind}_WITH_{'HOPE' if hope > fear else 'FEAR'}",
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["session" | "stateless" as mode, port] if port.isdigit():
            stateless = mode == "stateless"
        case _:
            sys.exit(__doc__)
    logging.getLogger("mcp").setLevel(logging.WARNING)
    app = server.streamable_http_app(stateless_http=stateless, json_response=stateless)
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")
