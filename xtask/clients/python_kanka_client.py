"""Drives the Kanka-compatible API with the python-kanka that PyPI has, unmodified.

usage: SKALD_TOKEN=… KANKA_BASE_URL=URL/api/kanka/1.0 PYTHONPATH=FOLDER python_kanka_client.py URL
"""

import os
import sys

from kanka import KankaClient
from kanka.exceptions import AuthenticationError, NotFoundError, ValidationError
from kanka_checks import MANY, TYPES, Checks, connect

ENTRY = "<p>Says <b>hello</b> to [character:1|her].</p><ul><li>one</li></ul>"


def drive_type(check, client, skald, campaign_id, entity_type, plural, tag):
    """One type from its creation to its end."""
    manager = getattr(client, plural)
    created = manager.create(name=f"First of {plural}", type="Old", entry=ENTRY, tags=[tag.id], is_private=True)
    check.equal(f"{plural}: created", (created.name, created.type, created.entry, created.tags, created.is_private), (f"First of {plural}", "Old", ENTRY, [tag.id], True))
    there = skald.get(campaign_id, created.entity_id)
    check.equal(f"{plural}: over MCP", (there["entity_type"], there["id"], there["tags"], there["is_private"]), (entity_type, created.id, [tag.name], True))
    check.true(f"{plural}: the text over MCP", "Says **hello** to [character:1|her]." in there["entry"])

    updated = manager.update(created.id, name=f"Second of {plural}", is_private=False)
    check.equal(f"{plural}: updated", (updated.name, updated.entry, updated.tags, updated.is_private), (f"Second of {plural}", ENTRY, [tag.id], False))
    check.equal(f"{plural}: updated over MCP", skald.get(campaign_id, created.entity_id)["name"], f"Second of {plural}")
    check.equal(f"{plural}: got", manager.get(created.id, related=True).posts, [])

    post = manager.create_post(created.entity_id, name="Secret", entry="<p>s</p>", visibility_id=2)
    check.equal(f"{plural}: post", (post.name, post.entry, post.entity_id, post.visibility_id), ("Secret", "<p>s</p>", created.entity_id, 2))
    check.equal(f"{plural}: post over MCP", [(one["name"], one["is_private"]) for one in skald.get(campaign_id, created.entity_id)["posts"]], [("Secret", True)])
    post = manager.update_post(created.entity_id, post.id, name="Open", visibility_id=1)
    check.equal(f"{plural}: post updated", (post.name, post.entry, post.visibility_id), ("Open", "<p>s</p>", 1))
    check.equal(f"{plural}: post got", manager.get_post(created.entity_id, post.id).name, "Open")
    check.equal(f"{plural}: posts", [one.id for one in manager.list_posts(created.entity_id)], [post.id])
    manager.delete_post(created.entity_id, post.id)
    check.equal(f"{plural}: no posts", manager.list_posts(created.entity_id), [])

    [made] = skald.create(campaign_id, [{"entity_type": entity_type, "name": f"Made of {plural}", "entry": "# Title\n\n**bold**", "tags": ["North"], "is_private": False}])
    check.equal(f"{plural}: listed", [one.name for one in manager.list()], [f"Second of {plural}", f"Made of {plural}"])
    other = manager.list(name="made")[0]
    check.equal(f"{plural}: made over MCP", (other.entity_id, other.entry.strip()), (made, "<h1>Title</h1>\n<p><strong>bold</strong></p>"))
    check.equal(f"{plural}: by type", [one.name for one in manager.list(type="old")], [f"Second of {plural}"])
    check.equal(f"{plural}: by tag", [one.name for one in manager.list(tags=[tag.id])], [f"Second of {plural}"])
    check.equal(f"{plural}: by privacy", manager.list(is_private=True), [])

    manager.delete(created.id)
    check.equal(f"{plural}: deleted", [one.name for one in manager.list()], [f"Made of {plural}"])
    check.true(f"{plural}: deleted over MCP", not skald.get(campaign_id, created.entity_id)["success"])
    try:
        manager.get(created.id)
        check.true(f"{plural}: a deleted one is not found", False)
    except NotFoundError:
        check.true(f"{plural}: a deleted one is not found", True)


def drive_pages(check, client, skald, campaign_id):
    """More rows than a page has."""
    client.characters.create(name="Somebody else")
    names = [f"Name {number:03}" for number in range(MANY)]
    skald.create(campaign_id, [{"entity_type": "character", "name": name} for name in names])
    found, page = [], 1
    while True:
        found += [one.name for one in client.characters.list(page=page, name="Name ")]
        if not client.characters.has_next_page:
            break
        page += 1
    check.equal("pages of characters", (found, page), (names, 3))
    check.equal("meta", client.characters.pagination_meta["total"], MANY)
    check.equal("a page past the end", client.characters.list(page=9), [])
    tags = [client.tags.create(name=f"Tag {number}") for number in range(60)]
    check.equal("tags have pages", (len(client.tags.list(page=1)), len(client.tags.list(page=2)) >= 15), (45, True))
    check.equal("a tag", client.tags.get(tags[59].id).name, "Tag 59")
    check.equal("a tag of that name again", client.tags.create(name="tag 7").id, tags[7].id)


def drive(check):
    url = sys.argv[1]
    skald = connect(url)
    campaign_id, number = skald.new_campaign("Driven by python-kanka")
    client = KankaClient(token=os.environ["SKALD_TOKEN"], campaign_id=number)
    tag = client.tags.create(name="Elf")
    for entity_type, plural in TYPES.items():
        drive_type(check, client, skald, campaign_id, entity_type, plural, tag)
    check.equal("other kinds are empty", [client.families.list(), client.calendars.list()], [[], []])
    event = client.events.create(name="Flood", date="1203")
    check.equal("an event", client.events.get(event.id).date, "1203")
    drive_pages(check, client, skald, campaign_id)

    check.equal("search", [(one.name, one.type) for one in client.search("made of rac")], [("Made of races", "race")])
    entity = client.entity(event.entity_id)
    check.equal("an entity with its child", (entity["type"], entity["child"]["id"], entity["child_id"]), ("event", event.id, event.id))
    check.equal("entities by type", [one["name"] for one in client.entities(types=["race", "quest"])], ["Made of races", "Made of quests"])
    client.tags.update(tag.id, name="Elves")
    check.equal("a renamed tag", client.tags.get(tag.id).name, "Elves")
    client.tags.delete(tag.id)
    for refused, call in [
        (ValidationError, lambda: client.characters.create(name="")),
        (ValidationError, lambda: client.characters.create(name="x", tags=[999_999])),
        (NotFoundError, lambda: client.characters.get(999_999)),
        (NotFoundError, lambda: client.families.get(1)),
        (NotFoundError, lambda: KankaClient(token=client.token, campaign_id=1).characters.list()),
        (AuthenticationError, lambda: KankaClient(token="wrong", campaign_id=number).characters.list()),
    ]:
        try:
            call()
            check.true(f"{refused.__name__} is raised", False)
        except refused:
            check.true(f"{refused.__name__} is raised", True)


if __name__ == "__main__":
    Checks().run(drive)
