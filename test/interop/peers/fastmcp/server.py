"""A server written with FastMCP and its tasks. It prints its URL."""

import asyncio
import json
import logging
import socket
from datetime import timedelta

import mcp_types as types
import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.server.extensions import ServerExtension
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from pydantic import BaseModel


class Streaming(ServerExtension):
    """Parley's streaming extension."""

    identifier = "io.github.mcp-parley/streaming"


class Part(types.Notification):
    """A part of what a call streams."""

    method: str = f"notifications/{Streaming.identifier}/part"
    params: dict


logging.disable(logging.CRITICAL)
server = FastMCP("fastmcp", version="1.0.0")
server.add_extension(TasksExtension())
server.add_extension(Streaming())
in_background = TaskConfig(mode="required", poll_interval=timedelta(milliseconds=50))


class Name(BaseModel):
    name: str


class Age(BaseModel):
    age: int


def form(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def asks(state: str | None = None, **requests) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def answer(ctx: Context, key: str):
    return (ctx.input_responses or {}).get(key)


def is_legacy(ctx: Context) -> bool:
    return ctx.request_context.protocol_version < "2026-07-28"


@server.tool(output_schema=None)
def greet(name: str) -> str:
    return f"Hello, {name}!"


@server.tool(output_schema=None)
async def ask_name(ctx: Context) -> str | types.InputRequiredResult:
    if is_legacy(ctx):
        return f"Hello, {(await ctx.elicit('Your name?', Name)).data.name}!"
    name = answer(ctx, "name")
    if name is None:
        return asks(name=form("Your name?", "name"))
    return f"Hello, {name.content['name'] if name.action == 'accept' else name.action}!"


@server.tool(output_schema=None)
async def wizard(ctx: Context) -> str | types.InputRequiredResult:
    if is_legacy(ctx):
        name = (await ctx.elicit("Name?", Name)).data.name
        return f"{name} is {(await ctx.elicit('Age?', Age)).data.age}"
    name, age = answer(ctx, "name"), answer(ctx, "age")
    if name is not None:
        return asks(
            state=json.dumps({"name": name.content["name"]}), age=form("Age?", "age", "integer")
        )
    if age is None:
        return asks(name=form("Name?", "name"))
    return f"{json.loads(ctx.request_state)['name']} is {age.content['age']}"


@server.tool(output_schema=None)
async def together(ctx: Context) -> str | types.InputRequiredResult:
    name, place = answer(ctx, "name"), answer(ctx, "place")
    if name is not None and place is not None:
        return f"{name.content['name']} in {place.content.text}"
    message = types.SamplingMessage(
        role="user", content=types.TextContent(type="text", text="Name a place")
    )
    sampling = types.CreateMessageRequestParams(messages=[message], max_tokens=50)
    return asks(name=form("Your name?", "name"), place=types.CreateMessageRequest(params=sampling))


@server.tool(output_schema=None)
async def where(ctx: Context) -> str | types.InputRequiredResult:
    roots = answer(ctx, "roots")
    return asks(roots=types.ListRootsRequest()) if roots is None else str(roots.roots[0].uri)


@server.tool(output_schema=None)
async def sign_in(ctx: Context) -> str | types.InputRequiredResult:
    if is_legacy(ctx):
        await ctx.session.elicit_url("Sign in", "https://example.com/in", "sign-in")
        return "signed in"
    if answer(ctx, "page") is not None:
        return "signed in"
    page = types.ElicitRequestURLParams(message="Sign in", url="https://example.com/in")
    return asks(page=types.ElicitRequest(params=page))


@server.tool(output_schema=None)
async def count(ctx: Context) -> str:
    await ctx.report_progress(1, 2)
    await ctx.report_progress(2, 2)
    return "counted"


@server.tool(output_schema=None)
async def write(ctx: Context) -> str:
    asked = (ctx.request_context.meta or {}).get(Streaming.identifier)
    for text in ["Dear", " ", "Ada"] if asked else []:
        content = [{"type": "text", "text": text}]
        params = {"token": asked["token"], "block": "letter", "content": content}
        await ctx.request_context.session.send_notification(
            Part(params=params), related_request_id=ctx.request_context.request_id
        )
    return "Dear Ada"


@server.tool(task=in_background, output_schema=None)
async def slow_compute(seconds: float, label: str = "it") -> str:
    await asyncio.sleep(seconds)
    return f"{label} took {seconds} s"


@server.tool(task=in_background, output_schema=None)
async def confirm_delete(filename: str, ctx: Context) -> str | types.InputRequiredResult:
    confirmed = answer(ctx, "confirm")
    if confirmed is None:
        return asks(confirm=form(f"Delete {filename}?", "confirm", "boolean"))
    return f"{filename} is {'deleted' if confirmed.content['confirm'] else 'kept'}."


@server.tool(task=in_background, output_schema=None)
async def test_tool_with_task(ctx: Context) -> str | types.InputRequiredResult:
    name = answer(ctx, "user_name")
    if name is None:
        return asks(user_name=form("What is your name?", "name"))
    return f"Hello, {name.content['name']}, from the background."


@server.prompt()
async def letter(tone: str, ctx: Context) -> str | types.InputRequiredResult:
    to = answer(ctx, "to")
    if to is None:
        return asks(to=form("To whom?", "to"))
    return f"Write a {tone} letter to {to.content['to']}."


@server.resource("diary://today")
async def today(ctx: Context) -> str | types.InputRequiredResult:
    mood = answer(ctx, "mood")
    if mood is None:
        return asks(mood=form("Which mood?", "mood"))
    return f"a {mood.content['mood']} day"


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
config = uvicorn.Config(server.http_app(), log_level="critical")
uvicorn.Server(config).run([listener])
