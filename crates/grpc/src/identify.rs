//! Middleware that puts the [`Caller`] into every request before it is read. Only public methods are called without
//! one.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use skald_app::{Caller, Engine, Fault, RequestOrigin, RequestSurface, caller_without_token, parse_bearer_token};
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, HeaderName, Request, Response};
use tonic::transport::server::TcpConnectInfo;
use tower_layer::Layer;
use tower_service::Service;

use crate::{fault, metadata};

/// The methods that are answered without a token, by exact path. All other paths need a known caller, even unknown
/// methods.
pub const PUBLIC_METHODS: [&str; 2] = ["/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"];

#[derive(Clone)]
pub(crate) struct IdentifyLayer {
    pub engine: Arc<dyn Engine>,
    /// Whether a request without a token is refused. Set wherever others than the owner can reach the server. A request
    /// that a proxy forwarded always needs a token.
    pub is_token_required: bool,
}

impl IdentifyLayer {
    /// The holder of the token, which must be valid; without a token the owner, where that is allowed.
    async fn identify_caller(&self, headers: &HeaderMap, origin: RequestOrigin) -> Result<Caller, Fault> {
        let values = headers.get_all(metadata::AUTHORIZATION).iter();
        let token = parse_bearer_token(values.map(|value| value.to_str().ok()));
        let missing = match token {
            Some(Ok(token)) => return self.engine.authenticate_request(token, origin).await,
            Some(Err(fault)) => fault,
            None => match caller_without_token(self.is_token_required, headers.keys().map(HeaderName::as_str)) {
                Ok(caller) => return Ok(caller),
                Err(fault) => fault,
            },
        };
        self.engine.note_missing_token(origin, &missing);
        Err(missing)
    }
}

fn origin(request: &Request<Body>) -> RequestOrigin {
    let connection = request.extensions().get::<TcpConnectInfo>();
    let address = connection.and_then(TcpConnectInfo::remote_addr).map(|address| address.ip());
    RequestOrigin { surface: RequestSurface::Grpc, address }
}

impl<S> Layer<S> for IdentifyLayer {
    type Service = IdentifyGrpc<S>;

    fn layer(&self, inner: S) -> IdentifyGrpc<S> {
        IdentifyGrpc { inner, layer: self.clone() }
    }
}

#[derive(Clone)]
pub(crate) struct IdentifyGrpc<S> {
    inner: S,
    layer: IdentifyLayer,
}

impl<S> Service<Request<Body>> for IdentifyGrpc<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        // Call the instance that `poll_ready` found ready, and leave the clone for the next request.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let layer = self.layer.clone();
        Box::pin(async move {
            if !PUBLIC_METHODS.contains(&request.uri().path()) {
                let origin = origin(&request);
                match layer.identify_caller(request.headers(), origin).await {
                    Ok(caller) => request.extensions_mut().insert(caller),
                    Err(fault) => return Ok(fault::status(&fault).into_http()),
                };
            }
            inner.call(request).await
        })
    }
}
