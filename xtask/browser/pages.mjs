// Every page of a table that has lore, a sky, a quest and a held change, by name, for those who may open it.

export function pagesOf({ path, skyPath, entities, quest }) {
  const entry = `${path}/lore/${entities.dunmere}`;
  return {
    everybody: {
      home: "/", table: path, sessions: `${path}/sessions`, session: `${path}/sessions/1`, dice: "/dice?e=2d6%2B3&e2=1d12",
      duality: "/dice?e=duality(%2B2%2C%20dc%2014)", examples: "/dice", lore: `${path}/lore`, entry, timeline: `${path}/timeline`,
      graph: `${path}/graph`, skies: `${path}/sky`, sky: skyPath, body: `${skyPath}?body=bell`, browsers: "/browsers",
    },
    players: { runs: `${path}/runs`, "other-runs": "/runs", "other-skies": "/skies" },
    gameMasters: {
      canon: `${path}/canon`, conflict: `${path}/canon/c1`, "new-entry": `${path}/lore/new`, edit: `${entry}/edit`, history: `${entry}/history`,
      version: `${entry}/history/1`, "new-post": `${entry}/posts/new`, archive: `${path}/lore/archive`, kanka: `${path}/kanka`,
      event: `${path}/timeline/1`, run: `${path}/runs/${quest}`, evidence: `${path}/runs/${quest}/evidence?path=clue-1.md`, "view-as": `${path}/view-as`,
    },
  };
}

export const pagesOfOwners = { keeping: "/keeping", audit: "/keeping/audit", store: "/keeping/store", limits: "/keeping/limits" };
export const pagesOfNobody = { "sign-in": "/sign-in", join: "/join/skaldinvite_0000000000000000" };
