// The checks that all TypeScript clients make of skald, and the loop that runs them.
// A script supplies passes; a pass connects one client, says which revision it should get, and may add checks.
// A client that reports an error fails, even if it goes on and gets its answers.
import { isDeepStrictEqual } from 'node:util';

const ROLL = { hope: 8, fear: 5, modifier: 2, difficulty: 15 };
const OUTCOME = { ...ROLL, total: 15, is_crit: false, meets_difficulty: true, outcome: 'SUCCESS_WITH_HOPE' };
const COUNTS = { crit_count: 12, success_count: 84, failure_count: 60, total_outcomes: 144 };
const RULES = 'dice://rules/duality';
const ODDS = 'dice://duality/odds/{modifier}/{difficulty}';
const FACES = Array.from({ length: 12 }, (_, index) => index + 1);

const counts = odds => Object.fromEntries(Object.keys(COUNTS).map(key => [key, odds?.[key]]));
export const call = (client, name, args) => client.callTool({ name, arguments: args });

// How long a notification or a stream may take.
const DEADLINE_MS = 30_000;

// What the client of this pass has reported, and how often.
const reported = new Map();
/** For a client's `onerror`. */
export const report = error => { reported.set(`${error}`, (reported.get(`${error}`) ?? 0) + 1); };
console.error = console.warn = (...words) => report(words.join(' '));

// [check, what it should give, how to get it]
const checks = [
  ['tools/list names the tools',
    ['actor_control_set', 'actor_create', 'actor_update', 'campaign_create', 'campaign_overview', 'campaign_read',
      'campaign_update', 'canon', 'check_entity_updates', 'create_entities', 'create_posts', 'delete_entities',
      'delete_posts', 'duality_action_roll', 'duality_explain', 'duality_outcome', 'duality_probability',
      'duality_rules_version', 'entity_compare', 'entity_search', 'events_list', 'find_entities', 'get_entities',
      'get_universe_state', 'group_roll', 'kanka_mirror', 'list_universe_commands', 'lore_history', 'luck', 'odds',
      'participant_create', 'participant_update', 'relationships', 'roll', 'roll_dice', 'send_universe_command',
      'session_end', 'session_note', 'session_recap', 'session_start', 'set_context', 'state_gate.create_run',
      'state_gate.emit_event', 'state_gate.get_state', 'state_gate.list_events', 'state_gate.list_runs',
      'state_gate.run', 'state_gate.submit_process', 'timeline', 'tracker', 'universe', 'update_entities',
      'update_posts', 'visibility'],
    async client => (await client.listTools()).tools.map(tool => tool.name).sort()],
  ['tools/call answers structured content', { isError: false, structured: OUTCOME }, async client => {
    const { isError = false, structuredContent: structured } = await call(client, 'duality_outcome', ROLL);
    return { isError, structured };
  }],
  ['a universe is created, changed, and read whole and in part', { whole: 5, text: 5, part: 'summary', commands: 25 },
    async client => {
      const made = await call(client, 'universe', { method: 'create', name: 'Sol' });
      const universeId = made.structuredContent.universe.id;
      await call(client, 'send_universe_command', { universeId, command: { type: 'tick', dt: 5 } });
      const whole = await call(client, 'get_universe_state', { universeId });
      const part = await call(client, 'get_universe_state', { universeId, view: 'summary' });
      const listed = await call(client, 'list_universe_commands', { universeId });
      return {
        whole: whole.structuredContent.time,
        text: JSON.parse(whole.content[0].text).time,
        part: part.structuredContent.view,
        commands: listed.structuredContent.commandTypes.length,
      };
    }],
  ['a run is created, refuses without evidence and moves with it',
    { refused: 'GUARD_FAILED', isError: false, moved: 'observe', state: 'observe' }, async client => {
      const made = await call(client, 'state_gate.create_run', { process_id: 'exploration-process' });
      const { run_id } = made.structuredContent;
      const event = {
        run_id, event_name: 'submit_experiment_plan', payload: { plan: 'Ask.' }, expected_revision: 1,
        artifacts: [{ path: 'experiment_plan.md', text: 'Ask ten.' }],
      };
      const moved = await call(client, 'state_gate.emit_event', { ...event, idempotency_key: 'plan' });
      const early = { run_id, event_name: 'finish_observation', expected_revision: 2, idempotency_key: 'early' };
      const refused = await call(client, 'state_gate.emit_event', early);
      const state = await call(client, 'state_gate.get_state', { run_id });
      return {
        refused: refused.structuredContent.error.code,
        isError: refused.isError ?? false,
        moved: moved.structuredContent.result.transition.to_state,
        state: state.structuredContent.current_state,
      };
    }],
  ['tools/call repeats it as JSON text', [OUTCOME], async client => {
    const { content } = await call(client, 'duality_outcome', ROLL);
    return content.map(block => JSON.parse(block.text));
  }],
  ['tools/call counts the odds', COUNTS, async client =>
    counts((await call(client, 'duality_probability', { modifier: 2, difficulty: 15 })).structuredContent)],
  ['a refusal is a readable tool error',
    { isError: true, readable: true, codes: ['INVALID_PARAMS'], structured: undefined }, async client => {
      const { isError, content, structuredContent: structured } = await call(client, 'duality_outcome', { hope: 13, fear: 5 });
      const [words, ...details] = content.map(block => block.text);
      const codes = details.map(text => JSON.parse(text).error.code);
      return { isError, readable: words.startsWith('INVALID_PARAMS') || words, codes, structured };
    }],
  ['resources/list names the rules', 'text/markdown', async client =>
    (await client.listResources()).resources.find(resource => resource.uri === RULES)?.mimeType],
  ['resources/read gives the rules', { uri: RULES, mimeType: 'text/markdown', hope: true }, async client => {
    const [{ uri, mimeType, text }] = (await client.readResource({ uri: RULES })).contents;
    return { uri, mimeType, hope: text.includes('Hope') || text };
  }],
  ['resources/templates/list names the odds', 'application/json', async client =>
    (await client.listResourceTemplates()).resourceTemplates.find(template => template.uriTemplate === ODDS)?.mimeType],
  ['resources/read goes through the template', { mimeType: 'application/json', ...COUNTS }, async client => {
    const uri = ODDS.replace('{modifier}', 2).replace('{difficulty}', 15);
    const [{ mimeType, text }] = (await client.readResource({ uri })).contents;
    return { mimeType, ...counts(JSON.parse(text)) };
  }],
  ['prompts/list names the prompt and its arguments', { modifier: false, difficulty: true, outcome: false }, async client => {
    const prompt = (await client.listPrompts()).prompts.find(prompt => prompt.name === 'explain_odds');
    return Object.fromEntries(prompt.arguments.map(({ name, required = false }) => [name, required]));
  }],
  ['prompts/get fills the prompt', true, async client => {
    const { messages } = await client.getPrompt({ name: 'explain_odds', arguments: { modifier: '2', difficulty: '15' } });
    const text = messages.map(message => message.content.text).join('\n');
    return text.includes('84') || text;
  }],
  ['completion/complete finishes an outcome', ['CRITICAL_SUCCESS'], async client =>
    (await client.complete({
      ref: { type: 'ref/prompt', name: 'explain_odds' },
      argument: { name: 'outcome', value: 'CRIT' },
    })).completion.values],
  ['calls at once are answered each with its own', FACES, async client => {
    const answers = await Promise.all(FACES.map(hope => call(client, 'duality_outcome', { ...ROLL, hope })));
    return answers.map(answer => answer.structuredContent.hope);
  }],
];

