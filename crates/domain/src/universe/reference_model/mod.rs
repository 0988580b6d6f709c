//! Reference model of the universe rules for property tests. It works on a JSON document, searches whole lists, and
//! checks everything after every command; the real, fast rules must give the same results.

mod bodies;
mod groups;

use serde_json::{Map, Value, json};

/// The outcome of a command: its events, or the failure's type and reason.
pub(super) type ModelResult = Result<Vec<Value>, (String, Option<String>)>;

pub(super) struct UniverseModel(pub(super) Value);

fn failure(name: &str, reason: &str) -> ModelResult {
    Err((name.to_owned(), Some(reason.to_owned()).filter(|reason| !reason.is_empty())))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn is_good_id(id: &str) -> bool {
    let is_inherited = ["constructor", "__proto__", "toString", "hasOwnProperty"].contains(&id);
    !id.trim().is_empty() && id.chars().count() <= 200 && !is_inherited
}

/// The reason if a payload violates a bound. Only the bounds that generated payloads can violate are checked.
fn find_broken_bound(payload: &Value) -> Option<&'static str> {
    if payload.get("color").is_some_and(|color| !text(color).starts_with('#')) {
        return Some("badColor");
    }
    let is_over = payload.get("eccentricity").and_then(Value::as_f64).is_some_and(|number| number > 1.0);
    is_over.then_some("outOfRange")
}

