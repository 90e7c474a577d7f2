"""A server written with the official Python SDK. It prints its URL."""

import logging
import socket
from typing import Annotated

import mcp_types as types
import uvicorn
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.extension import Extension
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from pydantic import BaseModel


class Streaming(Extension):
    """Parley's streaming extension."""

    identifier = "io.github.mcp-parley/streaming"


class Part(types.Notification):
    """A part of what a call streams."""

    method: str = f"notifications/{Streaming.identifier}/part"
    params: dict


server = MCPServer("python-sdk", version="1.0.0", extensions=[Streaming()])


class Name(BaseModel):
    name: str


class Age(BaseModel):
    age: int


def ask_for_name() -> Elicit[Name]:
    return Elicit("Your name?", Name)


def first_name() -> Elicit[Name]:
    return Elicit("Name?", Name)


def age_of(name: Annotated[Name, Resolve(first_name)]) -> Elicit[Age]:
    return Elicit("Age?", Age)


def ask_for_place() -> Sample:
    content = types.TextContent(type="text", text="Name a place")
    return Sample([types.SamplingMessage(role="user", content=content)], max_tokens=50)


def ask_for_roots() -> ListRoots:
    return ListRoots()


@server.tool(structured_output=False)
def greet(name: str) -> str:
    return f"Hello, {name}!"


@server.tool(structured_output=False)
def ask_name(answer: Annotated[ElicitationResult[Name], Resolve(ask_for_name)]) -> str:
    said = answer.data.name if isinstance(answer, AcceptedElicitation) else answer.action
    return f"Hello, {said}!"


@server.tool(structured_output=False)
def wizard(
    name: Annotated[Name, Resolve(first_name)], age: Annotated[Age, Resolve(age_of)]
) -> str:
    return f"{name.name} is {age.age}"


@server.tool(structured_output=False)
def together(
    name: Annotated[Name, Resolve(ask_for_name)],
    place: Annotated[types.CreateMessageResult, Resolve(ask_for_place)],
) -> str:
    return f"{name.name} in {place.content.text}"


@server.tool(structured_output=False)
def where(roots: Annotated[types.ListRootsResult, Resolve(ask_for_roots)]) -> str:
    return str(roots.roots[0].uri)


@server.tool(structured_output=False)
async def sign_in(ctx: Context) -> types.CallToolResult | types.InputRequiredResult:
    done = types.CallToolResult(content=[types.TextContent(type="text", text="signed in")])
    if ctx.request_context.protocol_version < "2026-07-28":
        await ctx.elicit_url("Sign in", "https://example.com/in", "sign-in")
        return done
    if "page" in (ctx.input_responses or {}):
        return done
    page = types.ElicitRequestURLParams(message="Sign in", url="https://example.com/in")
    return types.InputRequiredResult(input_requests={"page": types.ElicitRequest(params=page)})


@server.tool(structured_output=False)
async def count(ctx: Context) -> str:
    await ctx.report_progress(1, 2)
    await ctx.report_progress(2, 2)
    return "counted"


@server.tool(structured_output=False)
async def write(ctx: Context) -> str:
    asked = (ctx.request_context.meta or {}).get(Streaming.identifier)
    for text in ["Dear", " ", "Ada"] if asked else []:
        content = [{"type": "text", "text": text}]
        params = {"token": asked["token"], "block": "letter", "content": content}
        await ctx.request_context.session.send_notification(
            Part(params=params), related_request_id=ctx.request_context.request_id
        )
    return "Dear Ada"


def form(message: str, field: str) -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


@server.prompt()
def letter(tone: str, ctx: Context) -> str | types.InputRequiredResult:
    answer = (ctx.input_responses or {}).get("to")
    if answer is None:
        return types.InputRequiredResult(input_requests={"to": form("To whom?", "to")})
    return f"Write a {tone} letter to {answer.content['to']}."


@server.resource("diary://{day}")
def diary(day: str, ctx: Context) -> str | types.InputRequiredResult:
    answer = (ctx.input_responses or {}).get("mood")
    if answer is None:
        return types.InputRequiredResult(input_requests={"mood": form("Which mood?", "mood")})
    return f"a {answer.content['mood']} day"


logging.disable(logging.CRITICAL)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
config = uvicorn.Config(server.streamable_http_app(), log_level="error")
uvicorn.Server(config).run([listener])
