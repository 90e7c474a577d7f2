// What the tokens say that this process has sealed a moment ago. Many clients answer within seconds, and to the process that
// asked: it then takes the claims from here, and decrypts nothing. Everything else about a token is checked as usual.
//
// A token is found only if it is the same to the last character, so this opens nothing that the keys would not open. What
// is here is forgotten when it is used, or when newer tokens need the room.

import { RecentTexts } from "../util/recent-texts.ts";
import type { Claims } from "./claims.ts";

/** What tokens say, by their text. */
export type RecentTokens = RecentTexts<Claims<unknown>>;

/** For one keyring: the tokens of others must not be found here. */
export const recentTokens = (): RecentTokens =>
  new RecentTexts({ mostLength: 512 * 1024, longest: 16 * 1024 });
