// Stands between a browser and the server: records what the server sends, and can cut the connection.

import { connect, createServer } from "node:net";

export class Proxy {
  static async start(server) {
    const proxy = new Proxy();
    proxy.server = server;
    proxy.sockets = new Set();
    proxy.recorded = [];
    await proxy.listen(0);
    proxy.port = proxy.listener.address().port;
    proxy.base = `http://127.0.0.1:${proxy.port}`;
    return proxy;
  }

  listen(port) {
    this.listener = createServer((client) => this.join(client));
    return new Promise((resolve) => this.listener.listen(port, "127.0.0.1", resolve));
  }

  // The port of the server is looked up each time, since it has another one after a restart.
  join(client) {
    const upstream = connect(Number(new URL(this.server.base).port), "127.0.0.1");
    const bytes = [];
    this.recorded.push(bytes);
    for (const socket of [client, upstream]) {
      this.sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.on("data", (data) => bytes.push(data));
    client.pipe(upstream).pipe(client);
  }

  // Everything that the server sent so far, connection by connection.
  text() {
    return this.recorded.map((bytes) => Buffer.concat(bytes).toString("utf8")).join("\n");
  }

  cut() {
    this.listener.close();
    for (const socket of this.sockets) socket.destroy();
  }

  mend() {
    return this.listen(this.port);
  }

  close() {
    this.cut();
  }
}
