// Drives skald with the TypeScript SDK 1.x, which knows the initialize era only.
// usage: node typescript1.mjs stdio BIN | http URL
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { run, target } from './typescript_checks.mjs';

const server = target();

async function connect() {
  const transport = server.url ? new StreamableHTTPClientTransport(server.url) : new StdioClientTransport(server);
  let version;
  // The client tells its transport what was agreed; the stdio transport has no use for it and no getter.
  const agreed = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = value => { version = value; agreed?.(value); };
  const client = new Client({ name: 'typescript-1', version: '1.32.2' });
  await client.connect(transport);
  return {
    client,
    version,
    close: async () => { await transport.terminateSession?.(); await client.close(); },
  };
}

await run([{ name: 'default', version: '2025-11-25', connect }]);
