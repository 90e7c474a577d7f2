// Tokens and client registrations from earlier sign-ins, in one file that only its owner can read.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { configFolder } from "../config-folder.ts";
import { isObject } from "../../util/objects.ts";

/** Credentials by issuer, because those of one authorization server must not go to another. */
export interface SignIn {
  readonly clients: Readonly<Record<string, StoredOAuthClientInformation>>;
  readonly tokens: Readonly<Record<string, StoredOAuthTokens>>;
  /** The issuer of the newest tokens. */
  readonly latest?: string | undefined;
  /** The redirect URL that the clients are registered with. */
  readonly redirectUrl?: string | undefined;
}

const nothing: SignIn = { clients: {}, tokens: {} };

/** The path of the file. */
export function signInsFile(env: Readonly<Record<string, string | undefined>>): string {
  return join(configFolder(env), "sign-ins.json");
}

/** The sign-ins of one server. */
export class SignIns {
  readonly #file: string;
  readonly #server: string;

  constructor(file: string, server: string) {
    this.#file = file;
    this.#server = server;
  }

  read(): SignIn {
    const found = this.#all()[this.#server];
    return isObject(found) ? { ...nothing, ...(found as Partial<SignIn>) } : nothing;
  }

  write(change: Partial<SignIn>): void {
    const all = { ...this.#all(), [this.#server]: { ...this.read(), ...change } };
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    const draft = `${this.#file}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(all, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, this.#file);
  }

  #all(): Readonly<Record<string, unknown>> {
    try {
      const raw: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
      return isObject(raw) ? raw : {};
    } catch {
      return {};
    }
  }
}
