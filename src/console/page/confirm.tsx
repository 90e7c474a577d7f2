// Asks before something happens that cannot be taken back.

import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { route } from "./route.ts";

/** What is about to happen. */
export interface Intention {
  readonly title: string;
  /** What follows from it. */
  readonly text: string;
  /** The word on the button. */
  readonly verb: string;
  readonly isGrave?: boolean;
}

const asked = signal<
  { readonly intention: Intention; readonly settle: (is: boolean) => void } | undefined
>(undefined);

/** Resolves to whether the person wants it. */
export const confirmed = (intention: Intention): Promise<boolean> =>
  new Promise((resolve) => {
    asked.value = {
      intention,
      settle: (is) => {
        asked.value = undefined;
        resolve(is);
      },
    };
  });

/** The dialogue. The browser keeps the focus in it, and gives it back. */
export function Confirmation(): ComponentChild {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = asked.value;
  useEffect(() => {
    if (open === undefined) dialog.current?.close();
    else dialog.current?.showModal();
  }, [open]);
  // A person who goes to another screen has decided against it.
  const place = route.value.path.join("/");
  useEffect(() => () => asked.peek()?.settle(false), [place]);
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={() => open?.settle(false)}>
      {open !== undefined && (
        <form
          onSubmit={(event) => {
            // Settling takes the form away, and a browser complains about one that is gone before it is submitted.
            event.preventDefault();
            open.settle(true);
          }}
        >
          <h2 id="confirm-title">{open.intention.title}</h2>
          <p>{open.intention.text}</p>
          <div class="actions">
            <button class={open.intention.isGrave === true ? "main grave" : "main"} type="submit">
              {open.intention.verb}
            </button>
            <button type="button" onClick={() => open.settle(false)}>
              Go back
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}
