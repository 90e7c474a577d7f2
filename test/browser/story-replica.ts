// A replica of the story, in a process that is killed while it books a carrier. It prints "booking" then.

import process from "node:process";
import { storyApp } from "./story-app.ts";
import { moveClock } from "./story-clock.ts";

const { STORY_URL = "", STORY_FOLDER = "", STORY_SHIFT = "0" } = process.env;
moveClock(Number(STORY_SHIFT));
await storyApp({ url: STORY_URL, folder: STORY_FOLDER }).work();
