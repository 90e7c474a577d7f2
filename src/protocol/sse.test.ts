import { expect, test } from "vitest";
import { EventReader, keepAliveEvent, messageEvent } from "./sse.ts";

test("a message is one event, byte for byte as the official SDK writes it", () => {
  expect(messageEvent('{"id":1}')).toBe('event: message\ndata: {"id":1}\n\n');
});

test("written events can be read again, wherever the text is cut", () => {
  const text = messageEvent('{"id":1}') + keepAliveEvent + messageEvent('{"id":2}');
  for (let at = 0; at <= text.length; at += 1) {
    const reader = new EventReader();
    const events = [...reader.read(text.slice(0, at)), ...reader.read(text.slice(at))];
    expect(events.map(({ data }) => data)).toEqual(['{"id":1}', undefined, '{"id":2}']);
    expect(events.map(({ frame }) => `${frame}\n\n`).join("")).toBe(text);
  }
});

test("an incomplete event is kept back", () => {
  expect(new EventReader().read('event: message\ndata: {"id":1}\n')).toEqual([]);
});
