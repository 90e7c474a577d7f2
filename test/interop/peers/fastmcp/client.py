"""A client written with FastMCP and its tasks.

Its first argument is the URL of a server, its second an errand in JSON. It prints the outcome in JSON.
"""

import asyncio
import json
import sys

import mcp_types as types
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from mcp.shared.exceptions import MCPError

errand = json.loads(sys.argv[2])
if errand.get("task"):
    # Importing it is what declares the extension.
    from fastmcp_tasks import call_tool_task


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

    client = Client(
        url,
        mode="legacy" if errand["era"] == "2025-11-25" else errand["era"],
        client_info=types.Implementation(name="fastmcp", version="1.0.0"),
        elicitation_handler=elicit,
        sampling_handler=sample,
        roots=[types.Root(uri="file:///home/ada", name="home")],
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
        wants = errand.get("progress", False)
        result = await client.call_tool(
            errand["tool"],
            args,
            progress_handler=progress if wants else None,
            raise_on_error=False,
        )
        told = {"text": "\n".join(block.text for block in result.content)}
        if result.is_error:
            told["isError"] = True
        if wants:
            told["progress"] = heard[-1] if heard else 0
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
