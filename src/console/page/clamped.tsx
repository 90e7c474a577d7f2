// A text with room for a few lines. If it needs more, a button shows the rest.

import type { ComponentChild } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function Clamped({ text }: { readonly text: string }): ComponentChild {
  const element = useRef<HTMLSpanElement>(null);
  const [isCut, setCut] = useState(false);
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    const shown = element.current;
    if (shown === null || isOpen) return;
    const measure = () => setCut(shown.scrollHeight > shown.clientHeight + 1);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(shown);
    return () => observer.disconnect();
  }, [text, isOpen]);
  return (
    <>
      <span ref={element} class={isOpen ? "clamped open" : "clamped"}>
        {text}
      </span>
      {(isCut || isOpen) && (
        <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Less" : "More"}
        </button>
      )}
    </>
  );
}
