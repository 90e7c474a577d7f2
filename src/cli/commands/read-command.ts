// `parley read`: reads a resource, and asks what the server asks.

import type { ReadResourceResult } from "@modelcontextprotocol/client";
import { parseOptions, splitAtDashes } from "../args/command-line.ts";
import { answersHelp, fetchAndPrint, fetchOptions, outputHelp } from "../call/fetch.ts";
import { UsageError } from "../command.ts";
import type { Command } from "../command.ts";
import { size } from "../screen/amounts.ts";
import { plain, plainLine } from "../screen/plain.ts";
import { accessHelp } from "../server/access.ts";
import { howToList, targetAndWords } from "../server/target.ts";

/** `parley read` */
export const read: Command = {
  help: `Reads a resource of a server, and asks you what the server asks.

Usage
  parley read <target> <uri>
  parley read <uri> -- <command …>

The target is a URL, a server file, or a command in quotes. parley list shows
the resources of a server. Text is printed unchanged. For anything else, the
command prints the type and the size, and --json prints all of it.

${answersHelp}
Connection
${accessHelp}
Examples
  parley read http://127.0.0.1:3000/mcp menu://today

${outputHelp}`,
  run: (args, io) => {
    const { own, command } = splitAtDashes(args);
    const { values, positionals } = parseOptions("read", own, fetchOptions);
    const { target, others } = targetAndWords(positionals, command);
    const [uri, ...more] = others;
    if (uri === undefined || more.length > 0) {
      throw new UsageError(
        `Pass one URI. To see the resources of the server, run: ${howToList(positionals[0], command)}`,
      );
    }
    return fetchAndPrint(
      target,
      values,
      io,
      (connection, options) => connection.read(uri, options),
      textOf,
    );
  },
};

const textOf = ({ contents }: ReadResourceResult): string =>
  contents
    .map((content) => {
      if ("text" in content) return `${plain(content.text).replace(/\n$/, "")}\n`;
      const bytes = Math.floor((content.blob.length * 3) / 4);
      const type = plainLine(content.mimeType ?? "unknown type");
      return `[${plainLine(content.uri)}, ${type}, ${size(bytes)}]\n`;
    })
    .join("");
