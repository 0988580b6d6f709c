//! All limits of Skald, in one place. The reference page of the limits is generated from [`ALL`].

/// Dice specifications in one `roll_dice` call.
pub const DICE_SPECS_MAX: usize = 100;
/// Dice rolled by one call, over all its specifications.
pub const DICE_MAX: u32 = 1_000;
/// Sides of one die.
pub const DIE_SIDES_MAX: u32 = 1_000_000;
/// Characters of one dice expression.
pub const EXPRESSION_CHARS_MAX: usize = 500;
/// Levels of nesting in one dice expression.
pub const EXPRESSION_DEPTH_MAX: usize = 32;
/// The largest number that a dice expression may name.
pub const NUMBER_MAX: i64 = 1_000_000;
/// How often one die may explode.
pub const EXPLOSIONS_MAX: u32 = 20;
/// Dice that one roll of an expression rolls, explosions and rerolls included.
pub const DICE_THROWN_MAX: u32 = 25_000;
/// Rerolls of one die before it is drawn from the faces that are not rerolled.
pub const REROLLS_MAX: u32 = 20;
/// Rolls of one simulation that estimates odds.
pub const SIMULATED_ROLLS_MAX: u32 = 100_000;
/// How often a roll may be repeated by `NNx(…)`.
pub const REPEATS_MAX: u32 = 100;
/// Items of one set of rolls.
pub const SET_ITEMS_MAX: usize = 20;
/// Sides of the bonus die of a Duality roll.
pub const BONUS_DIE_SIDES_MAX: u32 = 20;
/// Actors of one group roll or opposed roll.
pub const GROUP_ROLL_ACTORS_MAX: usize = 20;
/// Characters of one name, except for names of universes and of things in them.
pub const NAME_CHARS_MAX: usize = 200;
/// Characters of one text: a theme, notes about an actor, a note of a session.
pub const TEXT_CHARS_MAX: usize = 10_000;
/// Bytes of all texts of one campaign: its name and theme, names of participants and sessions, names and notes of
/// actors.
pub const CAMPAIGN_TEXT_BYTES_MAX: usize = 20_000_000;
/// Participants of one campaign.
pub const PARTICIPANTS_MAX: usize = 1_000;
/// Actors of one campaign.
pub const ACTORS_MAX: usize = 10_000;
/// Trackers of one actor, of one participant, or of a campaign itself.
pub const TRACKERS_MAX: usize = 30;
/// The value, a bound or a change of a tracker, above or below zero.
pub const TRACKER_VALUE_MAX: u64 = 1_000_000_000;
/// Characters of the meaning of a tracker, or of the reason of a change.
pub const TRACKER_TEXT_CHARS_MAX: usize = 200;
/// Trackers that one call of `tracker` is about.
pub const TRACKER_CHANGES_MAX: usize = 50;
/// Traits of one actor.
pub const TRAITS_MAX: usize = 30;
/// Characters of the name or the text of a trait.
pub const TRAIT_CHARS_MAX: usize = 100;
/// Actors that one call creates or changes, and participants that one call creates.
pub const ACTORS_PER_CALL_MAX: usize = 50;
/// Play sessions of one campaign, ended ones included.
pub const PLAY_SESSIONS_MAX: usize = 10_000;
/// Notes of one campaign that were not taken back.
pub const NOTES_MAX: usize = 100_000;
/// Tags of one note.
pub const NOTE_TAGS_MAX: usize = 20;
/// Participants and actors that one note, tracker, roll or entity names as those who see it.
pub const VISIBLE_TO_MAX: usize = 50;
/// Characters of a tag.
pub const TAG_CHARS_MAX: usize = 50;
/// Characters of the entry of an entity or a post.
pub const ENTRY_CHARS_MAX: usize = 200_000;
/// Bytes of texts in one answer of whole entities; those after it are refused. The first is answered in any case.
pub const ENTITY_TEXTS_BYTES_MAX: usize = 8 * 1_024 * 1_024;
/// Items of one batch: entities or posts that one call creates, changes, reads or deletes.
pub const BATCH_ITEMS_MAX: usize = 100;
/// Rows that one call of `find_entities` answers, if all are asked for.
pub const FOUND_ROWS_MAX: usize = 10_000;
/// Requests that one token may send to the Kanka-compatible API in a minute, unless the command line says otherwise.
pub const KANKA_REQUESTS_PER_MINUTE: u32 = 90;
/// Rows of one page of a list of the Kanka-compatible API.
pub const KANKA_PAGE_ROWS: usize = 45;
/// Entities that one request to the Kanka-compatible API creates.
pub const KANKA_BULK_ENTITIES_MAX: usize = 20;
/// Ids, words or tags that one filter of such a list names.
pub const FILTER_TERMS_MAX: usize = 20;
/// Rows of one page of a list that programs read by page numbers.
pub const LISTED_ROWS_MAX: usize = 100;
/// Texts that fit a search and are ranked, the newest ones. Others follow in order of age.
pub const RANKED_HITS_MAX: usize = 2_000;
/// Characters of the part of a text that a search shows.
pub const SNIPPET_CHARS_MAX: usize = 160;
/// Entities that one call of `check_entity_updates` asks about.
pub const CHECKED_ENTITIES_MAX: usize = 10_000;
/// Entities in the lore of one campaign, archived ones included.
pub const LORE_ENTITIES_MAX: usize = 200_000;
/// Posts in the lore of one campaign, archived ones included.
pub const LORE_POSTS_MAX: usize = 1_000_000;
/// Posts of one entity of the lore, archived ones included.
pub const LORE_ENTITY_POSTS_MAX: usize = 200;
/// Different tags in the lore of one campaign.
pub const LORE_CAMPAIGN_TAGS_MAX: usize = 10_000;
/// Tags of one entity of the lore.
pub const LORE_TAGS_MAX: usize = 50;
/// Aliases of one entity of the lore.
pub const LORE_ALIASES_MAX: usize = 50;
/// Entities that one text of the lore mentions.
pub const LORE_MENTIONS_MAX: usize = 1_000;
/// Characters of the address of an entity's image.
pub const LORE_IMAGE_CHARS_MAX: usize = 2_000;
/// Characters of the name or the hash of what an entity was imported from.
pub const LORE_SOURCE_CHARS_MAX: usize = 1_000;
/// The highest number of an entity or a post that comes from elsewhere with its number.
pub const LORE_ID_MAX: u64 = 4_294_967_294;
/// Bytes of names, aliases and other short texts in the lore of one campaign; each mention counts as eight.
pub const LORE_HEAD_BYTES_MAX: usize = 100_000_000;
/// Conflicts of one campaign's canon that are not resolved.
pub const LORE_OPEN_CONFLICTS_MAX: usize = 1_000;
/// Resolved conflicts that are listed. Older ones are in the journal alone.
pub const LORE_RESOLVED_CONFLICTS_MAX: usize = 10_000;
/// Findings of a check of the canon that were acknowledged or resolved.
pub const LORE_REVIEWS_MAX: usize = 10_000;
/// How often one conflict is acknowledged, resolved and reopened.
pub const CANON_LOG_MAX: usize = 50;
/// Characters of the reason of a decision about canon.
pub const CANON_REASON_CHARS_MAX: usize = 2_000;
/// Relationships between the entities of a campaign.
pub const LORE_RELATIONSHIPS_MAX: usize = 200_000;
/// The word of a relationship, such as `parent_of`.
pub const RELATION_CHARS_MAX: usize = 50;
pub const RELATIONSHIP_DESCRIPTION_CHARS_MAX: usize = 500;
pub const RELATIONSHIP_STRENGTH_MAX: u8 = 10;
/// How far a map of relationships goes.
pub const RELATIONSHIP_DEPTH_MAX: usize = 5;
/// How long a path between two entities may be.
pub const RELATIONSHIP_PATH_MAX: usize = 20;
/// Written events on the timeline of a campaign.
pub const LORE_TIMELINE_EVENTS_MAX: usize = 100_000;
/// What is held in memory of the description of an event.
pub const TIMELINE_SUMMARY_CHARS_MAX: usize = 300;
pub const TIMELINE_DESCRIPTION_CHARS_MAX: usize = 10_000;
pub const TIMELINE_ENTITIES_MAX: usize = 100;
/// Campaigns that one token leads. This limit and the next three do not apply to the owner.
pub const CAMPAIGNS_PER_TOKEN_MAX: usize = 10_000;
/// Universes of one campaign, or of none.
pub const UNIVERSES_PER_CAMPAIGN_MAX: usize = 1_000;
/// Runs of one campaign, or of none.
pub const RUNS_PER_CAMPAIGN_MAX: usize = 10_000;
/// Versions of processes that one token submits.
pub const PROCESS_VERSIONS_PER_TOKEN_MAX: usize = 1_000;
/// Calls a minute of one token, unless the command line or the token says otherwise. As many may come at once.
pub const CALLS_PER_MINUTE: u32 = 60;
/// Reads of resources a minute of one token.
pub const READS_PER_MINUTE: u32 = 100;
/// Lists a minute of one token.
pub const LISTS_PER_MINUTE: u32 = 10;
/// Requests of the web page a minute: what one person types into its search, and what follows an event on several screens.
pub const PAGE_REQUESTS_PER_MINUTE: u32 = 600;
/// Lists of one token that may come at once: a client that connects asks for several.
pub const LIST_BURST: u32 = 30;
/// Rows a minute that refused strangers get in the audit log: who tries tokens from many addresses cannot fill it.
pub const REFUSED_ENTRIES_AUDITED_PER_MINUTE: usize = 32;
/// Bytes of an access token of an authorization server.
pub const ACCESS_TOKEN_BYTES_MAX: usize = 8_192;
/// Seconds by which the clocks of the server and of an authorization server may differ.
pub const CLOCK_SKEW_SECONDS: u64 = 60;
/// Bytes of a document of an authorization server, such as its keys.
pub const JWKS_BYTES_MAX: usize = 262_144;
/// Keys of an authorization server that are read.
pub const JWKS_KEYS_MAX: usize = 100;
/// Bytes of a request that redeems an invitation, which needs no token.
pub const REDEEM_BODY_BYTES_MAX: usize = 1_024;
/// Browsers that are signed in to the page with one token; past it, the one that signed in first is signed out.
pub const PAGE_SESSIONS_PER_TOKEN_MAX: usize = 20;
/// Days after which a browser has to sign in again.
pub const PAGE_SESSION_DAYS: u64 = 30;
/// Bytes of a form of the page.
pub const PAGE_FORM_BYTES_MAX: usize = 1_048_576;
/// Characters of an id that a caller chose: of a universe, or of anything in it.
pub const ID_CHARS_MAX: usize = 200;

