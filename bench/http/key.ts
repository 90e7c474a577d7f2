// The key of every server that is measured, so that other processes can open its tokens.

export const benchKey = `bench:${Buffer.alloc(32, 7).toString("base64url")}`;
