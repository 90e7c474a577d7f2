// Stands in for your directory and your sign-in.

export { auth, visitor as signedIn } from "../deploy-approval/people.ts";
