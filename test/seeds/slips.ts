// Mistakes in the printed messages: places where a message contradicts its own document. Where the final specification
// differs from a document, see the rows. Repairs of invalid JSON are noted beside the message (`mended`). This file
// also lists the places where the tests of the draft compare a correct message loosely.

export interface Slip {
  readonly message: string;
  readonly slip: string;
  /** How the tests read it. */
  readonly takenFor: string;
}

export const slips: readonly Slip[] = [
  { message: "000.2", slip: "the status is written Working", takenFor: "working" },
  { message: "000.2", slip: "lastUpdatedAt is missing", takenFor: "a task that has one" },
  { message: "000.4", slip: "the status is written input_require", takenFor: "input_required" },
  {
    message: "000.4",
    slip: "createdAt is five minutes after the task's own creation (000.2)",
    takenFor: "the time of creation",
  },
  {
    message: "000.6",
    slip: "a response has a method and params in place of a result",
    takenFor: "a result that asks",
  },
  { message: "000.6", slip: "_meta stands beside params", takenFor: "_meta of the result" },
  {
    message: "000.7",
    slip: "a response with an id that was not sent",
    takenFor: "a request that answers",
  },
  { message: "000.9", slip: "the status is written Completed", takenFor: "completed" },
  {
    message: "000.9",
    slip: "the status message names get/result, which is not a method",
    takenFor: "tasks/result",
  },
  {
    message: "001.2",
    slip: "inputResponses and requestState stand beside params, which the schema after it puts them in",
    takenFor: "members of params",
  },
  {
    message: "001.17",
    slip: "createdAt is five minutes after the task's own creation (001.15)",
    takenFor: "the time of creation",
  },
  {
    message: "001.23",
    slip: "createdAt is five minutes late again, as in 000.9",
    takenFor: "the time of creation",
  },
  {
    message: "001.26",
    slip: "the retry lacks the requestState that 001.5 gave, which clients must echo",
    takenFor: "a first request with answers that were not asked for",
  },
  {
    message: "001.30",
    slip: "a member without its message",
    takenFor: "the member of a result",
  },
  {
    message: "001.31",
    slip: "a member without its message",
    takenFor: "the member of a request's params",
  },
  {
    message: "002.3",
    slip: "params.name is the method's name",
    takenFor: "the tool's name",
  },
  {
    message: "002.3",
    slip: "neither jsonrpc, id nor method",
    takenFor: "the envelope of tools/call",
  },
  { message: "002.4", slip: "no jsonrpc and no id", takenFor: "a request" },
  { message: "002.5", slip: "no jsonrpc", takenFor: "a notification" },
  { message: "002.6", slip: "no jsonrpc and no id", takenFor: "a request" },
  { message: "002.7", slip: "no jsonrpc and no id", takenFor: "a request" },
  { message: "003.1", slip: "a brace is missing at its end", takenFor: "closed" },
  { message: "003.2", slip: "it answers request 1 under id 2", takenFor: "the id of its request" },
  {
    message: "003.2",
    slip: "the degree sign was written in one encoding and read in another",
    takenFor: "a degree sign",
  },
  { message: "003.3", slip: "it answers request 1 under id 2", takenFor: "the id of its request" },
  {
    message: "003.7",
    slip: "a response has a method and params in place of a result",
    takenFor: "a result that asks",
  },
  {
    message: "003.8",
    slip: "a new request under the id of the first",
    takenFor: "an id of its own",
  },
  {
    message: "003.8",
    slip: "the answer stands beside params, under the field's name",
    takenFor: "the answer in params",
  },
  {
    message: "003.9",
    slip: "its entry has no method, where the kind of list says which it is",
    takenFor: "elicitation/create",
  },
  {
    message: "003.10",
    slip: "a new request under the id of the first",
    takenFor: "an id of its own",
  },
  { message: "003.10", slip: "the answers stand beside params", takenFor: "answers in params" },
  { message: "003.11", slip: "_meta stands beside the result", takenFor: "_meta of the result" },
  { message: "003.13", slip: "stream stands beside params", takenFor: "a member of params" },
];

export interface Loosening {
  readonly what: string;
  readonly messages: readonly string[];
  readonly why: string;
}

/** The places in test/seeds/draft.test.ts, which fails if it is looser or stricter than this. */
export const loosenings: readonly Loosening[] = [
  {
    what: "the message of a status",
    messages: ["001.15", "001.17", "001.23", "003.5"],
    why: "the handler sets it and has not done so yet; it is optional",
  },
  {
    what: "the polling interval",
    messages: ["001.15", "001.17", "001.23", "003.5"],
    why: "the server chooses it; here it is a second",
  },
  {
    what: "the lifetime of a finished task",
    messages: ["001.23"],
    why: "a finished task is kept for a while, so its lifetime has become longer",
  },
  {
    what: "lastUpdatedAt, which is not printed",
    messages: ["003.5"],
    why: "001 and the tasks of 2025-11-25 have it",
  },
  {
    what: 'mode: "form", which is not printed',
    messages: ["001.5", "001.9", "001.11", "001.27", "001.30"],
    why: "001.19 and 000.6 have it, and a form without it means the same",
  },
  {
    what: "a state, which is not printed",
    messages: ["001.9", "001.10", "001.27"],
    why: "an answer counts only for the question that was asked, and the state says which (F8, S30)",
  },
];
