//! Reference model of the commands on bodies, for property tests.

use serde_json::{Value, json};

use super::{ModelResult, UniverseModel, failure, find_broken_bound, is_good_id, text};

impl UniverseModel {
    pub(super) fn add_star(&mut self, command: &Value) -> ModelResult {
        let id = text(&command["id"]);
        let payload = &command["payload"];
        let failed = |reason| failure("addStarFailed", reason);
        let parent = payload["parentId"].as_str();
        if !is_good_id(id) {
            return failed("forbiddenId");
        }
        if self.has("stars", id) {
            return failed("duplicateId");
        }
        if parent == Some(id) {
            return failed("selfParent");
        }
        if parent.is_some_and(|parent| !self.has("stars", parent)) {
            return failed("unknownParent");
        }
        if let Some(reason) = find_broken_bound(payload) {
            return failed(reason);
        }
        let mut star = payload.clone();
        (star["id"], star["children"], star["parentId"]) = (json!(id), json!([]), json!(parent));
        star["orbitalPhase"] = payload.get("orbitalPhase").cloned().unwrap_or(json!(0));
        self.0["stars"][id] = star;
        match parent {
            Some(parent) => self.children_mut("stars", parent).push(json!(id)),
            None => self.list_mut("/rootIds").push(json!(id)),
        }
        Ok(vec![json!({"type": "starAdded", "id": id})])
    }

    pub(super) fn update_star(&mut self, command: &Value) -> ModelResult {
        let id = text(&command["id"]);
        let payload = &command["payload"];
        if !self.has("stars", id) {
            return failure("starNotFound", "");
        }
        for link in ["id", "parentId", "children"] {
            if payload.get(link).is_some_and(|link_to| *link_to != self.0["stars"][id][link]) {
                return failure("updateStarFailed", "linkChange");
            }
        }
        if let Some(reason) = find_broken_bound(payload) {
            return failure("updateStarFailed", reason);
        }
        self.merge_patch("stars", id, payload);
        let star = &self.0["stars"][id];
        let is_rogue = star.get("isRoguePlanet") == Some(&json!(true));
        let is_listed = self.0["rootIds"].as_array().unwrap().contains(&json!(id));
        if star["parentId"].is_null() && !is_rogue && !is_listed {
            self.list_mut("/rootIds").push(json!(id));
        }
        Ok(vec![json!({"type": "starUpdated", "id": id})])
    }

    pub(super) fn remove_star(&mut self, command: &Value) -> ModelResult {
        let id = text(&command["id"]);
        if !self.has("stars", id) {
            return failure("starNotFound", "");
        }
        let mut removed = vec![];
        self.remove_subtree(id, &mut removed);
        Ok(vec![json!({"type": "starRemoved", "id": id, "removedIds": removed})])
    }

    pub(super) fn attach_star(&mut self, command: &Value) -> ModelResult {
        let child = text(&command["childId"]);
        let parent = text(&command["parentId"]);
        if !self.has("stars", child) || !self.has("stars", parent) {
            return failure("attachFailed", "notFound");
        }
        if self.ancestry("stars", "parentId", parent).contains(&child.to_owned()) {
            return failure("attachFailed", "cycle");
        }
        self.unlist_body(child);
        self.thing_mut("stars", child)["parentId"] = json!(parent);
        self.children_mut("stars", parent).push(json!(child));
        Ok(vec![json!({"type": "starAttached", "childId": child, "parentId": parent})])
    }

    pub(super) fn detach_star(&mut self, command: &Value) -> ModelResult {
        let child = text(&command["childId"]);
        if !self.has("stars", child) || self.0["stars"][child]["parentId"].is_null() {
            return failure("detachFailed", "notAttached");
        }
        self.unlist_body(child);
        let star = self.thing_mut("stars", child);
        (star["parentId"], star["orbitalDistance"]) = (Value::Null, json!(0));
        self.list_mut("/rootIds").push(json!(child));
        Ok(vec![json!({"type": "starDetached", "childId": child})])
    }

    pub(super) fn update_ring(&mut self, command: &Value) -> ModelResult {
        let planet = text(&command["planetId"]);
        if !self.has("stars", planet) {
            return failure("starNotFound", "");
        }
        if let Some(reason) = find_broken_bound(&command["patch"]) {
            return failure("updateRingFailed", reason);
        }
        let star = self.thing_mut("stars", planet);
        if star.get("ring").is_none() {
            star["ring"] = json!({
                "innerRadiusMultiplier": 1.5, "outerRadiusMultiplier": 3,
                "thickness": star["radius"].as_f64().unwrap() * 0.1, "opacity": 0.6, "albedo": 0.8,
                "color": star["color"], "density": 0.6,
            });
        }
        for (key, value) in command["patch"].as_object().unwrap() {
            star["ring"][key] = value.clone();
        }
        Ok(vec![json!({"type": "ringUpdated", "planetId": planet})])
    }

    pub(super) fn remove_ring(&mut self, command: &Value) -> ModelResult {
        let planet = text(&command["planetId"]);
        if !self.has("stars", planet) || self.0["stars"][planet].get("ring").is_none() {
            return failure("ringNotFound", "");
        }
        self.thing_mut("stars", planet).as_object_mut().unwrap().remove("ring");
        Ok(vec![json!({"type": "ringRemoved", "planetId": planet})])
    }
}
