//! Tests of access tokens of an authorization server: metadata, challenges, scopes, and every token that is not right.

use ring::hmac;
use serde_json::{Value, json};
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, initialize, request};
use skald_testkit::{Client, Reply};

use crate::documented_campaign::create_campaign;
use crate::program_under_test::{Server, Surface, TestClient, World, code_and_status};
use crate::test_issuer::{SigningKey, TestIssuer, base64url, now};

const RESOURCE: &str = "https://skald.example";
const SUBJECT: &str = "auth|ana";

struct Setting {
    world: World,
    issuer: TestIssuer,
    key: SigningKey,
    server: Server,
}

impl Setting {
    fn new(key: SigningKey) -> Self {
        let world = World::sqlite();
        let issuer = TestIssuer::start(vec![key.jwk("first")]);
        link_subject(&world, &issuer, &["Ana", "--role", "gm"]);
        let server = world.serve(&["--oauth-issuer", &issuer.url(), "--oauth-resource", RESOURCE]);
        Self { world, issuer, key, server }
    }

    fn header(&self) -> Value {
        json!({"alg": self.key.algorithm(), "typ": "at+jwt", "kid": "first"})
    }

    fn claims(&self) -> Value {
        json!({
            "iss": self.issuer.url(),
            "sub": SUBJECT,
            "aud": format!("{RESOURCE}/mcp"),
            "iat": now(),
            "exp": now() + 600,
            "scope": "openid skald:gm",
        })
    }

    /// A right token, but for these claims. A claim that is null is left out.
    fn token(&self, other: &Value) -> String {
        let mut claims = self.claims();
        for (name, value) in other.as_object().expect("claims") {
            match value {
                Value::Null => drop(claims.as_object_mut().expect("claims").remove(name)),
                value => claims[name] = value.clone(),
            }
        }
        self.key.sign(&self.header(), &claims)
    }

    fn audited(&self) -> String {
        String::from_utf8_lossy(&self.world.run(&["audit", "list"]).stdout).into_owned()
    }

    fn get(&self, token: &str) -> Reply {
        let bearer = format!("Bearer {token}");
        Client::connect(self.server.address).send("GET", "/api/v1/campaigns", &[("Authorization", &bearer)], b"")
    }
}

