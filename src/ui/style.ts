// How forms look: one narrow column, the system's own font and colours that follow its light or dark mode.

/**
 * Each colour by light and by dark, and what hosts of the App call it. The lines around fields stay ours, because those of
 * hosts are often too faint.
 */
const colours = [
  ["ink", "#1b1f24", "#e6e8eb", "--color-text-primary"],
  ["soft", "#57606a", "#a9b1ba", "--color-text-secondary"],
  ["paper", "#fff", "#1b1e23", "--color-background-primary"],
  ["ground", "#f4f5f7", "#111317", "--color-background-secondary"],
  ["line", "#8c959f", "#7d8590", "--no-line"],
  ["accent", "#0b57d0", "#a8c7fa", "--color-background-inverse"],
  ["on", "#fff", "#062e6f", "--color-text-inverse"],
  ["wrong", "#b3261e", "#f2b8b5", "--color-text-danger"],
] as const;
const light = colours.map(([name, value]) => `--${name}:${value};`).join("");
const dark = colours.map(([name, , value]) => `--${name}:${value};`).join("");
const hostLight = colours.map(([name, value, , host]) => `--${name}:var(${host},${value});`);
const hostDark = colours.map(([name, , value, host]) => `--${name}:var(${host},${value});`);

const rules = `*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.5 var(--font-sans,system-ui,sans-serif);overflow-wrap:anywhere}
main{max-width:36rem;margin:0 auto;padding:1.5rem 1rem 3rem}
.card{background:var(--paper);border:1px solid color-mix(in srgb,var(--line) 35%,transparent);border-radius:.75rem;padding:1.5rem}
.card+.card{margin-top:1rem}
.card>:last-child{margin-bottom:0}
.from{margin:0 0 .25rem;color:var(--soft);font-size:.875rem}
.title{margin:0 0 1.25rem;font-size:1.25rem;line-height:1.35;font-weight:600;white-space:pre-line}
.text{margin:-.5rem 0 1.25rem;white-space:pre-line}
.about{margin:0 0 1.5rem;padding:.75rem 1rem;border-radius:.5rem;background:var(--ground);display:grid;grid-template-columns:fit-content(40%) 1fr;gap:.375rem 1rem}
.about>div{display:contents}
dt{color:var(--soft)}dd{margin:0;font-weight:500;white-space:pre-line}
@media(max-width:30rem){.about,.about>div{display:block}.about>div+div{margin-top:.5rem}}
.field{margin:0 0 1.25rem;padding:0;border:0;min-width:0}
label,legend{font-weight:500;padding:0;white-space:pre-line}
legend{margin-bottom:.25rem}
.field>label{display:block;margin-bottom:.25rem}
.optional,.hint{color:var(--soft);font-weight:400}
.hint,.error{margin:0 0 .5rem;font-size:.875rem;white-space:pre-line}
.error{text-align:-webkit-match-parent;text-align:match-parent}
.error,.errors{color:var(--wrong)}
.errors{margin:0 0 1.25rem;padding:.75rem 1rem;border:2px solid;border-radius:.5rem}
.errors p{margin:0}.errors ul{margin:.25rem 0 0;padding-inline-start:1.25rem}.errors a{color:inherit}
input:not([type=radio],[type=checkbox]),select,textarea{width:100%;min-height:2.75rem;padding:.5rem .75rem;border:1px solid var(--line);border-radius:.5rem;background:var(--paper);color:inherit;font:inherit}
textarea{display:block;resize:vertical}
.secret{-webkit-text-security:disc}
[aria-invalid]:is(input,select,textarea){border:2px solid var(--wrong)}
.choice{display:flex;gap:.625rem;align-items:flex-start;padding:.375rem 0}
.choice label{font-weight:400;flex:1}
.choice input{width:1.25rem;height:1.25rem;margin:.125rem 0 0;flex:none;accent-color:var(--accent)}
.choice~.hint,.choice~.error{margin:0}
summary{cursor:pointer}
pre{margin:.5rem 0;padding:.75rem;max-height:20rem;overflow:auto;border-radius:.5rem;background:var(--ground);font-size:.8125rem}
.actions{display:flex;flex-wrap:wrap;gap:.75rem}
button{min-height:2.75rem;padding:.5rem 1.25rem;border:1px solid var(--line);border-radius:.5rem;background:transparent;color:inherit;font:inherit;font-weight:500;cursor:pointer}
button.main{border-color:var(--accent);background:var(--accent);color:var(--on)}
button.danger{border-color:var(--wrong);color:var(--wrong)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.foot{margin:1rem .25rem 0;color:var(--soft);font-size:.8125rem}
`;

/** For pages. It is inline, because they may not load anything. */
export const style: string = `:root{color-scheme:light dark;${light}}
@media(prefers-color-scheme:dark){:root{${dark}}}
${rules}`;

/** For the App, which the host tells whether to be dark. Where nothing is asked, it takes no space. */
export const appStyle: string = `:root{color-scheme:light;${hostLight.join("")}}
:root.dark{color-scheme:dark;${hostDark.join("")}}
${rules}body{background:transparent}
main{max-width:none;padding:0}
.card{padding:1rem}
[aria-busy] button{cursor:progress}
.progress{margin:0;color:var(--soft);font-size:.875rem}
.progress:not(:empty){margin-top:.5rem;padding:.5rem 1rem;border-radius:.5rem;background:var(--paper)}
`;
