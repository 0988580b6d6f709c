// Drives skald with a TypeScript SDK 1.x, which knows the initialize era only.
// usage: node typescript1.mjs PACKAGE REVISION stdio BIN | http URL
// PACKAGE is the name that this version is installed under, REVISION the newest that it knows.
import { call, observeGetStream, report, run, target, withDeadline } from './typescript_checks.mjs';

const [sdk, revision] = process.argv.slice(2);
const server = target();
const { Client } = await import(`${sdk}/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);
const { ResourceUpdatedNotificationSchema } = await import(`${sdk}/types.js`);

/** Keeps the revision that the server answered, since old versions of the SDK do not expose it. */
class RevisionClient extends Client {
  async request(request, ...more) {
    const result = await super.request(request, ...more);
    if (request.method === 'initialize') this.revision = result.protocolVersion;
    return result;
  }
}

async function connect() {
  const streamOpened = server.url && observeGetStream();
  const transport = server.url ? new StreamableHTTPClientTransport(server.url) : new StdioClientTransport(server);
  const client = new RevisionClient({ name: 'typescript-1', version: '1.0.0' });
  let isClosing = false;
  // The client passes on what its transport reports.
  client.onerror = error => {
    // Closing aborts the GET stream, and the SDK reports that as an error.
    const isOwnAbort = isClosing && `${error}`.includes('AbortError');
    if (!isOwnAbort) report(error);
  };
  await client.connect(transport);
  return {
    client,
    version: client.revision,
    streamOpened,
    close: async () => {
      isClosing = true;
      await transport.terminateSession?.();
      await client.close();
    },
  };
}

const streamCheck = ['the GET stream opens', true, ({ streamOpened }) => withDeadline(streamOpened)];

const notificationCheck = ['a subscriber is told of a change', true, async ({ client }) => {
  const { id } = (await call(client, 'campaign_create', { name: 'The Drowned Bell', gm_mode: 'HUMAN' })).structuredContent;
  const uri = `campaign://${id}`;
  const updated = new Promise(resolve =>
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => params.uri === uri && resolve(true)));
  await client.subscribeResource({ uri });
  await call(client, 'campaign_update', { campaign_id: id, name: 'The Salt Road' });
  return withDeadline(updated);
}];

const checks = server.url ? [streamCheck, notificationCheck] : [notificationCheck];
await run([{ name: sdk, version: revision, connect, checks }]);
