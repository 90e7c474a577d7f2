"""A client written with FastMCP and its tasks.

Its first argument is the URL of a server, its second an errand in JSON. It prints the outcome in JSON.
"""

import asyncio
import json
import sys

import mcp_types as types
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from mcp.client.extension import ClientExtension, NotificationBinding
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

errand = json.loads(sys.argv[2])
if errand.get("task"):
    # Importing it is what declares the extension.
    from fastmcp_tasks import call_tool_task


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


async def run(url: str) -> dict:
    if errand.get("task") == "listen":
        return {"text": "", "absent": "push"}
    heard: list[float] = []

    async def elicit(message, _type, _params, _context):
        answer = errand["answers"][message]
        return ElicitResult(action=answer["action"], content=answer.get("content"))

    async def sample(messages, _params, _context):
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(
                type="text", text=f"{messages[0].content.text}, said the model"
            ),
            model="interop",
            stop_reason="endTurn",
        )

    async def progress(done, _total, _message):
        heard.append(done)

    streaming = Streaming()
    # The SDK declares no extension in 2025-11-25.
    streams = errand.get("stream", False) and errand["era"] == "2026-07-28"
    client = Client(
        url,
        mode="legacy" if errand["era"] == "2025-11-25" else errand["era"],
        client_info=types.Implementation(name="fastmcp", version="1.0.0"),
        elicitation_handler=elicit,
        sampling_handler=sample,
        roots=[types.Root(uri="file:///home/ada", name="home")],
        extensions=[streaming] if streams else None,
    )
    async with client:
        if "prompt" in errand:
            got = await client.get_prompt(errand["prompt"], errand.get("arguments"))
            return {"text": got.messages[0].content.text}
        if "resource" in errand:
            read = await client.read_resource(errand["resource"])
            return {"text": read[0].text}
        args = errand.get("arguments", {})
        if errand.get("task") == "cancel":
            task = await call_tool_task(client, errand["tool"], args)
            await task.cancel()
            ended = await task.wait()
            return {"text": ended.status}
        wants = "progress" in errand
        result = await client.call_tool(
            errand["tool"],
            args,
            progress_handler=progress if wants else None,
            meta={streaming.identifier: {"token": "s-1"}} if streams else None,
            raise_on_error=False,
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
    outcome = asyncio.run(run(sys.argv[1]))
except BaseException as thrown:
    error = innermost(thrown)
    if isinstance(error, MCPError):
        outcome = {"text": "", "error": {"code": error.error.code, "message": error.error.message}}
    else:
        outcome = {"text": "", "error": {"message": f"{type(error).__name__}: {error}"}}
print(json.dumps(outcome, ensure_ascii=False))