/// Whether a text has more characters than an id may have. It reads no further than that.
pub fn is_longer_than_id(text: &str) -> bool {
    text.chars().nth(ID_CHARS_MAX).is_some()
}

/// Characters of the name of a universe, or of anything in it.
pub const UNIVERSE_NAME_CHARS_MAX: usize = 300;
/// Universes that `GET /universes` answers at once, unless a page is asked for.
pub const UNIVERSES_LISTED_MAX: usize = 10_000;
/// Bodies of one universe.
pub const BODIES_MAX: usize = 100_000;
/// Groups of one universe.
pub const GROUPS_MAX: usize = 10_000;
/// Children of all groups of one universe, in total.
pub const GROUP_PLACES_MAX: usize = 200_000;
/// Belts, small body fields, protoplanetary disks and nebulae of one universe, of each kind.
pub const REGIONS_MAX: usize = 10_000;
/// Bytes of the extensions of one thing in a universe.
pub const EXTENSIONS_BYTES_MAX: usize = 10_000;
/// Bytes of all texts of one universe: the ids, names, colours and extensions of what is in it.
pub const UNIVERSE_TEXT_BYTES_MAX: usize = 20_000_000;
/// Commands to a universe that are sent together.
pub const COMMANDS_MAX: usize = 100;
/// Events that a reader of a universe's commands may fall behind.
pub const EVENTS_BEHIND_MAX: usize = 4_096;
/// Seconds between two heartbeats on the event stream of a universe.
pub const HEARTBEAT_SECONDS: u64 = 15;
/// Seconds without write progress after which a stalled client is disconnected.
pub const STALLED_SECONDS: u64 = 30;
/// A universe with at most this many things is returned whole in the answer to a command.
pub const ANSWERED_STATE_MAX: usize = 200;
/// Repairs of one state that an answer lists.
pub const REPAIRS_TOLD_MAX: usize = 100;
/// Bytes of commands in an answer that put back what a command to a universe removed.
pub const PUT_BACK_BYTES_MAX: usize = 8_000;
/// Bytes of one process file.
pub const PROCESS_BYTES_MAX: usize = 262_144;
/// Values in one process file, with aliases expanded.
pub const PROCESS_NODES_MAX: usize = 20_000;
/// Nested lists and mappings in one process file.
pub const PROCESS_DEPTH_MAX: usize = 32;
/// Characters of one guard expression.
pub const GUARD_EXPRESSION_CHARS_MAX: usize = 2_000;
/// What evaluating one guard expression may cost: about the bytes it touches.
pub const GUARD_COST_MAX: u64 = 10_000_000;
/// Different words and headings that all guards of one process look for.
pub const GUARD_WORDS_MAX: usize = 50;
/// Bytes of the payload of one event, as JSON.
pub const PAYLOAD_BYTES_MAX: usize = 100_000;
/// Bytes of the context of one run, as JSON.
pub const CONTEXT_BYTES_MAX: usize = 1_000_000;
/// Artifacts that one event submits.
pub const ARTIFACTS_SUBMITTED_MAX: usize = 100;
/// Artifacts of one run.
pub const ARTIFACTS_MAX: usize = 100_000;
/// Bytes of one artifact that is handed in with an event.
pub const INLINE_BYTES_MAX: usize = 1_000_000;
/// Bytes of all content that is handed in to one run.
pub const INLINE_RUN_BYTES_MAX: u64 = 50_000_000;
/// Bytes of all content that is handed in to the runs of one campaign.
pub const INLINE_CAMPAIGN_BYTES_MAX: u64 = 500_000_000;
/// Refused attempts of one run that are stored one by one; past this, the oldest are summed up.
pub const ATTEMPTS_MAX: usize = 1_000;
/// Bytes of the path of one artifact.
pub const ARTIFACT_PATH_BYTES_MAX: usize = 1_000;
/// Bytes of the file of one artifact.
pub const ARTIFACT_BYTES_MAX: u64 = 100_000_000;
/// Bytes of an artifact's file up to which its content is parsed as JSON or shown; of a longer one, guards measure so
/// much from its beginning.
pub const ARTIFACT_CONTENT_BYTES_MAX: u64 = 1_000_000;
/// Bytes of one request body or of one line on stdio.
pub const BODY_BYTES_MAX: usize = 10_485_760;
/// Bytes of a small request body, which is read without waiting for others.
pub const SMALL_BODY_BYTES_MAX: usize = 65_536;
/// Bytes of larger request bodies that are read and worked on at once, over the whole process; others wait.
pub const LARGE_BODIES_BYTES_MAX: usize = 12_582_912;
/// Values in larger request bodies that are worked on at once, over the whole process; others wait.
pub const LARGE_BODIES_VALUES_MAX: usize = JSON_VALUES_MAX;
/// Bytes of all gRPC answers larger than a small body that are sent at once.
pub const LARGE_ANSWERS_BYTES_MAX: usize = 50_000_000;
/// Seconds that a client may take to receive such an answer.
pub const ANSWER_SECONDS: u64 = 120;
/// Bytes of a gRPC message, except for `skald.v1.Gateway/Call`, which has the limit of a request body.
pub const TYPED_MESSAGE_BYTES_MAX: usize = 262_144;
/// Seconds within which a request body must arrive.
pub const BODY_READ_SECONDS: u64 = 30;
/// Connections that one port holds.
pub const CONNECTIONS_MAX: usize = 10_000;
/// Seconds after connecting, or after an answer, within which the headers of the next request must arrive.
pub const HEADERS_READ_SECONDS: u64 = 30;
/// Bytes of the headers of one HTTP request, and of the read buffer of a connection.
pub const HEADERS_BYTES_MAX: usize = 16_384;
/// Seconds for the handshake of a gRPC connection.
pub const HANDSHAKE_SECONDS: u64 = 10;
/// Nested arrays and objects in one JSON document.
pub const JSON_DEPTH_MAX: usize = 64;
/// Values in one JSON document: numbers, texts, arrays, objects. An array counts as three, an object as six.
pub const JSON_VALUES_MAX: usize = 1_000_000;
/// Values in one MCP message, which takes more to read than other JSON.
pub const MESSAGE_VALUES_MAX: usize = 300_000;
/// Live MCP sessions of one process.
pub const SESSIONS_MAX: usize = 1_024;
/// Live MCP sessions of one principal on one process: a quarter of all, so that one principal cannot use them up.
pub const SESSIONS_PER_PRINCIPAL_MAX: usize = SESSIONS_MAX / 4;
/// Bytes of an `initialize`, which its session keeps.
pub const INITIALIZE_BYTES_MAX: usize = 16_384;
/// Bytes of one text in an `initialize`, such as the client's name.
pub const CLIENT_TEXT_BYTES_MAX: usize = 1_024;
/// Bytes of the URI of a resource.
pub const URI_BYTES_MAX: usize = 2_048;
/// Seconds after which an idle MCP session ends.
pub const SESSION_IDLE_SECONDS: u64 = 3_600;
/// Resources one MCP session or one `subscriptions/listen` may watch.
pub const SUBSCRIPTIONS_MAX: usize = 256;
/// Contexts of clients without a session that are stored for one principal; past this, the oldest is dropped.
pub const CONTEXTS_MAX: usize = 256;
/// Values one completion answers.
pub const COMPLETIONS_MAX: usize = 100;
/// Characters of an idempotency key.
pub const KEY_CHARS_MAX: usize = 200;
/// Records of a campaign that one call looks through for events; the cursor of its answer goes on from there.
pub const EVENTS_SCANNED_MAX: usize = 5_000;
/// Bytes of events, as JSON, that make a page full before it has all its rows.
pub const EVENTS_PAGE_BYTES_MAX: usize = 32_000;
/// Rows of one page of a list, unless fewer or more are asked for.
pub const PAGE_DEFAULT: usize = 50;
/// Rows of one page of a list.
pub const PAGE_MAX: usize = 200;
/// Maximum number of rows that a filter of a list drops before a page ends early, with a cursor.
pub const UNWANTED_ROWS_READ_MAX: usize = 2_000;
/// Seconds that a call waits for the database before it fails as unavailable.
pub const DATABASE_WAIT_SECONDS: u64 = 5;
/// Seconds a stopping server gives to the answers it has begun.
pub const SHUTDOWN_GRACE_SECONDS: u64 = 10;

