// Texts that would do harm if a page took them for HTML, and processes of a gate with such a text in every field.

// What would run, load or send something if it were taken as HTML, Markdown or an attribute.
export const hostile = {
  script: `<script>window.broken=1</script>"'><img src=x onerror="window.broken=1">`,
  htmx: `' hx-get='/planted' hx-trigger='load' data-hx-post="/planted" hx-on:click="broken=1" x='`,
  svg: `"><svg onload="window.broken=1"><style>*{display:none}</style><foreignObject><iframe src=//evil.example></iframe></foreignObject></svg>`,
  partial: `</textarea></title><hx-partial hx-target="#log">planted</hx-partial><form action=//evil.example><base href=//evil.example>`,
};
export const markdown = [
  "[a](javascript:window.broken=1) [b](data:text/html,<script>broken=1</script>) ![c](http://evil.example/x.png) <http://evil.example>",
  "![d](javascript:window.broken=1) [e]: javascript:broken=1 [f][e] <a href='java\tscript:broken=1' onclick='broken=1' style='position:fixed' hx-get='/planted'>g</a>",
  "<details open ontoggle=broken=1><summary>h</summary></details> <math><mtext><img src=x onerror=broken=1></math> <meta http-equiv=refresh content='0;url=//evil.example'>",
  "[[Dunmere\"><script>broken=1</script>]] `<script>broken=1</script>` <object data=//evil.example></object> <embed src=//evil.example> <link rel=stylesheet href=//evil.example>",
];
// Characters that reverse the direction of the text after them, unless an element isolates them. Names may not have them, but
// may have letters of scripts that are written from right to left.
export const BIDI = "\u202e\u2067turned\u202d";
export const RIGHT_TO_LEFT = "\u05d0\u05d1\u05d2 123";

// A process with the text in every field that takes text.
function hostileProcess(id, text) {
  const state = (name, more) => ({ name, description: text, prompt: text, ...more });
  return {
    process: { id, version: "1.0.0", name: text, description: text, initial_state: "begun" },
    states: [state("begun"), state("waiting", { required_artifacts: ["proof"] }), state("over", { is_final: true })],
    events: [
      { name: "go_on", description: text, allowed_roles: ["agent", "human"], payload_schema: { type: "object", properties: { word: { type: "string", description: text }, choice: { enum: [text, "other"] } } } },
      { name: "finish", description: text, allowed_roles: ["agent", "human"] },
      { name: "override_guard", description: text, allowed_roles: ["human"] },
    ],
    transitions: [
      { from: "begun", event: "go_on", to: "waiting", description: text },
      { from: "waiting", event: "finish", to: "over", guard: "proven", description: text },
    ],
    guards: { proven: { description: text, message: text, type: "artifact", artifact_type: "proof", condition: "exists", min_bytes: 10 } },
    artifacts: [{ type: "proof", description: text, required_in_states: ["waiting"] }],
    roles: [{ name: "agent", allowed_events: ["go_on", "finish"] }, { name: "human", allowed_events: ["*"] }],
  };
}

export const hostileProcesses = Object.fromEntries(
  Object.entries(hostile).map(([kind, text]) => [`hostile-${kind}`, hostileProcess(`hostile-${kind}`, [...text].slice(0, 90).join(""))]),
);