/// Says who somebody of the issuer is here.
fn link_subject(world: &World, issuer: &TestIssuer, arguments: &[&str]) -> String {
    let given = ["token", "create", "--json", "--issuer", &issuer.url(), "--subject", SUBJECT];
    let output = world.run(&[&given, arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let created: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(created["token"], Value::Null, "whoever signs in elsewhere gets no token here");
    created["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_right_token_of_each_kind_is_let_in_on_every_surface() {
    for key in [SigningKey::ed25519(), SigningKey::p256(), SigningKey::rsa()] {
        let setting = Setting::new(key);
        let token = setting.token(&json!({}));
        let campaign_id = create_campaign(&mut setting.server.client_with(Surface::Rest, Some(&token), "test"));
        for surface in [Surface::Session, Surface::Stateless, Surface::Rest] {
            let mut client = setting.server.client_with(surface, Some(&token), "test");
            client.ok("campaign_read", &json!({"campaign_id": campaign_id}));
        }
        // A bridge asks over gRPC.
        let mut bridge = setting.server.bridge_command(&[]);
        bridge.env("SKALD_TOKEN", &token);
        TestClient::over_stdio(bridge).ok("campaign_read", &json!({"campaign_id": campaign_id}));
        for audience in [json!(RESOURCE), json!([format!("{RESOURCE}/"), "https://elsewhere.example"])] {
            assert_eq!(setting.get(&setting.token(&json!({"aud": audience}))).status, 200, "{audience}");
        }
        assert_eq!(setting.issuer.fetches(), 1, "keys are cached");
    }
}

#[test]
fn a_token_that_is_not_right_is_refused() {
    let setting = Setting::new(SigningKey::p256());
    let wrong_claims = [
        json!({"exp": now() - 120}),
        json!({"exp": null}),
        json!({"exp": "9999999999"}),
        json!({"exp": -1}),
        json!({"nbf": now() + 300}),
        json!({"nbf": "soon"}),
        json!({"aud": "https://elsewhere.example"}),
        json!({"aud": format!("{RESOURCE}.evil.example")}),
        json!({"aud": ["https://elsewhere.example"]}),
        json!({"aud": []}),
        json!({"aud": null}),
        json!({"iss": "https://elsewhere.example"}),
        json!({"iss": format!("{}/", setting.issuer.url())}),
        json!({"iss": [setting.issuer.url()]}),
        json!({"iss": null}),
        json!({"sub": null}),
        json!({"sub": ""}),
        json!({"sub": ["auth|ana"]}),
    ];
    let mut wrong: Vec<(String, String)> =
        wrong_claims.iter().map(|claims| (claims.to_string(), setting.token(claims))).collect();
    let right = setting.token(&json!({}));
    let parts: Vec<&str> = right.split('.').collect();
    let claims = base64url(setting.claims().to_string().as_bytes());
    let header = |header: Value| base64url(header.to_string().as_bytes());
    for algorithm in ["none", "None", "NONE", ""] {
        let head = header(json!({"alg": algorithm, "kid": "first"}));
        wrong.push((format!("alg {algorithm}"), format!("{head}.{claims}.")));
        wrong.push((format!("alg {algorithm} signed"), format!("{head}.{claims}.{}", parts[2])));
    }
    // The public key as a shared secret, in the forms that libraries have confused.
    let jwk = setting.key.jwk("first");
    let point = [base64url(b""), jwk["x"].to_string(), jwk["y"].to_string(), jwk.to_string()];
    for secret in &point {
        let message = format!("{}.{claims}", header(json!({"alg": "HS256", "kid": "first"})));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), message.as_bytes());
        wrong.push(("HS256".to_owned(), format!("{message}.{}", base64url(tag.as_ref()))));
    }
    let other_key = SigningKey::p256();
    wrong.push(("a stranger's key".to_owned(), other_key.sign(&setting.header(), &setting.claims())));
    let own_key = json!({"alg": "ES256", "kid": "first", "jwk": other_key.jwk("first")});
    wrong.push(("a key in the header".to_owned(), other_key.sign(&own_key, &setting.claims())));
    let remote = json!({"alg": "ES256", "kid": "first", "jku": "http://127.0.0.1:1/keys"});
    wrong.push(("a key elsewhere".to_owned(), other_key.sign(&remote, &setting.claims())));
    let unknown = json!({"alg": "ES256", "kid": "nobody's"});
    wrong.push(("an unknown key".to_owned(), setting.key.sign(&unknown, &setting.claims())));
    let other_algorithm = json!({"alg": "RS256", "kid": "first"});
    wrong.push(("another algorithm".to_owned(), setting.key.sign(&other_algorithm, &setting.claims())));
    let critical = json!({"alg": "ES256", "kid": "first", "crit": ["b64"], "b64": false});
    wrong.push(("an extension".to_owned(), setting.key.sign(&critical, &setting.claims())));
    wrong.push(("no signature".to_owned(), format!("{}.{}.", parts[0], parts[1])));
    wrong.push(("another's claims".to_owned(), {
        let mut claims = setting.claims();
        claims["sub"] = json!("auth|owner");
        format!("{}.{}.{}", parts[0], base64url(claims.to_string().as_bytes()), parts[2])
    }));
    wrong.push(("not a token".to_owned(), "a.b.c".to_owned()));
    wrong.push(("dots".to_owned(), "..".to_owned()));
    let answers: Vec<(u16, String)> = wrong
        .iter()
        .map(|(what, token)| {
            let reply = setting.get(token);
            assert_eq!(reply.status, 401, "{what}: {}", reply.text());
            let challenge = reply.header("www-authenticate").unwrap_or_default();
            assert!(challenge.starts_with("Bearer error=\"invalid_token\", resource_metadata=\""), "{challenge}");
            (reply.status, reply.text())
        })
        .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "one answer for all: {answers:?}");
    assert_eq!(setting.get(&right).status, 200, "and the right one is still right");
    assert!(setting.issuer.fetches() <= 2, "a made-up key is no reason to ask the issuer each time");
}

