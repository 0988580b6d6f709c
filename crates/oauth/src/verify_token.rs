//! Checks an access token: signature, issuer, audience, times and scope.

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use jsonwebtoken::{AlgorithmFamily, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use skald_app::{
    AccessTokenVerifier, Code, Fault, OauthSubject, TokenScope, VerifiedAccessToken, invalid_token_fault, limits,
};

use crate::issuer_keys::{FoundKey, IssuerKeys};
use crate::ring_provider::{self, ALGORITHMS};

/// Which access tokens are accepted.
#[derive(Debug, Clone)]
pub struct OauthOptions {
    /// The issuer, exactly as its tokens name it.
    pub issuer: String,
    /// Where its keys are; asked of the issuer if `None`.
    pub jwks: Option<String>,
    /// The audiences, of which a token has to name one.
    pub audiences: Vec<String>,
}

/// Checks access tokens of one issuer.
pub struct JwtVerifier {
    issuer: String,
    keys: IssuerKeys,
    validation: Validation,
}

/// The claims that count, beside those that `Validation` checks.
#[derive(Deserialize)]
struct Claims {
    /// Text alone: a list of issuers is refused.
    iss: String,
    sub: String,
    exp: f64,
    #[serde(default)]
    scope: Option<ScopeClaim>,
    /// Some servers name it so.
    #[serde(default)]
    scp: Option<ScopeClaim>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ScopeClaim {
    Text(String),
    List(Vec<String>),
}

impl ScopeClaim {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::List(words) => words.join(" "),
        }
    }
}

impl JwtVerifier {
    /// The verifier of an issuer, or why its addresses are refused.
    pub fn new(options: &OauthOptions) -> Result<Self, String> {
        ring_provider::install();
        let mut validation = Validation::default();
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&[&options.issuer]);
        validation.set_audience(&options.audiences);
        validation.validate_nbf = true;
        validation.leeway = limits::CLOCK_SKEW_SECONDS;
        let keys = IssuerKeys::new(&options.issuer, options.jwks.as_deref())?;
        Ok(Self { issuer: options.issuer.clone(), keys, validation })
    }

    async fn check(&self, token: &str) -> Result<VerifiedAccessToken, Fault> {
        if token.len() > limits::ACCESS_TOKEN_BYTES_MAX {
            return Err(invalid_token_fault());
        }
        let header = decode_header(token).map_err(|_| invalid_token_fault())?;
        // `crit` lists extensions that a verifier must support; we support none.
        if !ALGORITHMS.contains(&header.alg) || header.crit.is_some() {
            return Err(invalid_token_fault());
        }
        let key = match self.keys.find(header.kid.as_deref()).await {
            FoundKey::Known(key) => key,
            FoundKey::Unknown => return Err(invalid_token_fault()),
            FoundKey::Unavailable => return Err(keys_unavailable_fault()),
        };
        let is_its_algorithm =
            key.common.key_algorithm.is_none_or(|of_key| of_key.to_string() == format!("{:?}", header.alg));
        let key = DecodingKey::from_jwk(&key).map_err(|_| invalid_token_fault())?;
        if key.family() == AlgorithmFamily::Hmac || !is_its_algorithm {
            return Err(invalid_token_fault());
        }
        let mut validation = self.validation.clone();
        validation.algorithms = vec![header.alg];
        let claims = decode::<Claims>(token, &key, &validation).map_err(|_| invalid_token_fault())?.claims;
        if claims.iss != self.issuer || claims.sub.is_empty() {
            return Err(invalid_token_fault());
        }
        let scope = claims.scope.or(claims.scp).and_then(|scope| TokenScope::from_oauth_scopes(&scope.into_text()));
        let subject = OauthSubject { issuer: claims.iss, subject: claims.sub };
        Ok(VerifiedAccessToken { subject, scope, expires_at: expiry(claims.exp) })
    }
}

/// The fault while nobody can say whether a token is right: its holder needs no other one.
fn keys_unavailable_fault() -> Fault {
    Fault::new(Code::Unavailable, "the keys of the authorization server cannot be fetched right now")
        .hint("send the request again in a minute; the log of the server says why")
        .retry_after_ms(60_000)
}

/// The end of a token, with the allowed skew.
#[expect(clippy::cast_possible_truncation, reason = "a second more or less does not matter")]
fn expiry(seconds: f64) -> Timestamp {
    let seconds = (seconds as i64).saturating_add(limits::CLOCK_SKEW_SECONDS.cast_signed());
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
}

impl AccessTokenVerifier for JwtVerifier {
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<VerifiedAccessToken, Fault>> {
        self.check(token).boxed()
    }
}