/// One row of the reference page.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    pub what: &'static str,
    pub value: u64,
    pub unit: &'static str,
}

const fn limit(what: &'static str, value: u64, unit: &'static str) -> Limit {
    Limit { what, value, unit }
}

/// The limits in the order of the reference page.
pub const ALL: &[Limit] = &[
    limit("dice specifications in one call", DICE_SPECS_MAX as u64, "specifications"),
    limit("dice rolled by one call", DICE_MAX as u64, "dice"),
    limit("sides of one die", DIE_SIDES_MAX as u64, "sides"),
    limit("one dice expression", EXPRESSION_CHARS_MAX as u64, "characters"),
    limit("nesting of one dice expression", EXPRESSION_DEPTH_MAX as u64, "levels"),
    limit("a number in a dice expression", NUMBER_MAX as u64, ""),
    limit("explosions of one die", EXPLOSIONS_MAX as u64, "explosions"),
    limit("dice of one roll, with explosions and rerolls", DICE_THROWN_MAX as u64, "dice"),
    limit("rerolls of one die", REROLLS_MAX as u64, "rerolls"),
    limit("rolls from which odds are estimated", SIMULATED_ROLLS_MAX as u64, "rolls"),
    limit("repetitions of one roll", REPEATS_MAX as u64, "repetitions"),
    limit("items of one set of rolls", SET_ITEMS_MAX as u64, "items"),
    limit("sides of the bonus die of a Duality roll", BONUS_DIE_SIDES_MAX as u64, "sides"),
    limit("actors of one group roll or opposed roll", GROUP_ROLL_ACTORS_MAX as u64, "actors"),
    limit("one name, or the reason of a roll", NAME_CHARS_MAX as u64, "characters"),
    limit("a theme, notes about an actor, a note of a session", TEXT_CHARS_MAX as u64, "characters"),
    limit("names, themes and notes about actors of one campaign", CAMPAIGN_TEXT_BYTES_MAX as u64, "bytes"),
    limit("participants of one campaign", PARTICIPANTS_MAX as u64, "participants"),
    limit("actors of one campaign", ACTORS_MAX as u64, "actors"),
    limit("trackers of one actor, of one participant, or of a campaign itself", TRACKERS_MAX as u64, "trackers"),
    limit("the value, a bound or a change of a tracker, above or below zero", TRACKER_VALUE_MAX, ""),
    limit("meaning of a tracker, or reason of a change", TRACKER_TEXT_CHARS_MAX as u64, "characters"),
    limit("trackers in one call", TRACKER_CHANGES_MAX as u64, "trackers"),
    limit("traits of one actor", TRAITS_MAX as u64, "traits"),
    limit("the name or the text of a trait", TRAIT_CHARS_MAX as u64, "characters"),
    limit("actors or participants created or changed by one call", ACTORS_PER_CALL_MAX as u64, "items"),
    limit("play sessions of one campaign", PLAY_SESSIONS_MAX as u64, "sessions"),
    limit("notes of one campaign", NOTES_MAX as u64, "notes"),
    limit("tags of one note", NOTE_TAGS_MAX as u64, "tags"),
    limit("people whom one visible_to names", VISIBLE_TO_MAX as u64, "people"),
    limit("a tag", TAG_CHARS_MAX as u64, "characters"),
    limit("entry of an entity or a post", ENTRY_CHARS_MAX as u64, "characters"),
    limit("texts in one answer of whole entities", ENTITY_TEXTS_BYTES_MAX as u64, "bytes"),
    limit("entities or posts of one call", BATCH_ITEMS_MAX as u64, "items"),
    limit("rows that find_entities answers at once", FOUND_ROWS_MAX as u64, "rows"),
    limit("requests of one token to the Kanka-compatible API", KANKA_REQUESTS_PER_MINUTE as u64, "a minute"),
    limit("rows of a page of the Kanka-compatible API", KANKA_PAGE_ROWS as u64, "rows"),
    limit("entities that one request to the Kanka-compatible API creates", KANKA_BULK_ENTITIES_MAX as u64, "entities"),
    limit("ids, words or tags in a filter of a list that programs read", FILTER_TERMS_MAX as u64, "terms"),
    limit("rows of a page that programs read by its number", LISTED_ROWS_MAX as u64, "rows"),
    limit("texts that a search ranks", RANKED_HITS_MAX as u64, "texts"),
    limit("part of a text that a search shows", SNIPPET_CHARS_MAX as u64, "characters"),
    limit("entities of one check_entity_updates", CHECKED_ENTITIES_MAX as u64, "entities"),
    limit("entities in the lore of one campaign", LORE_ENTITIES_MAX as u64, "entities"),
    limit("posts in the lore of one campaign", LORE_POSTS_MAX as u64, "posts"),
    limit("posts of one entity", LORE_ENTITY_POSTS_MAX as u64, "posts"),
    limit("tags in the lore of one campaign", LORE_CAMPAIGN_TAGS_MAX as u64, "tags"),
    limit("tags of one entity", LORE_TAGS_MAX as u64, "tags"),
    limit("aliases of one entity", LORE_ALIASES_MAX as u64, "aliases"),
    limit("entities that one text mentions", LORE_MENTIONS_MAX as u64, "entities"),
    limit("address of an entity's image", LORE_IMAGE_CHARS_MAX as u64, "characters"),
    limit("name or hash of what an entity was imported from", LORE_SOURCE_CHARS_MAX as u64, "characters"),
    limit("number of an entity or a post that comes from elsewhere", LORE_ID_MAX, ""),
    limit("open conflicts in the canon of one campaign", LORE_OPEN_CONFLICTS_MAX as u64, "conflicts"),
    limit("resolved conflicts that are listed", LORE_RESOLVED_CONFLICTS_MAX as u64, "conflicts"),
    limit("findings that were acknowledged or resolved", LORE_REVIEWS_MAX as u64, "findings"),
    limit("decisions about one conflict", CANON_LOG_MAX as u64, "decisions"),
    limit("reason of a decision about canon", CANON_REASON_CHARS_MAX as u64, "characters"),
    limit("names, aliases and other short texts of one campaign's lore", LORE_HEAD_BYTES_MAX as u64, "bytes"),
    limit("relationships in the lore of one campaign", LORE_RELATIONSHIPS_MAX as u64, "relationships"),
    limit("word of a relationship", RELATION_CHARS_MAX as u64, "characters"),
    limit("description of a relationship", RELATIONSHIP_DESCRIPTION_CHARS_MAX as u64, "characters"),
    limit("strength of a relationship", RELATIONSHIP_STRENGTH_MAX as u64, ""),
    limit("depth of a map of relationships", RELATIONSHIP_DEPTH_MAX as u64, "relationships"),
    limit("length of a path of relationships", RELATIONSHIP_PATH_MAX as u64, "relationships"),
    limit("written events on the timeline of one campaign", LORE_TIMELINE_EVENTS_MAX as u64, "events"),
    limit("description of a timeline event", TIMELINE_DESCRIPTION_CHARS_MAX as u64, "characters"),
    limit("beginning of a longer one that lists show", TIMELINE_SUMMARY_CHARS_MAX as u64, "characters"),
    limit("entities of one timeline event", TIMELINE_ENTITIES_MAX as u64, "entities"),
    limit("campaigns that one token leads", CAMPAIGNS_PER_TOKEN_MAX as u64, "campaigns"),
    limit("universes that tokens create in one campaign", UNIVERSES_PER_CAMPAIGN_MAX as u64, "universes"),
    limit("runs that tokens create in one campaign", RUNS_PER_CAMPAIGN_MAX as u64, "runs"),
    limit("versions of processes that one token submits", PROCESS_VERSIONS_PER_TOKEN_MAX as u64, "versions"),
    limit("calls of one token, unless it has a limit of its own", CALLS_PER_MINUTE as u64, "a minute"),
    limit("reads of resources of one token, unless it has a limit of its own", READS_PER_MINUTE as u64, "a minute"),
    limit("lists of one token, unless it has a limit of its own", LISTS_PER_MINUTE as u64, "a minute"),
    limit("requests of one person to the web page", PAGE_REQUESTS_PER_MINUTE as u64, "a minute"),
    limit("lists of one token that come at once", LIST_BURST as u64, "lists"),
    limit("refused strangers in the audit log", REFUSED_ENTRIES_AUDITED_PER_MINUTE as u64, "rows a minute"),
    limit("an access token of an authorization server", ACCESS_TOKEN_BYTES_MAX as u64, "bytes"),
    limit("difference of clocks that an access token is forgiven", CLOCK_SKEW_SECONDS, "seconds"),
    limit("the keys of an authorization server, in one document", JWKS_BYTES_MAX as u64, "bytes"),
    limit("keys of an authorization server", JWKS_KEYS_MAX as u64, "keys"),
    limit("a request that redeems an invitation", REDEEM_BODY_BYTES_MAX as u64, "bytes"),
    limit("browsers signed in to the page with one token", PAGE_SESSIONS_PER_TOKEN_MAX as u64, "browsers"),
    limit("how long a browser stays signed in to the page", PAGE_SESSION_DAYS, "days"),
    limit("a form of the page", PAGE_FORM_BYTES_MAX as u64, "bytes"),
    limit("an id that a caller chose", ID_CHARS_MAX as u64, "characters"),
    limit("a name of a universe, or of anything in it", UNIVERSE_NAME_CHARS_MAX as u64, "characters"),
    limit("universes in one answer of GET /universes", UNIVERSES_LISTED_MAX as u64, "universes"),
    limit("bodies of one universe", BODIES_MAX as u64, "bodies"),
    limit("groups of one universe", GROUPS_MAX as u64, "groups"),
    limit("places in the groups of one universe", GROUP_PLACES_MAX as u64, "places"),
    limit("belts, fields, disks or nebulae of one universe", REGIONS_MAX as u64, "of each kind"),
    limit("extensions of one thing in a universe", EXTENSIONS_BYTES_MAX as u64, "bytes"),
    limit("ids, names, colours and extensions of one universe", UNIVERSE_TEXT_BYTES_MAX as u64, "bytes"),
    limit("commands to a universe sent together", COMMANDS_MAX as u64, "commands"),
    limit("a reader of a universe's commands behind the last", EVENTS_BEHIND_MAX as u64, "events"),
    limit("time between two signs of life to such a reader", HEARTBEAT_SECONDS, "seconds"),
    limit("time for which a client may take nothing of what it is sent", STALLED_SECONDS, "seconds"),
    limit("a universe whose whole state answers a command", ANSWERED_STATE_MAX as u64, "bodies and other things"),
    limit("repairs of a universe's state that an answer lists", REPAIRS_TOLD_MAX as u64, "repairs"),
    limit("commands in an answer that put back what left a universe", PUT_BACK_BYTES_MAX as u64, "bytes"),
    limit("one process file", PROCESS_BYTES_MAX as u64, "bytes"),
    limit("values in one process file, aliases written out", PROCESS_NODES_MAX as u64, "values"),
    limit("nesting of one process file", PROCESS_DEPTH_MAX as u64, "levels"),
    limit("one guard expression", GUARD_EXPRESSION_CHARS_MAX as u64, "characters"),
    limit("evaluating one guard expression", GUARD_COST_MAX, "bytes touched"),
    limit("words and headings that the guards of one process look for", GUARD_WORDS_MAX as u64, "words"),
    limit("payload of one event of a run", PAYLOAD_BYTES_MAX as u64, "bytes"),
    limit("context of one run", CONTEXT_BYTES_MAX as u64, "bytes"),
    limit("artifacts submitted by one event", ARTIFACTS_SUBMITTED_MAX as u64, "artifacts"),
    limit("artifacts of one run", ARTIFACTS_MAX as u64, "artifacts"),
    limit("an artifact handed in with an event", INLINE_BYTES_MAX as u64, "bytes"),
    limit("all content handed in to one run", INLINE_RUN_BYTES_MAX, "bytes"),
    limit("all content handed in to the runs of one campaign", INLINE_CAMPAIGN_BYTES_MAX, "bytes"),
    limit("refused attempts of one run that are kept one by one", ATTEMPTS_MAX as u64, "attempts"),
    limit("path of one artifact", ARTIFACT_PATH_BYTES_MAX as u64, "bytes"),
    limit("file of one artifact", ARTIFACT_BYTES_MAX, "bytes"),
    limit("file of an artifact that is shown, read as JSON, or measured whole", ARTIFACT_CONTENT_BYTES_MAX, "bytes"),
    limit("one request body, or one line on stdio", BODY_BYTES_MAX as u64, "bytes"),
    limit("a request body that waits for no other", SMALL_BODY_BYTES_MAX as u64, "bytes"),
    limit("larger request bodies read at once", LARGE_BODIES_BYTES_MAX as u64, "bytes"),
    limit("values in larger request bodies worked on at once", LARGE_BODIES_VALUES_MAX as u64, "values"),
    limit("large answers over gRPC sent at once", LARGE_ANSWERS_BYTES_MAX as u64, "bytes"),
    limit("a large answer over gRPC must have been taken within", ANSWER_SECONDS, "seconds"),
    limit("a gRPC message, except for that of Gateway/Call", TYPED_MESSAGE_BYTES_MAX as u64, "bytes"),
    limit("a request body must have come within", BODY_READ_SECONDS, "seconds"),
    limit("connections to one port", CONNECTIONS_MAX as u64, "connections"),
    limit(
        "the headers of the next request must have come within, or an idle connection ends",
        HEADERS_READ_SECONDS,
        "seconds",
    ),
    limit("headers of one HTTP request", HEADERS_BYTES_MAX as u64, "bytes"),
    limit("the handshake of a gRPC connection must have come within", HANDSHAKE_SECONDS, "seconds"),
    limit("nesting of one JSON document", JSON_DEPTH_MAX as u64, "levels"),
    limit(
        "values in one JSON document, an array counting as three, an object as six",
        JSON_VALUES_MAX as u64,
        "values",
    ),
    limit("values in one MCP message", MESSAGE_VALUES_MAX as u64, "values"),
    limit("live MCP sessions of one process", SESSIONS_MAX as u64, "sessions"),
    limit("live MCP sessions of one principal", SESSIONS_PER_PRINCIPAL_MAX as u64, "sessions"),
    limit("an initialize of an MCP client", INITIALIZE_BYTES_MAX as u64, "bytes"),
    limit("one text in it", CLIENT_TEXT_BYTES_MAX as u64, "bytes"),
    limit("URI of a resource", URI_BYTES_MAX as u64, "bytes"),
    limit("an idle MCP session ends after", SESSION_IDLE_SECONDS, "seconds"),
    limit("resources watched by one subscriber", SUBSCRIPTIONS_MAX as u64, "resources"),
    limit("contexts kept for the clients of one principal", CONTEXTS_MAX as u64, "contexts"),
    limit("values in one completion", COMPLETIONS_MAX as u64, "values"),
    limit("an idempotency key", KEY_CHARS_MAX as u64, "characters"),
    limit("records that one call looks through for a campaign's events", EVENTS_SCANNED_MAX as u64, "records"),
    limit("events that make a page full before it has all its rows", EVENTS_PAGE_BYTES_MAX as u64, "bytes"),
    limit("rows of one page of a list", PAGE_MAX as u64, "rows"),
    limit("rows that a filter drops before a page of a list ends early", UNWANTED_ROWS_READ_MAX as u64, "rows"),
    limit("rows of one page, unless fewer or more are asked for", PAGE_DEFAULT as u64, "rows"),
    limit("time for which a call waits for the database", DATABASE_WAIT_SECONDS, "seconds"),
    limit("time a stopping server gives to begun answers", SHUTDOWN_GRACE_SECONDS, "seconds"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_measured_in_characters() {
        for letter in ["x", "é", "🪐"] {
            assert!(!is_longer_than_id(&letter.repeat(ID_CHARS_MAX)), "{letter}");
            assert!(is_longer_than_id(&letter.repeat(ID_CHARS_MAX + 1)), "{letter}");
        }
    }
}
