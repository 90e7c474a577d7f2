"""A client written with the official Python SDK.

Its first argument is the URL of a server, its second an errand in JSON. It prints the outcome in JSON.
"""

import asyncio
import json
import sys

import mcp_types as types
from mcp.client.client import Client
from mcp.client.extension import ClientExtension, NotificationBinding
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel


class Part(BaseModel):
    """A part of what a call streams."""

    op: str = "append"
    content: list[dict] = []


class Streaming(ClientExtension):
    """Parley's streaming extension. It keeps the text that the parts make."""

    identifier = "io.github.mcp-parley/streaming"
    text = ""

    def notifications(self):
        method = f"notifications/{self.identifier}/part"
        return [NotificationBinding(method=method, params_type=Part, handler=self.add)]

    async def add(self, part: Part) -> None:
        said = "".join(block["text"] for block in part.content)
        self.text = self.text + said if part.op == "append" else said

    async def until(self, text: str) -> str:
        """Parts may be handled after the result."""
        for _ in range(500):
            if self.text == text:
                break
            await asyncio.sleep(0.01)
        return self.text


async def run(url: str, errand: dict) -> dict:
    if errand.get("task") in ("listen", "cancel"):
        return {"text": "", "absent": "tasks"}
    heard: list[float] = []

    async def elicit(_, params):
        answer = errand["answers"][params.message]
        return types.ElicitResult(action=answer["action"], content=answer.get("content"))

    async def sample(_, params):
        text = f"{params.messages[0].content.text}, said the model"
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(type="text", text=text),
            model="interop",
            stop_reason="endTurn",
        )

    async def roots(_):
        return types.ListRootsResult(roots=[types.Root(uri="file:///home/ada", name="home")])

    async def progress(done, _total, _message):
        heard.append(done)

    streaming = Streaming()
    # The SDK declares no extension in 2025-11-25.
    streams = errand.get("stream", False) and errand["era"] == "2026-07-28"
    client = Client(
        url,
        mode="legacy" if errand["era"] == "2025-11-25" else errand["era"],
        client_info=types.Implementation(name="python-sdk", version="1.0.0"),
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=roots,
        extensions=[streaming] if streams else None,
    )
    async with client:
        if "prompt" in errand:
            got = await client.get_prompt(errand["prompt"], errand.get("arguments"))
            return {"text": got.messages[0].content.text}
        if "resource" in errand:
            read = await client.read_resource(errand["resource"])
            return {"text": read.contents[0].text}
        wants = "progress" in errand
        result = await client.call_tool(
            errand["tool"],
            errand.get("arguments", {}),
            progress_callback=progress if wants else None,
            meta={streaming.identifier: {"token": "s-1"}} if streams else None,
        )
        told = {"text": "\n".join(block.text for block in result.content)}
        if result.is_error:
            told["isError"] = True
        if wants:
            told["progress"] = heard[-1] if heard else 0
        if streams:
            told["streamed"] = await streaming.until(told["text"])
        return told


def innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


try:
    outcome = asyncio.run(run(sys.argv[1], json.loads(sys.argv[2])))
except BaseException as thrown:
    error = innermost(thrown)
    if isinstance(error, MCPError):
        outcome = {"text": "", "error": {"code": error.error.code, "message": error.error.message}}
    else:
        outcome = {"text": "", "error": {"message": f"{type(error).__name__}: {error}"}}
print(json.dumps(outcome, ensure_ascii=False))
