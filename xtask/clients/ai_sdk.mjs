// Drives skald with the MCP client of the AI SDK, in each way it can settle on a protocol revision.
// usage: node ai_sdk.mjs http URL
import { createMCPClient } from '@ai-sdk/mcp';
import { call, observeGetStream, report, run, target, withDeadline } from './typescript_checks.mjs';

const { url } = target();

// Reported for every notification, since this client handles none.
const NOTIFICATION = 'Unsupported message type';
// Reported in a session only: the client asks for a GET stream before it has a session, and the protocol says 400 to that.
const NO_SESSION_YET = 'GET SSE failed: 400';

const connect = protocolVersionDiscovery => async () => {
  const streamOpened = observeGetStream();
  let onNotification = () => {};
  const isSession = !protocolVersionDiscovery;
  const isExpected = error => isSession && error.message.includes(NO_SESSION_YET);
  const client = await createMCPClient({
    transport: { type: 'http', url: url.href },
    protocolVersionDiscovery,
    onUncaughtError: error => {
      if (error.message === NOTIFICATION) onNotification();
      else if (!isExpected(error)) report(error);
    },
  });
  return {
    client,
    version: client.initializeResult.protocolVersion,
    streamOpened,
    nextNotification: () => new Promise(resolve => { onNotification = () => resolve(true); }),
    close: () => client.close(),
  };
};

// This client cannot subscribe to a resource, but every session is told of a new campaign.
const checks = [
  ['the GET stream opens', true, ({ streamOpened }) => withDeadline(streamOpened)],
  ['a new campaign is announced', true, async ({ client, nextNotification }) => {
    const announced = nextNotification();
    await call(client, 'campaign_create', { name: 'The Drowned Bell', gm_mode: 'HUMAN' });
    return withDeadline(announced);
  }],
];

await run([
  { name: 'default', version: '2026-07-28', connect: connect(true) },
  { name: 'session', version: '2025-11-25', connect: connect(false), checks },
]);