impl UniverseModel {
    pub(super) fn empty() -> Self {
        let maps = ["stars", "groups", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae"];
        let mut state: Map<String, Value> = maps.into_iter().map(|map| (map.to_owned(), json!({}))).collect();
        state.extend(
            [("rootIds", json!([])), ("rootGroupIds", json!([])), ("time", json!(0))]
                .map(|(key, value)| (key.to_owned(), value)),
        );
        Self(Value::Object(state))
    }

    fn has(&self, map: &str, id: &str) -> bool {
        self.0[map].get(id).is_some()
    }

    fn contains_child(&self, child: &Value) -> bool {
        self.has(if child["type"] == "group" { "groups" } else { "stars" }, text(&child["id"]))
    }

    fn list_mut(&mut self, pointer: &str) -> &mut Vec<Value> {
        self.0.pointer_mut(pointer).and_then(Value::as_array_mut).unwrap()
    }

    fn thing_mut(&mut self, map: &str, id: &str) -> &mut Value {
        &mut self.0[map][id]
    }

    fn children_mut(&mut self, map: &str, id: &str) -> &mut Vec<Value> {
        self.thing_mut(map, id)["children"].as_array_mut().unwrap()
    }

    fn ids(&self, map: &str) -> Vec<String> {
        self.0[map].as_object().unwrap().keys().cloned().collect()
    }

    /// The ids of a thing and its ancestors, itself first.
    fn ancestry(&self, map: &str, parent: &str, id: &str) -> Vec<String> {
        let mut line = vec![id.to_owned()];
        while let Some(above) = self.0[map][line.last().unwrap().as_str()][parent].as_str() {
            line.push(above.to_owned());
        }
        line
    }

    fn unlist_body(&mut self, id: &str) {
        self.list_mut("/rootIds").retain(|root| root != id);
        for other in self.ids("stars") {
            self.children_mut("stars", &other).retain(|child| child != id);
        }
    }

    fn unlist_child(&mut self, id: &str, kind: &str) {
        if kind == "group" {
            self.list_mut("/rootGroupIds").retain(|root| root != id);
        }
        for group in self.ids("groups") {
            self.children_mut("groups", &group).retain(|child| child["id"] != id || child["type"] != kind);
        }
    }

    fn link_group(&mut self, id: &str, parent: &Value) {
        self.thing_mut("groups", id)["parentGroupId"] = parent.clone();
        match parent.as_str() {
            Some(parent) => self.children_mut("groups", parent).push(json!({"id": id, "type": "group"})),
            None => self.list_mut("/rootGroupIds").push(json!(id)),
        }
    }

    pub(super) fn run(&mut self, command: &Value) -> ModelResult {
        let name = text(&command["type"]);
        match name {
            "tick" => {
                let dt = command.get("dt").map_or(1.0, |dt| dt.as_f64().unwrap());
                let time = self.0["time"].as_f64().unwrap() + dt;
                if !time.is_finite() {
                    return failure("tickFailed", "notFinite");
                }
                self.0["time"] = json!(time);
                Ok(vec![])
            }
            "addStar" => self.add_star(command),
            "updateStar" => self.update_star(command),
            "removeStar" => self.remove_star(command),
            "attachStar" => self.attach_star(command),
            "detachStar" => self.detach_star(command),
            "updateRing" => self.update_ring(command),
            "removeRing" => self.remove_ring(command),
            "addGroup" => self.add_group(command),
            "updateGroup" => self.update_group(command),
            "removeGroup" => self.remove_group(command),
            "addToGroup" => self.add_to_group(command),
            "removeFromGroup" => self.remove_from_group(command),
            "moveToGroup" => self.move_to_group(command),
            "replaceSnapshot" => {
                let time = self.0["time"].clone();
                self.0 = Self::empty().0;
                for (key, value) in command["snapshot"].as_object().unwrap() {
                    self.0[key] = value.clone();
                }
                self.0["time"] = time;
                Ok(vec![json!({"type": "snapshotReplaced"})])
            }
            _ => self.run_region_command(command),
        }
    }

    fn merge_patch(&mut self, map: &str, id: &str, patch: &Value) {
        let thing = self.thing_mut(map, id).as_object_mut().unwrap();
        for (key, value) in patch.as_object().unwrap() {
            let is_link = ["parentId", "parentGroupId", "children"].contains(&key.as_str());
            if value.is_null() && !is_link {
                thing.remove(key);
            } else {
                thing.insert(key.clone(), value.clone());
            }
        }
    }

    fn remove_subtree(&mut self, id: &str, removed: &mut Vec<String>) {
        removed.push(id.to_owned());
        for child in self.children_mut("stars", id).clone() {
            self.remove_subtree(text(&child), removed);
        }
        self.unlist_body(id);
        self.unlist_child(id, "system");
        self.0["stars"].as_object_mut().unwrap().remove(id);
    }

    fn run_region_command(&mut self, command: &Value) -> ModelResult {
        let (id, name) = (text(&command["id"]), text(&command["type"]));
        let (map, field, one) = match name {
            _ if name.contains("SmallBodyField") => ("smallBodyFields", "fields", "smallBodyField"),
            _ if name.contains("ProtoplanetaryDisk") => ("protoplanetaryDisks", "disks", "protoplanetaryDisk"),
            _ => ("nebulae", "nebulae", "nebula"),
        };
        if name.starts_with("set") {
            let things = command[field].as_object().unwrap();
            if things.iter().any(|(key, thing)| thing["id"] != **key) {
                return failure(&format!("{name}Failed"), "wrongKey");
            }
            if things.keys().any(|id| !is_good_id(id)) {
                return failure(&format!("{name}Failed"), "forbiddenId");
            }
            self.0[map] = command[field].clone();
            return Ok(vec![json!({"type": format!("{map}Set")})]);
        }
        if name.starts_with("add") {
            let id = text(&command["disk"]["id"]);
            if !is_good_id(id) {
                return failure("addProtoplanetaryDiskFailed", "forbiddenId");
            }
            self.0[map][id] = command["disk"].clone();
            return Ok(vec![json!({"type": "protoplanetaryDiskAdded", "id": id})]);
        }
        if name.starts_with("remove") {
            self.0[map].as_object_mut().unwrap().remove(id);
            return Ok(vec![json!({"type": format!("{one}Removed"), "id": id})]);
        }
        if !self.has(map, id) {
            return failure(&format!("{one}NotFound"), "");
        }
        if command["patch"].get("id").is_some_and(|repeated| repeated != id) {
            return failure(&format!("{name}Failed"), "linkChange");
        }
        self.merge_patch(map, id, &command["patch"]);
        Ok(vec![json!({"type": format!("{one}Updated"), "id": id})])
    }

    /// Asserts the invariants that the original intends and never checks.
    pub(super) fn check_invariants(&self) {
        for (map, parent, roots) in [("stars", "parentId", "rootIds"), ("groups", "parentGroupId", "rootGroupIds")] {
            let things = self.0[map].as_object().unwrap();
            let lists = |list: &Value, id: &str| {
                let is_meant = |item: &&Value| *item == id || item["type"] == "group" && item["id"] == id;
                list.as_array().unwrap().iter().filter(is_meant).count()
            };
            for (id, thing) in things {
                assert_eq!(thing["id"], **id);
                let is_free = thing.get("isRoguePlanet") == Some(&json!(true));
                let roots = lists(&self.0[roots], id);
                match thing[parent].as_str() {
                    None => assert!(roots == 1 || is_free && roots == 0, "{id} is {roots} times a root"),
                    Some(above) => {
                        assert_eq!((roots, lists(&things[above]["children"], id)), (0, 1), "{id} below {above}");
                    }
                }
                let listed: usize = things.values().map(|other| lists(&other["children"], id)).sum();
                assert!(listed <= 1, "{id} is listed {listed} times");
                let mut seen = vec![id.clone()];
                while let Some(above) = things[seen.last().unwrap()][parent].as_str() {
                    assert!(!seen.contains(&above.to_owned()), "{id} is above itself");
                    seen.push(above.to_owned());
                }
            }
            for root in self.0[roots].as_array().unwrap() {
                assert!(things.contains_key(text(root)));
            }
        }
    }
}
