//! Permission check for ids that callers choose for what they create.
//!
//! An id is unique in the whole store, so a refusal of a taken id reveals that it exists. A caller who does not see
//! everything of that kind may only choose ids that begin with the id of their token. Every other id is refused in the
//! same way, whether it is taken or free.

use crate::{Caller, Code, Fault, Principal};

/// Refuses an id that could reveal what others have. `sees_all` is whether the caller sees everything of this kind.
pub(crate) fn check_chosen_id(caller: &Caller, sees_all: bool, id: &str) -> Result<(), Fault> {
    let Principal::Holder(holder) = &caller.principal else { return Ok(()) };
    let prefix = format!("{}-", holder.id);
    if sees_all || id.strip_prefix(&prefix).is_some_and(|rest| !rest.is_empty()) {
        return Ok(());
    }
    let message = format!("an id of your own choice begins with {prefix:?}, so that it is nobody else's");
    let fault = Fault::new(Code::InvalidParams, message).value(&id.into());
    Err(fault.hint(format!("begin it with {prefix:?}, or leave it out")))
}
