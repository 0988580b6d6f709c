//! Macro that generates from one list of fields a structure, its patch, its bounds checks and the update by a patch.

/// Generates a wire structure with `required` and `optional` fields and its bounds checks; with `patch`, also its
/// patch. Every structure also has `extensions`.
macro_rules! wire_struct {
    ($(#[$about:meta])* $name:ident, patch $patch:ident { $($fields:tt)* }) => {
        $crate::universe::wire_struct_macros::wire_struct! { $(#[$about])* $name { $($fields)* } }
        $crate::universe::wire_struct_macros::wire_patch! {
            #[doc = concat!("A change to a ", stringify!($name), ": what is left out stays, null clears what is optional.")]
            $patch of $name { $($fields)* }
        }
    };
    (
        $(#[$about:meta])*
        $name:ident {
            required { $($(#[$required_about:meta])* $required:ident: $required_kind:ty,)* }
            optional { $($(#[$optional_about:meta])* $optional:ident: $optional_kind:ty,)* }
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            $($(#[$required_about])* pub $required: $required_kind,)*
            $(
                $(#[$optional_about])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $optional: Option<$optional_kind>,
            )*
            /// Whatever else a client wants to keep here.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub extensions: Option<$crate::universe::id_name_color::Extensions>,
        }

        impl $crate::universe::check_bounds::Check for $name {
            fn check(&self) -> Result<(), $crate::universe::check_bounds::FieldMisfit> {
                $(self.$required.check().map_err(|misfit| misfit.in_rust_field(stringify!($required)))?;)*
                $(self.$optional.check().map_err(|misfit| misfit.in_rust_field(stringify!($optional)))?;)*
                self.extensions.check().map_err(|misfit| misfit.in_field("extensions"))
            }

            fn check_except_ranges(&self) -> Result<(), $crate::universe::check_bounds::FieldMisfit> {
                $(self.$required
                    .check_except_ranges()
                    .map_err(|misfit| misfit.in_rust_field(stringify!($required)))?;)*
                $(self.$optional
                    .check_except_ranges()
                    .map_err(|misfit| misfit.in_rust_field(stringify!($optional)))?;)*
                self.extensions.check().map_err(|misfit| misfit.in_field("extensions"))
            }

            fn clamp_ranges(&mut self) {
                $(self.$required.clamp_ranges();)*
                $(self.$optional.clamp_ranges();)*
            }

            fn text_bytes(&self) -> usize {
                let required: usize = [$(self.$required.text_bytes()),*].iter().sum();
                let optional: usize = [$(self.$optional.text_bytes()),*].iter().sum();
                required + optional + self.extensions.text_bytes()
            }
        }
    };
}

/// Generates only the patch, for things whose structure is written by hand.
macro_rules! wire_patch {
    (
        $(#[$about:meta])*
        $patch:ident of $name:ident {
            $(linked { $($(#[$linked_about:meta])* $linked:ident: $linked_kind:ty,)* })?
            required { $($(#[$required_about:meta])* $required:ident: $required_kind:ty,)* }
            optional { $($(#[$optional_about:meta])* $optional:ident: $optional_kind:ty,)* }
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $patch {
            $($(
                $(#[$linked_about])*
                #[serde(default, skip_serializing_if = "crate::universe::patch::is_keep")]
                pub $linked: $linked_kind,
            )*)?
            $(
                $(#[$required_about])*
                #[serde(default, skip_serializing_if = "crate::universe::patch::is_keep")]
                pub $required: $crate::universe::patch::Change<$required_kind>,
            )*
            $(
                $(#[$optional_about])*
                #[serde(default, skip_serializing_if = "crate::universe::patch::is_keep")]
                pub $optional: $crate::universe::patch::Clearable<$optional_kind>,
            )*
            /// Whatever else a client wants to keep here.
            #[serde(default, skip_serializing_if = "crate::universe::patch::is_keep")]
            pub extensions: $crate::universe::patch::Clearable<$crate::universe::id_name_color::Extensions>,
        }

        impl $patch {
            /// Applies the given fields, except links: those are only compared, when the command is decided.
            pub(in crate::universe) fn apply(&self, thing: &mut $name) {
                $(self.$required.apply(&mut thing.$required);)*
                $(self.$optional.apply(&mut thing.$optional);)*
                self.extensions.apply(&mut thing.extensions);
            }
        }

        impl $crate::universe::check_bounds::Check for $patch {
            fn check(&self) -> Result<(), $crate::universe::check_bounds::FieldMisfit> {
                $(self.$required.check().map_err(|misfit| misfit.in_rust_field(stringify!($required)))?;)*
                $(self.$optional.check().map_err(|misfit| misfit.in_rust_field(stringify!($optional)))?;)*
                self.extensions.check().map_err(|misfit| misfit.in_field("extensions"))
            }

            fn text_bytes(&self) -> usize {
                let required: usize = [$(self.$required.text_bytes()),*].iter().sum();
                let optional: usize = [$(self.$optional.text_bytes()),*].iter().sum();
                required + optional + self.extensions.text_bytes()
            }
        }
    };
}

/// Generates an enumeration whose variants are words on the wire.
macro_rules! wire_enum {
    ($(#[$about:meta])* $name:ident { $($(#[$word_about:meta])* $variant:ident,)+ }) => {
        $(#[$about])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
            schemars::JsonSchema,
        )]
        #[serde(rename_all = "camelCase")]
        pub enum $name {
            $($(#[$word_about])* $variant,)+
        }

        impl $crate::universe::check_bounds::Check for $name {
            fn check(&self) -> Result<(), $crate::universe::check_bounds::FieldMisfit> {
                Ok(())
            }
        }
    };
}

pub(in crate::universe) use {wire_enum, wire_patch, wire_struct};
