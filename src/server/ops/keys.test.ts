// Where keys come from, and what the message says if there are none.

import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ParleyError } from "../../errors.ts";
import { newKey } from "../../token/keyring.ts";
import { resolveKeys } from "./keys.ts";

const home = process.cwd();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-keys-"));
  vi.spyOn(process, "cwd").mockReturnValue(folder);
  vi.stubEnv("PARLEY_KEYS", undefined);
  vi.stubEnv("NODE_ENV", undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
  expect(process.cwd()).toBe(home);
});

const remote = { keys: undefined, way: "app.fetch", isLocal: false };
const local = { keys: undefined, way: "app.listen", isLocal: true };

test("without keys, the error says how to make one and why none was generated", () => {
  const error = (() => {
    try {
      return resolveKeys(remote);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(ParleyError);
  expect(error).toMatchObject({
    code: "no_keys",
    message:
      "There is no key to seal state with. Set PARLEY_KEYS to the same value on every instance, or pass parley({ keys }). To make a key, run npx mcp-parley keys new.\n" +
      "A key is generated only in development, by app.listen on a loopback address and by app.stdio. This is app.fetch.",
  });
});

test("in production no key is generated on this machine either", () => {
  vi.stubEnv("NODE_ENV", "production");
  expect(() => resolveKeys(local)).toThrow(
    /\nA key is generated only in development, and NODE_ENV is production\.$/,
  );
  expect(existsSync(join(folder, ".parley"))).toBe(false);
});

test("the option wins over PARLEY_KEYS, which wins over a generated key", () => {
  vi.stubEnv("PARLEY_KEYS", newKey("env"));
  expect(resolveKeys({ ...local, keys: newKey("option") }).sealing.id).toBe("option");
  expect(resolveKeys(local).sealing.id).toBe("env");
  expect(existsSync(join(folder, ".parley"))).toBe(false);
});

test("an empty PARLEY_KEYS counts as missing", () => {
  vi.stubEnv("PARLEY_KEYS", "  ");
  expect(() => resolveKeys(remote)).toThrow("There is no key to seal state with");
});

test("a generated key is kept for the next start, and only its owner can read it", () => {
  const first = resolveKeys(local);
  const path = join(folder, ".parley/keys");
  expect(first.sealing.id).toBe("dev");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const kept = readFileSync(path, "utf8");
  resolveKeys(local);
  expect(readFileSync(path, "utf8")).toBe(kept);
  expect(readFileSync(join(folder, ".parley/.gitignore"), "utf8")).toBe("*\n");
});

test("a generated key that cannot be kept is valid for this process only", () => {
  const noFolder = join(folder, "file");
  writeFileSync(noFolder, "");
  vi.spyOn(process, "cwd").mockReturnValue(noFolder);
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  expect(resolveKeys(local).sealing.id).toBe("dev");
  expect(String(stderr.mock.calls[0]?.[0])).toContain("the development key cannot be saved");
});

test("a development key that other users can read is used with a warning", () => {
  const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const { id } = resolveKeys(local).sealing;
  expect(resolveKeys(local).sealing.id).toBe(id);
  expect(said).not.toHaveBeenCalled();
  chmodSync(join(folder, ".parley/keys"), 0o644);
  resolveKeys(local);
  expect(said.mock.calls.join()).toContain("can be read by other users");
});
