//! Opens the engine for gate commands: on a store, in memory, or at a server, with the caller to act as.

use std::sync::Arc;

use serde_json::Value;
use skald_app::{Caller, Code, Engine, Fault, RequestControl};

use crate::arguments::GateCallArguments;
use crate::{bridge, open_store};

pub(super) struct EngineAccess {
    engine: Arc<dyn Engine>,
    caller: Caller,
    /// The server's, with `--addr`.
    address: Option<String>,
}

impl EngineAccess {
    /// Opens the store, and creates it if it is missing. With `--addr`, connects to a server instead.
    pub(super) async fn open(arguments: &GateCallArguments) -> Result<Self, Fault> {
        if let Some(address) = &arguments.addr {
            return Self::connect(address, arguments).await;
        }
        let opened = open_store::open_engine(&arguments.store, &arguments.gate).await;
        Self::from_engine(opened.map_err(|error| store_fault(&error))?, arguments).await
    }

    /// Opens a store that must exist. With `--addr`, connects to a server instead.
    pub(super) async fn open_existing(arguments: &GateCallArguments) -> Result<Self, Fault> {
        if let Some(address) = &arguments.addr {
            return Self::connect(address, arguments).await;
        }
        let opened = open_store::open_existing_engine(&arguments.store, &arguments.gate).await;
        Self::from_engine(opened.map_err(|error| store_fault(&error))?, arguments).await
    }

    /// An engine on an empty store in memory, for checks that store nothing.
    pub(super) fn in_memory() -> Self {
        Self { engine: open_store::memory_engine(), caller: Caller::owner(), address: None }
    }

    /// Connects to a server, which identifies the caller by the token alone.
    async fn connect(address: &str, arguments: &GateCallArguments) -> Result<Self, Fault> {
        if let Some(role) = &arguments.gate.role {
            let fault =
                Fault::new(Code::InvalidParams, format!("a server is not told by --role {role} what somebody is"));
            return Err(fault
                .with_path("/role")
                .hint("leave --role and SKALD_ROLE out; a token has a role of its own"));
        }
        let started = bridge::connect(address).map_err(|error| {
            Fault::new(Code::InvalidParams, format!("{error:#}"))
                .with_path("/addr")
                .hint("name the gRPC address of a server")
        });
        Self::from_engine(started?, arguments).await
    }

    async fn from_engine(engine: Arc<dyn Engine>, arguments: &GateCallArguments) -> Result<Self, Fault> {
        let token = arguments.token.read().map_err(|error| Fault::new(Code::InvalidParams, format!("{error:#}")))?;
        let caller = match token {
            Some(token) => unless_http_port(arguments.addr.as_deref(), engine.authenticate(&token)).await?,
            None => Caller::owner(),
        };
        Ok(Self { engine, caller, address: arguments.addr.clone() })
    }

    /// Calls an operation. Null fields are left out of the input.
    pub(super) async fn call(&self, operation: &str, mut input: Value) -> Result<Value, Fault> {
        if let Some(fields) = input.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        let control = RequestControl::default();
        unless_http_port(self.address.as_deref(), self.engine.call(&self.caller, operation, input, &control)).await
    }
}

/// Waits for an answer, but not longer than it takes to find out that the address is the HTTP port of a Skald.
async fn unless_http_port<T>(
    address: Option<&str>,
    answer: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let Some(address) = address else { return answer.await };
    tokio::select! {
        answer = answer => answer,
        wrong = bridge::wait_for_http_port(address) => {
            let fault = Fault::new(Code::InvalidParams, format!("{wrong}")).with_path("/addr");
            Err(fault.hint("name the gRPC address of the server"))
        }
    }
}

fn store_fault(error: &anyhow::Error) -> Fault {
    let fault = Fault::new(Code::Unavailable, format!("{error:#}"));
    fault.hint("name the store that the server uses; `skald gate create-run` and `submit` make one that is not there")
}
