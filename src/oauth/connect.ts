// `ctx.connect`: looks for a usable token, and asks the person to sign in if there is none. The journal says no more than
// that the account is connected.

import { ParleyError, UnansweredError } from "../errors.ts";
import { elicitAnswer, unansweredReason } from "../protocol/answers.ts";
import type { Operations, QuestionSpec, Reading } from "../replay/operations.ts";
import { OperationPromise } from "../replay/promises.ts";
import type { Question } from "../replay/promises.ts";
import { playedSignIn } from "../server/accounts/account.ts";
import type {
  Account,
  ConnectFacts,
  ConnectOptions,
  TokenSource,
} from "../server/accounts/account.ts";
import { noAuth, noUrl } from "../server/accounts/known-provider.ts";
import { notFinished, timeLimit, urlRequest, wrongKind } from "../server/context/questions.ts";
import type { ShownQuestion } from "../server/context/questions.ts";
import { inWords, Unsupported } from "../server/context/unsupported-question.ts";
import { isPending } from "../server/pages/pending.ts";
import { pausesFor } from "../server/round/ways.ts";
import { shortDigest } from "../token/canonical.ts";
import { isObject } from "../util/objects.ts";
import type { OAuthProvider } from "./provider.ts";

/** What the connections of an app bring to a call. */
export interface ConnectWith {
  readonly tokens: TokenSource;
  /** The address of the start link of a ticket. */
  readonly startAt: (provider: OAuthProvider, ticket: string) => string;
  /** Whether calls without a principal, outside of a request, are of the person who started this process. */
  readonly isLocal: () => boolean;
}

/** The questions of each run, so that connecting twice gives the same account. */
const questions = new WeakMap<Operations, Map<string, Question<Account>>>();

/** Connects the caller's account. */
export function connectAccount(
  operations: Operations,
  facts: ConnectFacts,
  app: ConnectWith,
  provider: OAuthProvider,
  options: ConnectOptions = {},
): Question<Account> {
  const { key = provider.name } = options;
  const own = questions.get(operations) ?? new Map<string, Question<Account>>();
  questions.set(operations, own);
  const id = JSON.stringify([provider.name, key]);
  const question = own.get(id) ?? started(operations, facts, app, provider, key, options);
  own.set(id, question);
  return question;
}

function started(
  operations: Operations,
  facts: ConnectFacts,
  app: ConnectWith,
  provider: OAuthProvider,
  key: string,
  options: ConnectOptions,
): Question<Account> {
  const mistake = mistakeIn(facts, app);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is never settled
  if (mistake !== undefined) return operations.refuse(key, mistake) as Question<Account>;
  const { tokens } = app;
  const account: Account = {
    provider: provider.name,
    accessToken: async () => {
      const token = await tokens.accessToken(facts.principal, provider);
      facts.handOut(token, provider.name);
      return token;
    },
  };
  const isConnected = () => tokens.isConnected(facts.principal, provider);
  const connecting = async (): Promise<Account> => {
    // A step, so that a call that was not asked is not asked in a later round either.
    const wasConnected = await operations.aside(key, isConnected, lookRetries);
    if (wasConnected !== true) {
      await operations.ask(key, signInQuestion(facts, app, provider, key, options, isConnected));
    }
    return account;
  };
  return new OperationPromise(key, connecting(), () => {});
}

const lookRetries = { retries: 2, backoffMs: 500, isForRounds: true } as const;

/** Callers who are not verified would all have the same account. */
function mistakeIn(facts: ConnectFacts, app: ConnectWith): ParleyError | undefined {
  if (app.tokens.isPlayed === true) return undefined;
  const { principal, request } = facts;
  const isKnown =
    principal !== undefined ||
    (request === undefined ? app.isLocal() : request.headers === undefined);
  if (!isKnown) return noAuth();
  return facts.hasPages() ? undefined : noUrl();
}

function signInQuestion(
  facts: ConnectFacts,
  { tokens, startAt }: ConnectWith,
  provider: OAuthProvider,
  key: string,
  { message, timeoutMs }: ConnectOptions,
  isConnected: () => Promise<boolean>,
): QuestionSpec {
  const isPlayed = tokens.isPlayed === true;
  const text = message ?? `Sign in to connect your account at ${provider.title}.`;
  // The address goes to the person and to nobody else, as that of a secret does.
  const open = isPlayed ? facts.way({ relay: true }) : facts.way({ sensitive: true });
  const way = isPlayed && facts.can("url") ? "url" : open;
  const read = (raw: unknown): Reading => {
    if (isPending(raw)) return notFinished;
    const answer = elicitAnswer(raw);
    if (answer === undefined) return wrongKind("the answer to a URL question");
    if (answer.action !== "accept") {
      const reason =
        unansweredReason(raw) ?? (answer.action === "decline" ? "declined" : "cancelled");
      return { kind: "refused", error: new UnansweredError(key, reason) };
    }
    const error = isObject(answer.content) ? answer.content["error"] : undefined;
    if (typeof error === "string") return { kind: "refused", error: refusedBy(provider, error) };
    return { kind: "value", value: undefined };
  };
  return {
    digest: shortDigest(["connect", provider.name, text]),
    timeoutMs: timeLimit({ key, timeoutMs }),
    verb: "connect",
    impossible:
      way === undefined
        ? new Unsupported(
            facts.name,
            key,
            "url",
            inWords(text),
            "it needs a page to sign in on, and this client opens none",
          )
        : undefined,
    read,
    // Nothing but a token is proof that the person has signed in.
    admit: async (raw) => {
      const reading = read(raw);
      if (reading.kind !== "value" || isPlayed || (await isConnected())) return reading;
      return notFinished;
    },
    shown: {
      request: (reason, ticket = "ticket") => {
        const at = isPlayed ? `${playedSignIn}${provider.name}` : startAt(provider, ticket);
        return urlRequest(text, reason, at);
      },
      pausingWay: pausesFor(way) ? way : undefined,
      page: isPlayed ? undefined : () => ({ message: text, provider: provider.name }),
    } satisfies ShownQuestion,
  };
}

const refusedBy = ({ name }: OAuthProvider, code: string): ParleyError =>
  new ParleyError(
    "not_connected",
    `The account at "${name}" was not connected: the provider refused (${code}). Check the options of oauth({ name: "${name}" }).`,
  );
