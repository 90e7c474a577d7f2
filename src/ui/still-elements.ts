// Elements that are rendered once, as text. The package has this in place of preact and its renderer where it makes pages
// (scripts/build.ts): pages have no scripts, so nothing of them changes. The App and the console have preact itself.

import { isObject } from "../util/objects.ts";

type Child = string | number | boolean | null | undefined | StillElement | readonly Child[];

type Props = Readonly<Record<string, unknown>>;

type Component = (props: never) => Child;

class StillElement {
  readonly type: string | Component;
  readonly props: Props;

  constructor(type: string | Component, props: Props) {
    this.type = type;
    this.props = props;
  }
}

/** Makes an element, as preact's `h` does. */
export function h(
  type: string | Component,
  props: Props | null,
  ...children: readonly Child[]
): StillElement {
  if (children.length === 0) return new StillElement(type, { ...props });
  return new StillElement(type, { ...props, children });
}

/** The HTML of an element, as preact-render-to-string writes it. */
export function renderToString(child: Child): string {
  if (child instanceof StillElement) return elementText(child);
  if (Array.isArray(child)) return child.map(renderToString).join("");
  if (typeof child !== "string" && typeof child !== "number") return "";
  return escaped(String(child));
}

const voids = /^(?:br|hr|img|input|link|meta)$/;

function elementText({ type, props }: StillElement): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types of preact check what a component gets
  if (typeof type === "function") return renderToString(type(props as never));
  const attributes = Object.entries(props).map(([name, value]) => attribute(type, name, value));
  const tag = `<${type}${attributes.join("")}`;
  return voids.test(type) ? `${tag}/>` : `${tag}>${contentOf(type, props)}</${type}>`;
}

function contentOf(
  type: string,
  { children, dangerouslySetInnerHTML, defaultValue }: Props,
): string {
  if (type === "textarea" && typeof defaultValue === "string") return escaped(defaultValue);
  if (isObject(dangerouslySetInnerHTML)) return String(dangerouslySetInnerHTML["__html"]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types of preact check them
  return renderToString(children as Child);
}

const noAttributes = new Set(["children", "key", "dangerouslySetInnerHTML"]);
const otherNames: Readonly<Record<string, string>> = {
  defaultValue: "value",
  defaultChecked: "checked",
};
/** Attributes that say "false" in so many words. */
const inWords = /^(?:aria-|spellcheck$)/;

function attribute(type: string, property: string, value: unknown): string {
  if (noAttributes.has(property) || (type === "textarea" && property === "defaultValue")) return "";
  const name = otherNames[property] ?? property;
  const said = typeof value === "boolean" && inWords.test(name) ? String(value) : value;
  if (said === true || said === "") return ` ${name}`;
  if (typeof said !== "string" && typeof said !== "number") return "";
  return ` ${name}="${escaped(String(said))}"`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", '"': "&quot;" };
const escaped = (text: string): string => text.replaceAll(/[&<"]/g, (one) => entities[one] ?? one);
