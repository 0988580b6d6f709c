// Drives skald with the TypeScript SDK 2.x, in each way it can settle on a protocol revision.
// usage: node typescript2.mjs stdio BIN | http URL
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { report, run, target } from './typescript_checks.mjs';

const server = target();

const connect = mode => async () => {
  const transport = server.url ? new StreamableHTTPClientTransport(server.url) : new StdioClientTransport(server);
  const client = new Client({ name: 'typescript-2', version: '2.4.0' }, mode && { versionNegotiation: { mode } });
  client.onerror = report;
  await client.connect(transport);
  return {
    client,
    version: client.getNegotiatedProtocolVersion(),
    close: async () => { await transport.terminateSession?.(); await client.close(); },
  };
};

await run([
  { name: 'default', version: '2025-11-25', connect: connect() },
  { name: 'legacy', version: '2025-11-25', connect: connect('legacy') },
  { name: 'auto', version: '2026-07-28', connect: connect('auto') },
  { name: 'pinned', version: '2026-07-28', connect: connect({ pin: '2026-07-28' }) },
]);
