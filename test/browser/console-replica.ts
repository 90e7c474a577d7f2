// A replica of the shop, in a process that can be killed. It prints "ready", and "driving" while it drives.

import process from "node:process";
import { shop } from "./console-shop.ts";

const { SHOP_URL = "", SHOP_FOLDER = "" } = process.env;
await shop({ url: SHOP_URL, folder: SHOP_FOLDER }).work();
process.stdout.write("ready\n");