/// `ACCESS_TOKEN_BYTES_MAX` and `CLOCK_SKEW_SECONDS`.
#[test]
fn a_token_at_a_limit_is_taken_and_one_past_it_is_not() {
    let setting = Setting::new(SigningKey::ed25519());
    let most = skald_app::limits::ACCESS_TOKEN_BYTES_MAX;
    let token = |length: usize| setting.token(&json!({"padding": "x".repeat(length)}));
    let frame = token(0).len();
    // Base64 has no text of every length.
    let padded =
        |bytes: usize| (0..4).map(|more| token((bytes - frame) * 3 / 4 + more)).find(|token| token.len() == bytes);
    let at_most = (0..4).find_map(|less| padded(most - less)).expect("a token of that length");
    assert_eq!(setting.get(&at_most).status, 200);
    let past = (1..5).find_map(|more| padded(most + more)).expect("a token of that length");
    assert_eq!(setting.get(&past).status, 401);
    let skew = skald_app::limits::CLOCK_SKEW_SECONDS;
    assert_eq!(setting.get(&setting.token(&json!({"exp": now() - skew + 20}))).status, 200);
    assert_eq!(setting.get(&setting.token(&json!({"nbf": now() + skew - 20}))).status, 200);
    assert_eq!(setting.get(&setting.token(&json!({"exp": now() - skew - 5}))).status, 401);
    assert_eq!(setting.get(&setting.token(&json!({"nbf": now() + skew + 20}))).status, 401);
}

#[test]
fn a_client_is_led_to_the_authorization_server() {
    let setting = Setting::new(SigningKey::ed25519());
    let mut client = Client::connect(setting.server.address);
    let refused = client.send("POST", "/mcp", &[JSON], initialize("2025-11-25").to_string().as_bytes());
    assert_eq!(refused.status, 401);
    let mcp = format!("{RESOURCE}/.well-known/oauth-protected-resource/mcp");
    let expected = format!("Bearer scope=\"skald:read\", resource_metadata=\"{mcp}\"");
    assert_eq!(refused.header("www-authenticate"), Some(expected.as_str()));
    let root = format!("resource_metadata=\"{RESOURCE}/.well-known/oauth-protected-resource\"");
    let refused = client.send("GET", "/api/v1/campaigns", &[], b"");
    assert!(refused.header("www-authenticate").is_some_and(|value| value.ends_with(&root)));
    for (path, resource) in [("", RESOURCE.to_owned()), ("/mcp", format!("{RESOURCE}/mcp"))] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        // A host that the client chose is not repeated.
        let metadata = client.send("GET", &path, &[("X-Forwarded-Host", "evil.example")], b"");
        assert_eq!(metadata.status, 200);
        assert_eq!(
            metadata.json(),
            json!({
                "resource": resource,
                "resource_name": "Skald",
                "authorization_servers": [setting.issuer.url()],
                "scopes_supported": ["skald:read", "skald:write", "skald:gm"],
                "bearer_methods_supported": ["header"],
            })
        );
    }
}

