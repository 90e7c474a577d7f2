// The person, the model and the roots that answer the questions, the same for every client.

import type { ElicitResult } from "@modelcontextprotocol/client";

export interface Shown {
  readonly kind: "form" | "url" | "sampling" | "roots";
  readonly message: string;
}

/** Records its questions, and answers by their wording, because a 2025-11-25 client does not learn the keys. */
export class People {
  readonly shown: Shown[] = [];
  /** The wording of the form that it declines. */
  refuses: { readonly message: string; readonly action: "decline" | "cancel" } | undefined;

  readonly root = { uri: "file:///home/ada", name: "home" };

  form(message: string): ElicitResult {
    this.shown.push({ kind: "form", message });
    if (this.refuses?.message === message) return { action: this.refuses.action };
    const content = forms.find(([wording]) => wording.test(message))?.[1];
    if (content === undefined) throw new Error(`No answer is prepared for “${message}”.`);
    return { action: "accept", content };
  }

  url(message: string): ElicitResult {
    this.shown.push({ kind: "url", message });
    return { action: "accept" };
  }

  model(prompt: string): string {
    this.shown.push({ kind: "sampling", message: prompt });
    return `${prompt}, said the model`;
  }

  roots(): (typeof this.root)[] {
    this.shown.push({ kind: "roots", message: "" });
    return [this.root];
  }
}

const forms: readonly (readonly [RegExp, Record<string, string | number>])[] = [
  [/Who travels\?$/, { name: "Ada", seats: 2 }],
  [/^How does .* travel\?$/, { by: "Night train" }],
  [/^Book \d seats/, {}],
  [/^Number \d+\?$/, {}],
  [/^Your name\?$/, { name: "Ada" }],
  [/^Name\?$/, { name: "Ada" }],
  [/^Age\?$/, { age: 36 }],
  [/^To whom\?$/, { to: "Byron" }],
  [/^Which mood\?$/, { mood: "good" }],
  [/^Which pen\?$/, { pen: "ink" }],
];
