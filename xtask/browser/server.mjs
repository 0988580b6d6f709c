// Starts a Skald server on a store of its own, makes tokens for people, and calls its operations.

import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

export class Server {
  // `processes` has processes of a gate by their names, in addition to those that every server has; `environment` variables.
  static async start(skald, { requiresToken = true, processes = {}, environment = {} } = {}) {
    const server = new Server();
    const folder = mkdtempSync(join(tmpdir(), "skald-page-"));
    const own = join(folder, "processes");
    mkdirSync(own);
    for (const [name, process] of Object.entries(processes)) writeFileSync(join(own, `${name}.yaml`), JSON.stringify(process));
    server.skald = skald;
    server.environment = { ...process.env, ...environment };
    server.store = `sqlite:${join(folder, "world.db")}`;
    server.options = [...(requiresToken ? ["--require-token"] : []), "--process-dir", own];
    if (requiresToken) {
      const made = await server.createToken("The author", ["--role", "gm", "--calls", "0", "--reads", "0", "--lists", "0"]);
      server.author = made.token;
    }
    await server.serve();
    return server;
  }

  // Begins to serve the store, on another port each time.
  async serve() {
    this.child = spawn(this.skald, ["serve", "--store", this.store, "--http-addr", "127.0.0.1:0", "--grpc-addr", "off", ...this.options], { env: this.environment });
    this.base = await new Promise((resolve, reject) => {
      let text = "";
      this.child.stderr.resume();
      this.child.stdout.on("data", (data) => {
        text += data;
        const found = text.match(/page\s+(http:\/\/\S+?)\/\s/);
        if (found) resolve(found[1]);
      });
      this.child.on("exit", () => reject(new Error(`the server ended: ${text}`)));
    });
  }

  async stop(signal = "SIGTERM") {
    const ended = new Promise((resolve) => this.child.on("exit", resolve));
    this.child.kill(signal);
    await ended;
  }

  async run(...words) {
    return (await execute(this.skald, [...words, "--store", this.store], { env: this.environment })).stdout;
  }

  async createToken(name, options) {
    return JSON.parse(await this.run("token", "create", name, ...options, "--json"));
  }

  // A token of somebody at a table, with the limits that people have.
  async personToken(name, role, { campaign, participant, options = [] }) {
    const known = participant ? ["--participant", participant] : [];
    return this.createToken(name, ["--role", role, "--for", campaign, ...known, ...options]);
  }

  // Calls an operation as the author of the world.
  async call(operation, input, token = this.author) {
    const headers = { "content-type": "application/json" };
    if (token) headers.authorization = `Bearer ${token}`;
    const response = await fetch(`${this.base}/api/v1/${operation}`, { method: "POST", headers, body: JSON.stringify(input) });
    const answer = await response.json();
    // A change that waits for a person's decision is no error.
    if (!response.ok || answer.results?.some(({ success, code }) => !success && code !== "HELD")) {
      throw new Error(`${operation} ${JSON.stringify(input)}: ${JSON.stringify(answer)}`);
    }
    return answer;
  }
}