#[test]
fn a_narrow_scope_is_told_which_one_it_needs() {
    let setting = Setting::new(SigningKey::ed25519());
    let reader = setting.token(&json!({"scope": "skald:read"}));
    let writer = setting.token(&json!({"scope": null, "scp": ["skald:write", "email"]}));
    let bearer = format!("Bearer {reader}");
    let create = json!({"name": "Mine", "gm_mode": "HUMAN"});
    let mcp = format!("{RESOURCE}/.well-known/oauth-protected-resource/mcp");
    let expected = format!("Bearer error=\"insufficient_scope\", scope=\"skald:gm\", resource_metadata=\"{mcp}\"");
    let mut client = Client::connect(setting.server.address);
    let sent = [JSON, ACCEPT_BOTH, ("Authorization", bearer.as_str())];
    let opened = client.send("POST", "/mcp", &sent, initialize("2025-11-25").to_string().as_bytes());
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    let call = request(3, "tools/call", &json!({"name": "campaign_create", "arguments": create}));
    let sent = [JSON, ACCEPT_BOTH, ("Authorization", bearer.as_str()), ("Mcp-Session-Id", session.as_str())];
    let refused = client.send("POST", "/mcp", &sent, call.to_string().as_bytes());
    assert_eq!((refused.status, refused.header("www-authenticate")), (403, Some(expected.as_str())));
    assert_eq!(refused.json()["id"], 3);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !setting.audited().contains("INSUFFICIENT_SCOPE") {
        assert!(std::time::Instant::now() < deadline, "a call past its scope is not in the audit");
    }
    let mut rest = setting.server.client_with(Surface::Rest, Some(&reader), "test");
    let fault = rest.call_refused("campaign_create", &create);
    assert_eq!((code_and_status(&fault).0, &fault["scope"]), ("INSUFFICIENT_SCOPE", &json!("skald:gm")));
    rest.ok("duality_rules_version", &json!({}));
    let mut rest = setting.server.client_with(Surface::Rest, Some(&writer), "test");
    rest.ok("roll", &json!({"expression": "1d6"}));
    rest.call_refused("campaign_create", &create);
    let nothing = setting.get(&setting.token(&json!({"scope": "openid email"})));
    assert_eq!(nothing.status, 403);
    assert!(nothing.header("www-authenticate").is_some_and(|value| value.contains("scope=\"skald:read\"")));
    // What the owner gave bounds what the authorization server may give.
    let listed = setting.world.run(&["token", "list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let id = listed.split_whitespace().next().expect("an id").to_owned();
    assert!(setting.world.run(&["token", "revoke", &id]).status.success());
    link_subject(&setting.world, &setting.issuer, &["Ana", "--role", "gm", "--scope", "read"]);
    let mut rest = setting.server.client_with(Surface::Rest, Some(&setting.token(&json!({}))), "test");
    assert_eq!(code_and_status(&rest.call_refused("roll", &json!({"expression": "1d6"}))).0, "INSUFFICIENT_SCOPE");
}

#[test]
fn whoever_is_not_linked_or_was_revoked_stays_out() {
    let setting = Setting::new(SigningKey::ed25519());
    let stranger = setting.get(&setting.token(&json!({"sub": "auth|stranger"})));
    assert_eq!(stranger.status, 403);
    assert!(stranger.text().contains("--subject"), "{}", stranger.text());
    let token = setting.token(&json!({}));
    let mut open = setting.server.client_with(Surface::Session, Some(&token), "test");
    open.ok("duality_rules_version", &json!({}));
    let listed = setting.world.run(&["token", "list"]);
    let id = String::from_utf8_lossy(&listed.stdout).split_whitespace().next().expect("an id").to_owned();
    assert!(setting.world.run(&["token", "revoke", &id]).status.success());
    assert_eq!(setting.get(&token).status, 403, "revoked here, whatever the issuer says");
    let again = setting.world.run(&["token", "create", "X", "--subject", SUBJECT]);
    assert!(!again.status.success(), "a subject needs an issuer");
}

#[test]
fn a_stolen_session_id_is_worth_nothing() {
    let setting = Setting::new(SigningKey::ed25519());
    let (other, _) = setting.world.create_token(&["Bo", "--role", "gm"]);
    let (ana, bo) = (format!("Bearer {}", setting.token(&json!({}))), format!("Bearer {other}"));
    let mut client = Client::connect(setting.server.address);
    let sent = [JSON, ACCEPT_BOTH, ("Authorization", ana.as_str())];
    let opened = client.send("POST", "/mcp", &sent, initialize("2025-11-25").to_string().as_bytes());
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    let list = request(4, "tools/list", &json!({})).to_string();
    for (authorization, expected) in [(Some(&bo), 404), (None, 401)] {
        let mut sent = vec![JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session.as_str())];
        sent.extend(authorization.map(|value| ("Authorization", value.as_str())));
        assert_eq!(client.send("POST", "/mcp", &sent, list.as_bytes()).status, expected);
        let cookie = format!("mcp_session={session}");
        let mut sent = vec![JSON, ACCEPT_BOTH, ("Cookie", cookie.as_str())];
        sent.extend(authorization.map(|value| ("Authorization", value.as_str())));
        assert_eq!(client.send("POST", "/mcp", &sent, list.as_bytes()).status, expected);
    }
}

#[test]
fn a_new_key_of_the_issuer_is_fetched_once_a_minute_at_most() {
    let world = World::sqlite();
    let (old, new) = (SigningKey::ed25519(), SigningKey::ed25519());
    let issuer = TestIssuer::start(Vec::new());
    link_subject(&world, &issuer, &["Ana"]);
    let server = world.serve(&["--oauth-issuer", &issuer.url(), "--oauth-resource", RESOURCE]);
    let setting = Setting { world, issuer, key: old, server };
    // The server has fetched no keys yet, so the rotation before its first token is seen at once.
    setting.issuer.set_keys(vec![setting.key.jwk("first"), new.jwk("second")]);
    let renewed = new.sign(&json!({"alg": "EdDSA", "kid": "second"}), &setting.claims());
    assert_eq!(setting.get(&renewed).status, 200);
    assert_eq!(setting.get(&setting.token(&json!({}))).status, 200);
    let third = SigningKey::ed25519();
    setting.issuer.set_keys(vec![third.jwk("third")]);
    let latest = third.sign(&json!({"alg": "EdDSA", "kid": "third"}), &setting.claims());
    for _ in 0..20 {
        assert_eq!(setting.get(&latest).status, 401);
    }
    assert_eq!(setting.issuer.fetches(), 1, "not before a minute has passed");
    let without_id = new.sign(&json!({"alg": "EdDSA"}), &setting.claims());
    assert_eq!(setting.get(&without_id).status, 401, "of two keys, a token has to name its own");
}

/// The holder of a token need not sign in again: nobody can say whether the token is right.
#[test]
fn without_the_keys_of_the_issuer_a_token_is_answered_soon_and_by_name() {
    let world = World::sqlite();
    world.create_token(&["Ana"]);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let issuer = format!("http://{}", silent.local_addr().expect("an address"));
    let server = world.serve(&["--oauth-issuer", &issuer, "--oauth-resource", RESOURCE]);
    let claims = json!({"iss": issuer, "sub": SUBJECT, "aud": RESOURCE, "exp": now() + 600, "scope": "skald:gm"});
    let token = SigningKey::ed25519().sign(&json!({"alg": "EdDSA", "kid": "first"}), &claims);
    let bearer = format!("Bearer {token}");
    let began = std::time::Instant::now();
    for _ in 0..3 {
        let mut client = Client::connect(server.address);
        let refused = client.send("GET", "/api/v1/campaigns", &[("Authorization", &bearer)], b"");
        assert_eq!((refused.status, refused.header("retry-after")), (503, Some("60")), "{}", refused.text());
        assert_eq!(refused.json()["error"]["code"], "UNAVAILABLE");
        assert_eq!(refused.header("www-authenticate"), None);
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(6), "{:?}", began.elapsed());
}

#[test]
fn a_server_says_what_is_wrong_with_its_options() {
    let world = World::sqlite();
    world.create_token(&["Ana"]);
    let refused = |arguments: &[&str]| {
        let output = world.run(&[&["serve", "--http-addr", "127.0.0.1:0"], arguments].concat());
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let issuer = "https://login.example";
    assert!(refused(&["--oauth-issuer", issuer]).contains("--oauth-resource"));
    for resource in ["skald.example", "https://skald.example/mcp", "https://", "https://a\"b"] {
        let words = refused(&["--oauth-issuer", issuer, "--oauth-resource", resource]);
        assert!(words.contains("is not an origin"), "{words}");
    }
    let words = refused(&["--oauth-issuer", "http://login.example", "--oauth-resource", RESOURCE]);
    assert!(words.contains("is not an https URL"), "{words}");
}

/// `JWKS_BYTES_MAX` and `JWKS_KEYS_MAX`: an issuer cannot fill the server's memory.
#[test]
fn a_document_of_keys_at_a_limit_is_read_and_one_past_it_is_not() {
    let (bytes, keys) = (skald_app::limits::JWKS_BYTES_MAX, skald_app::limits::JWKS_KEYS_MAX);
    for (padding, before, expected) in [(bytes, 0, 200), (bytes + 1, 0, 503), (0, keys - 1, 200), (0, keys, 401)] {
        let setting = Setting::new(SigningKey::ed25519());
        let others = (0..before).map(|number| SigningKey::ed25519().jwk(&format!("other-{number}")));
        setting.issuer.set_keys(others.chain([setting.key.jwk("first")]).collect());
        setting.issuer.pad_keys(padding);
        assert_eq!(setting.get(&setting.token(&json!({}))).status, expected, "{padding} bytes, {before} keys before");
    }
}
