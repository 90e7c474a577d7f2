// A process of its own for what is measured without HTTP.

import { answering } from "../child.ts";
import { measureEngine } from "./engine.ts";
import { measureToken } from "./token.ts";

answering({ engine: measureEngine, token: measureToken });
