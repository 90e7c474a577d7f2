// The load balancer of the examples is the demo's.

export { roundRobin } from "../src/cli/demo/round-robin.ts";