/**
 * Runs every check in every pass `{ name, version, connect, checks }`; `connect` gives `{ client, version, close }` and
 * whatever the pass's own checks need of it.
 */
export async function run(passes) {
  const tally = { ok: 0, failed: 0 };
  const check = async (label, expected, get) => {
    const got = await get().catch(error => `${error}`);
    const ok = isDeepStrictEqual(got, expected);
    tally[ok ? 'ok' : 'failed'] += 1;
    console.log(ok ? `ok ${label}` : `FAILED ${label}\n  expected ${JSON.stringify(expected)}\n  got      ${JSON.stringify(got)}`);
  };
  for (const pass of passes) {
    let link;
    await check(`${pass.name}: connects with ${pass.version}`, pass.version, async () => (link = await pass.connect()).version);
    if (link) {
      for (const [label, expected, get] of checks) {
        await check(`${pass.name}: ${label}`, expected, () => get(link.client));
      }
      for (const [label, expected, get] of pass.checks ?? []) {
        await check(`${pass.name}: ${label}`, expected, () => get(link));
      }
      await check(`${pass.name}: closes`, undefined, link.close);
    }
    await check(`${pass.name}: reports no error`, [], async () => [...reported].map(([text, count]) => `${count} x ${text}`));
    reported.clear();
  }
  console.log(`${tally.ok} passed, ${tally.failed} failed`);
  process.exit(tally.failed ? 1 : 0);
}

/** The promise's value, or a rejection after the deadline. */
export function withDeadline(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came in ${DEADLINE_MS} ms`)), DEADLINE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Resolves to true when the server has answered a GET with a stream. Call this before the client is made. */
export function observeGetStream() {
  const { promise, resolve } = Promise.withResolvers();
  const plainFetch = globalThis.fetch;
  globalThis.fetch = async (url, init) => {
    const response = await plainFetch(url, init);
    if (init?.method === 'GET' && response.ok) resolve(true);
    return response;
  };
  return promise;
}

/** The `stdio BIN` or `http URL` that ends the command line. */
export function target() {
  const [kind, address] = process.argv.slice(-2);
  if (!['stdio', 'http'].includes(kind)) {
    process.stderr.write(`usage: ${process.argv[1]} ... stdio BIN | http URL\n`);
    process.exit(2);
  }
  return kind === 'stdio' ? { command: address, args: ['mcp', '--store', 'memory'] } : { url: new URL(address) };
}
