// Asks a Worker to run the contract of stores inside its object, case by case.

async function get(url: URL): Promise<unknown> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.href}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Runs the contract. Throws if the store breaks it. */
export async function contract(url: string, say: (line: string) => void): Promise<void> {
  const names = await get(new URL(url));
  if (!Array.isArray(names) || names.length === 0) throw new Error("The contract has no cases.");
  const broken: string[] = [];
  for (const [index, name] of names.entries()) {
    const wrong = await get(new URL(`?case=${index}`, url));
    if (wrong !== null) broken.push(`${String(name)}\n    ${JSON.stringify(wrong)}`);
  }
  if (broken.length > 0) {
    throw new Error(`The store in the object breaks its contract:\n  ${broken.join("\n  ")}`);
  }
  say(`  passed: the ${names.length} cases of the store contract, inside an object`);
}
