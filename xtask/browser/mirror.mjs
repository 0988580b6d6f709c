// A campaign that mirrors one of another Skald, which stands in for Kanka, with changes of both sides that wait for a decision.

import { Proxy } from "./proxy.mjs";
import { Server } from "./server.mjs";

const TOKEN_OPTIONS = ["--role", "gm", "--kanka", "0"];

// Two servers. `here` serves the page; the connection to `there` can be cut.
export class MirrorPair {
  static async start(skald, options) {
    const pair = new MirrorPair();
    pair.there = await Server.start(skald);
    const { token } = await pair.there.createToken("mirror", TOKEN_OPTIONS);
    [pair.connection, pair.here] = await Promise.all([
      Proxy.start(pair.there), Server.start(skald, { ...options, environment: { SKALD_KANKA_TOKEN: token } }),
    ]);
    return pair;
  }

  // A campaign whose locations were changed on both sides while they could not reach each other. `ours` and `theirs` tell
  // the changes of each by its index. The next sync finds them.
  async createConflicts(names, { ours, theirs }) {
    const { here, there, connection } = this;
    this.campaign = (await here.call("campaign_create", { name: "Mirrored", gm_mode: "HUMAN" })).id;
    await this.link(names.map((name) => ({ entity_type: "location", name, entry: "As it was.", is_private: false })));
    connection.cut();
    const update = (server, campaign_id, ids, change) => server.call("update_entities", { campaign_id, updates: ids.map((entity_id, at) => ({ entity_id, ...change(at) })) });
    await update(here, this.campaign, this.ids, ours);
    await update(there, this.remoteCampaign, this.remoteIds, theirs);
    await connection.mend();
  }

  // Links the campaign to a new one there that has these entities.
  async link(entities) {
    const { there, here, connection, campaign } = this;
    this.remoteCampaign = (await there.call("campaign_create", { name: "Mirrored", gm_mode: "HUMAN" })).id;
    const made = await there.call("create_entities", { campaign_id: this.remoteCampaign, entities });
    const headers = { authorization: `Bearer ${there.author}` };
    const { data } = await (await fetch(`${there.base}/api/kanka/1.0/campaigns`, { headers })).json();
    await here.run("kanka", "link", String(data[0].id), "--base-url", `${connection.base}/api/kanka/1.0`, "--campaign", campaign);
    this.remoteIds = made.results.map((result) => result.entity_id);
    const found = await here.call("find_entities", { campaign_id: campaign, limit: 0 });
    this.ids = entities.map((entity) => found.entities.find((row) => row.name === entity.name).entity_id);
  }

  async stop() {
    await Promise.all([this.here.stop(), this.there.stop()]);
    this.connection.close();
  }
}
