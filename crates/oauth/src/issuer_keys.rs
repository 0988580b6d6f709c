//! The keys of the issuer: fetched over HTTPS, cached, and fetched again when a token names a key that is not known.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use skald_app::limits;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How soon keys are fetched again, whatever tokens name: a flood of tokens with made-up keys is no flood of requests to
/// the issuer.
const REFETCH_INTERVAL: Duration = Duration::from_mins(1);
/// How long keys are used before they are fetched again: a key that the issuer withdrew ends then.
const KEYS_LIFETIME: Duration = Duration::from_hours(1);
/// How long keys count beyond their lifetime while the issuer cannot be reached. Tokens that it gave out before it went
/// away live about that long. Without an end, whoever keeps the issuer from being reached would keep a withdrawn key valid.
const UNREACHABLE_GRACE: Duration = Duration::from_hours(1);
/// How long an issuer has for each answer.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
/// Documents in which an issuer says where its keys are, below its address.
const METADATA_PATHS: [&str; 2] = [".well-known/openid-configuration", ".well-known/oauth-authorization-server"];

/// The keys that an issuer publishes.
pub(crate) struct IssuerKeys {
    issuer: Url,
    /// Where the keys are; asked of the issuer if `None`.
    jwks: Option<Url>,
    client: Client,
    fetched: RwLock<Arc<FetchedKeys>>,
    /// When they were fetched last, or were tried to be. Held while they are fetched, so that one request fetches for all.
    last_fetch: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct FetchedKeys {
    keys: Vec<Jwk>,
    at: Option<Instant>,
}

impl FetchedKeys {
    fn find(&self, key_id: Option<&str>) -> Option<Jwk> {
        let mut fitting = self.keys.iter().filter(|key| match key_id {
            Some(id) => key.common.key_id.as_deref() == Some(id),
            None => true,
        });
        // A token that names no key is only taken where there is one.
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Some(key.clone()),
            _ => None,
        }
    }

    fn is_younger_than(&self, age: Duration) -> bool {
        self.at.is_some_and(|at| at.elapsed() < age)
    }
}

impl IssuerKeys {
    pub(crate) fn new(issuer: &str, jwks: Option<&str>) -> Result<Self, String> {
        Ok(Self {
            issuer: parse_url(issuer)?,
            jwks: jwks.map(parse_url).transpose()?,
            client: http_client()?,
            fetched: RwLock::default(),
            last_fetch: Mutex::new(None),
        })
    }

    /// The key that a token names; `None` if the issuer has no such key, or could not be reached for too long.
    pub(crate) async fn find(&self, key_id: Option<&str>) -> Option<Jwk> {
        let known = self.fetched();
        if let Some(key) = known.find(key_id).filter(|_| known.is_younger_than(KEYS_LIFETIME)) {
            return Some(key);
        }
        let mut last_fetch = self.last_fetch.lock().await;
        // Another request may have fetched them meanwhile.
        let is_due = last_fetch.is_none_or(|at| at.elapsed() >= REFETCH_INTERVAL);
        if is_due {
            *last_fetch = Some(Instant::now());
            match self.fetch().await {
                Ok(keys) => self.store(keys),
                Err(error) => tracing::warn!(error, "the keys of the authorization server cannot be fetched"),
            }
        }
        let newest = self.fetched();
        newest.find(key_id).filter(|_| newest.is_younger_than(KEYS_LIFETIME + UNREACHABLE_GRACE))
    }

    fn fetched(&self) -> Arc<FetchedKeys> {
        Arc::clone(&self.fetched.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn store(&self, keys: Vec<Jwk>) {
        let fetched = FetchedKeys { keys, at: Some(Instant::now()) };
        *self.fetched.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(fetched);
    }

    async fn fetch(&self) -> Result<Vec<Jwk>, String> {
        let jwks = match &self.jwks {
            Some(jwks) => jwks.clone(),
            None => self.discover().await?,
        };
        let found = self.get(jwks).await?;
        let keys = found.get("keys").and_then(Value::as_array).ok_or("the answer has no keys")?;
        // A key of a kind that is not known is skipped: the others still count.
        let keys = keys.iter().take(limits::JWKS_KEYS_MAX).filter_map(|key| serde_json::from_value(key.clone()).ok());
        let set = JwkSet { keys: keys.collect() };
        let signs = |key: &Jwk| !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
        Ok(set.keys.into_iter().filter(signs).collect())
    }

    /// Asks the issuer where its keys are.
    async fn discover(&self) -> Result<Url, String> {
        let mut why = String::new();
        for path in METADATA_PATHS {
            let place = format!("{}/{path}", self.issuer.as_str().trim_end_matches('/'));
            match self.get(parse_url(&place)?).await {
                Ok(metadata) => {
                    let jwks =
                        metadata.get("jwks_uri").and_then(Value::as_str).ok_or("the issuer names no jwks_uri")?;
                    return parse_url(jwks);
                }
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// A document of JSON, of limited size and within a limited time.
    async fn get(&self, url: Url) -> Result<Value, String> {
        let mut answer = self.client.get(url).send().await.map_err(|error| error.without_url().to_string())?;
        if !answer.status().is_success() {
            return Err(format!("the answer has the status {}", answer.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| error.without_url().to_string())? {
            body.extend_from_slice(&chunk);
            if body.len() > limits::JWKS_BYTES_MAX {
                return Err(format!("the answer has more than {} bytes", limits::JWKS_BYTES_MAX));
            }
        }
        serde_json::from_slice(&body).map_err(|_| "the answer is no JSON".to_owned())
    }
}

/// An address that keys may be fetched from: HTTPS, or HTTP on this machine.
fn parse_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{text:?} is no URL: {error}"))?;
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_local = host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_local => Ok(url),
        _ => Err(format!("{text:?} is not an https URL")),
    }
}

fn http_client() -> Result<Client, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        // A redirect could lead to another host, whose keys nobody has chosen.
        .redirect(Policy::none())
        .no_proxy()
        .timeout(FETCH_TIMEOUT);
    client.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::time::advance;

    use super::*;

    /// The keys of an issuer where nothing answers.
    fn unreachable_issuer() -> IssuerKeys {
        let keys =
            IssuerKeys::new("http://127.0.0.1:1", Some("http://127.0.0.1:1/keys")).expect("a URL of this machine");
        let key =
            json!({"kty": "OKP", "crv": "Ed25519", "kid": "first", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"});
        keys.store(vec![serde_json::from_value(key).expect("a key")]);
        keys
    }

    #[tokio::test(start_paused = true)]
    async fn an_issuer_that_cannot_be_reached_keeps_its_keys_for_a_while_and_no_longer() {
        let keys = unreachable_issuer();
        assert!(keys.find(Some("first")).await.is_some() && keys.find(Some("second")).await.is_none());
        advance(KEYS_LIFETIME + Duration::from_mins(1)).await;
        assert!(
            keys.find(Some("first")).await.is_some(),
            "past their lifetime, but nobody can say that it was withdrawn"
        );
        advance(UNREACHABLE_GRACE).await;
        assert!(keys.find(Some("first")).await.is_none(), "past the grace");
        keys.store(keys.fetched().keys.clone());
        assert!(keys.find(Some("first")).await.is_some(), "the issuer is back");
    }
}
