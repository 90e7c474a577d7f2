// The application that the authorization server of the tests knows.

export const clientId = "parley";
/** Not a secret, because it opens nothing but the accounts of tests. */
export const clientSecret = "the secret of a test";
