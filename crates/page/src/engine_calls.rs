//! Calls of the engine's operations, with their answers as typed rows or as JSON.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;
use skald_app::{Caller, Code, Fault, RequestControl, RequestSurface};

use crate::PageContext;

impl PageContext {
    /// Calls an operation that only reads. The rate limit counts a page once, however many reads it takes.
    pub(crate) async fn read<T: DeserializeOwned>(
        &self,
        caller: &Caller,
        operation: &str,
        input: Value,
    ) -> Result<T, Fault> {
        let control = RequestControl { surface: RequestSurface::Page, is_read: true, ..RequestControl::default() };
        self.call(caller, operation, input, &control).await
    }

    /// Sends a command.
    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        caller: &Caller,
        operation: &str,
        input: Value,
    ) -> Result<T, Fault> {
        let control = RequestControl { surface: RequestSurface::Page, ..RequestControl::default() };
        self.call(caller, operation, input, &control).await
    }

    /// Whether this server has an operation at all.
    pub(crate) fn offers(&self, operation: &str) -> bool {
        self.engine.catalogue().operation(operation).is_ok_and(|entry| self.options.visible.admits(entry))
    }

    /// Calls an operation that this server offers. Hints name no operation that it does not offer.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        caller: &Caller,
        operation: &str,
        input: Value,
        control: &RequestControl,
    ) -> Result<T, Fault> {
        let catalogue = self.engine.catalogue();
        let entry = catalogue.operation(operation)?;
        if !self.options.visible.admits(entry) {
            let fault = Fault::new(Code::Forbidden, "this server does not offer that");
            return Err(fault.hint("it was started with other toolsets, or with --read-only"));
        }
        let answer = self.engine.call(caller, operation, input, control).await;
        let answer = answer.map_err(|fault| fault.for_client(catalogue, self.options.visible, Cow::Borrowed))?;
        serde_json::from_value(answer)
            .map_err(|_| Fault::new(Code::InternalError, "an answer of the engine is not what the page reads"))
    }
}
