// The load balancer of the examples: the same one as in `mcp-parley demo`.

export { roundRobin } from "../src/cli/demo/replicas.ts";
