// Characters of a foreign text that must not reach a terminal or a log unescaped.

// oxlint-disable no-control-regex -- these characters are what we look for
/** Control characters. Tabs and line feeds are not among them. */
export const controls: RegExp = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;

/** Characters that change the direction of the text or are invisible. The last range is tags that only programs read. */
export const hidden: RegExp =
  /[\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;
