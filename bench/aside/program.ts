// The process for everything that is measured without HTTP.

import { answering } from "../child.ts";
import { measureEngine } from "./engine.ts";
import { measureToken } from "./token.ts";

answering({ engine: measureEngine, token: measureToken });
