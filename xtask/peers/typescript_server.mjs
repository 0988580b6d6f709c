// Benchmark peer: one duality tool on the TypeScript SDK 1.x and express.
// usage: node typescript_server.mjs session|stateless PORT
// `session` keeps one server per Mcp-Session-Id and streams SSE; `stateless` builds one per request and answers JSON.
import { randomUUID } from 'node:crypto';
import express from 'express';
import { z } from 'zod';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';

const [mode, port] = process.argv.slice(2);
if (!['session', 'stateless'].includes(mode) || !Number(port)) {
  console.error('usage: typescript_server.mjs session|stateless PORT');
  process.exit(2);
}

const die = z.number().int().min(1).max(12);
const inputSchema = {
  hope: die,
  fear: die,
  modifier: z.number().int().default(0),
  difficulty: z.number().int().min(0).nullish(),
};
const outputSchema = {
  hope: die,
  fear: die,
  modifier: z.number().int(),
  difficulty: z.number().int().nullable(),
  total: z.number().int(),
  is_crit: z.boolean(),
  meets_difficulty: z.boolean(),
  outcome: z.string(),
};

function duality({ hope, fear, modifier, difficulty = null }) {
  const total = hope + fear + modifier;
  const is_crit = hope === fear;
  const meets_difficulty = difficulty !== null && (is_crit || total >= difficulty);
  const kind = difficulty === null ? 'ROLL' : meets_difficulty ? 'SUCCESS' : 'FAILURE';
  const outcome = is_crit ? 'CRITICAL_SUCCESS' : `${kind}_WITH_${hope > fear ? 'HOPE' : 'FEAR'}`;
  return { hope, fear, modifier, difficulty, total, is_crit, meets_difficulty, outcome };
}

async function serve(options) {
  const server = new McpServer({ name: 'peer-typescript', version: '1.32.2' });
  const description = 'The outcome of a duality roll with known dice.';
  server.registerTool('duality_outcome', { description, inputSchema, outputSchema }, roll => {
    const structuredContent = duality(roll);
    return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
  });
  const transport = new StreamableHTTPServerTransport(options);
  await server.connect(transport);
  return { server, transport };
}

const sessions = new Map();

async function session(request, response) {
  let transport = sessions.get(request.headers['mcp-session-id']);
  if (!transport && isInitializeRequest(request.body)) {
    ({ transport } = await serve({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => sessions.set(id, transport),
      onsessionclosed: id => sessions.delete(id),
    }));
  }
  if (!transport) return response.status(404).json({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } });
  await transport.handleRequest(request, response, request.body);
}

async function stateless(request, response) {
  const { server, transport } = await serve({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.on('close', () => server.close());
  await transport.handleRequest(request, response, request.body);
}

const handle = { session, stateless }[mode];
express().use(express.json()).all('/mcp', handle).listen(Number(port), '127.0.0.1');
