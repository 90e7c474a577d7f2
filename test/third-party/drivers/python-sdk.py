# The official SDK for Python.

import asyncio
import json
import sys

from mcp import Client


async def main() -> None:
    async with Client(sys.argv[1]) as client:
        for line in sys.stdin:
            call = json.loads(line)
            try:
                result = await client.call_tool(call["name"], call["args"])
                texts = [getattr(block, "text", "") for block in result.content]
            except Exception as error:
                texts = [str(error)]
            print(json.dumps({"texts": texts}), flush=True)


asyncio.run(main())
