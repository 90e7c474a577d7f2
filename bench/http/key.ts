// Of every server that is measured, so that a token can be looked into beside it.

export const benchKey = `bench:${Buffer.alloc(32, 7).toString("base64url")}`;
