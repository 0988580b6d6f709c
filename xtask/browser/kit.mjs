// The argument of each file of checks: the servers, a browser, and functions that open tables and sign people in.

import { Outcome, Visitor } from "./harness.mjs";
import { createTable } from "./world.mjs";

export class Kit {
  constructor({ name, browser, server, owned }) {
    Object.assign(this, { browser, server, owned, outcome: new Outcome(name), visitors: [] });
    this.check = this.outcome.check.bind(this.outcome);
    this.same = this.outcome.same.bind(this.outcome);
    this.waits = this.outcome.waits.bind(this.outcome);
  }

  async open(name, { options, base = this.server.base } = {}) {
    const { browser, outcome } = this;
    const visitor = await Visitor.open({ browser, outcome, base, name, options });
    this.visitors.push(visitor);
    return visitor;
  }

  // A table of its own, with a token for its game master, who may decide at gates, and one for Ben, who plays Tam.
  async table(name) {
    const table = await createTable(this.server, { name });
    const { campaign } = table;
    const asHuman = ["--kind", "human", "--gate-role", "human"];
    const [gm, ben] = await Promise.all([
      this.server.personToken("Ada", "gm", { campaign, options: asHuman }),
      this.server.personToken("Ben", "player", { campaign, participant: table.people.Ben }),
    ]);
    table.tokens = { gm: gm.token, player: ben.token };
    return table;
  }

  async signIn(table, role, { path = table.path, options, base } = {}) {
    const visitor = await this.open(role, { options, base });
    await visitor.signIn(table.tokens[role], path);
    return visitor;
  }

  async close() {
    await Promise.all(this.visitors.map((visitor) => visitor.close()));
  }
}
