//! Makes the fields of imported entities fit the rules of lore, and lists what is lost by that. A field that the rules
//! would refuse must not cost the whole entity.

use skald_domain::lore::EntityType;
use skald_lore_files::{ImportLoss, ImportedEntity};

use crate::deceptive_characters::{clean_name, first_deceptive};
use crate::limits;
use crate::sha256::sha256_hex;

/// The name of an entity or post that has none.
const NO_NAME: &str = "Unnamed";

/// The fields of an entity as the rules take them.
pub(super) struct FittedEntity {
    pub entity_type: EntityType,
    pub name: String,
    pub subtype: String,
    pub tags: Vec<String>,
    pub aliases: Vec<String>,
    pub image: Option<String>,
    pub date: Option<String>,
}

pub(super) fn fit_entity(entity: &ImportedEntity, losses: &mut Vec<ImportLoss>) -> FittedEntity {
    let mut fitter = FieldFitter { source: &entity.source_id, losses };
    let text_max = limits::NAME_CHARS_MAX;
    FittedEntity {
        entity_type: entity.entity_type.parse().unwrap_or(EntityType::Other),
        name: fitter.fit_text("name", &entity.name, text_max).unwrap_or_else(|| NO_NAME.to_owned()),
        subtype: fitter.fit_text("subtype", &entity.subtype, text_max).unwrap_or_default(),
        tags: fitter.fit_list(("tag", "tags"), &entity.tags, limits::TAG_CHARS_MAX, limits::LORE_TAGS_MAX),
        aliases: fitter.fit_list(("alias", "aliases"), &entity.aliases, text_max, limits::LORE_ALIASES_MAX),
        image: entity.image.as_deref().and_then(|image| fitter.fit_image(image)),
        date: entity.date.as_deref().and_then(|date| fitter.fit_text("date", date, text_max)),
    }
}

pub(super) fn fit_post_name(source: &str, name: &str, losses: &mut Vec<ImportLoss>) -> String {
    let mut fitter = FieldFitter { source, losses };
    fitter.fit_text("name of a post", name, limits::NAME_CHARS_MAX).unwrap_or_else(|| NO_NAME.to_owned())
}

/// The id of a source as it is stored, behind the name of the whole source if it has one. One that the rules would
/// change or refuse is replaced by its hash.
pub(super) fn stored_source_id(source_name: &str, source_id: &str) -> String {
    let named = format!("{source_name}:{source_id}");
    let source_id = if source_name.is_empty() { source_id } else { &named };
    let is_plain = source_id.trim() == source_id && first_deceptive(source_id).is_none();
    if is_plain && !source_id.is_empty() && source_id.chars().count() <= limits::LORE_SOURCE_CHARS_MAX {
        return source_id.to_owned();
    }
    format!("sha256:{}", sha256_hex(source_id))
}

struct FieldFitter<'a> {
    source: &'a str,
    losses: &'a mut Vec<ImportLoss>,
}

impl FieldFitter<'_> {
    /// One line of plain characters, cut to the limit. `None` if nothing is left.
    fn fit_text(&mut self, field: &str, text: &str, chars_max: usize) -> Option<String> {
        let cleaned = clean_name(text);
        if cleaned.is_some() {
            self.add_loss(format!("a {field} has characters that are not allowed, which are left out"));
        }
        let text = cleaned.as_deref().unwrap_or(text).trim();
        let fitted = match text.char_indices().nth(chars_max) {
            Some((end, _)) => {
                self.add_loss(format!("a {field} is longer than {chars_max} characters, and is cut"));
                text[..end].trim_end()
            }
            None => text,
        };
        (!fitted.is_empty()).then(|| fitted.to_owned())
    }

    fn fit_list(
        &mut self,
        (field, fields): (&str, &str),
        texts: &[String],
        chars_max: usize,
        count_max: usize,
    ) -> Vec<String> {
        let mut fitted: Vec<String> = texts.iter().filter_map(|text| self.fit_text(field, text, chars_max)).collect();
        if fitted.len() > count_max {
            self.add_loss(format!("of its {} {fields} the first {count_max} are imported", fitted.len()));
            fitted.truncate(count_max);
        }
        fitted
    }

    /// An address that is too long is left out: a cut one would be wrong.
    fn fit_image(&mut self, image: &str) -> Option<String> {
        let chars_max = limits::LORE_IMAGE_CHARS_MAX;
        if image.chars().count() > chars_max {
            self.add_loss(format!("the address of its image is longer than {chars_max} characters, and is left out"));
            return None;
        }
        self.fit_text("address of an image", image, chars_max)
    }

    fn add_loss(&mut self, what: String) {
        self.losses.push(ImportLoss { source: self.source.to_owned(), what });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses_of(entity: &ImportedEntity) -> (FittedEntity, usize) {
        let mut losses = Vec::new();
        let fitted = fit_entity(entity, &mut losses);
        (fitted, losses.len())
    }

    #[test]
    fn fields_that_fit_stay() {
        let entity = ImportedEntity {
            entity_type: "location",
            name: "Inn".to_owned(),
            tags: vec!["x".repeat(limits::TAG_CHARS_MAX)],
            image: Some("i".repeat(limits::LORE_IMAGE_CHARS_MAX)),
            ..ImportedEntity::default()
        };
        let (fitted, losses) = losses_of(&entity);
        assert_eq!((fitted.entity_type, fitted.name.as_str(), losses), (EntityType::Location, "Inn", 0));
        assert_eq!((fitted.tags, fitted.image), (entity.tags, entity.image));
    }

    #[test]
    fn fields_that_do_not_fit_are_cut_and_listed() {
        let entity = ImportedEntity {
            entity_type: "note",
            name: format!("a\n{}", "é".repeat(limits::NAME_CHARS_MAX)),
            tags: (0..=limits::LORE_TAGS_MAX).map(|number| format!("t{number}")).collect(),
            aliases: vec![" ".to_owned()],
            image: Some("i".repeat(limits::LORE_IMAGE_CHARS_MAX + 1)),
            ..ImportedEntity::default()
        };
        let (fitted, losses) = losses_of(&entity);
        assert_eq!((fitted.name.chars().count(), losses), (limits::NAME_CHARS_MAX, 4));
        assert!(fitted.name.starts_with("a é") && fitted.aliases.is_empty() && fitted.image.is_none());
        assert_eq!(fitted.tags.len(), limits::LORE_TAGS_MAX);
        assert_eq!(fit_post_name("x", "\u{202e}", &mut Vec::new()), "Unnamed");
    }

    #[test]
    fn a_source_is_stored_under_a_name_that_the_rules_take() {
        assert_eq!(stored_source_id("", "Places/Inn.md"), "Places/Inn.md");
        assert_eq!(stored_source_id("Vault", "Places/Inn.md"), "Vault:Places/Inn.md");
        let long = "x".repeat(limits::LORE_SOURCE_CHARS_MAX + 1);
        for odd in [" Inn.md", "a\u{202e}b.md", long.as_str()] {
            let stored = stored_source_id("", odd);
            assert!(stored.starts_with("sha256:") && stored == stored_source_id("", odd), "{stored}");
        }
    }
}
