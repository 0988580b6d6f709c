//! Reference model of the commands on bodies, for property tests.

use serde_json::{Value, json};

use super::{Came, UniverseModel, bounds, fails, is_good_id, text};

impl UniverseModel {
    pub(super) fn add_star(&mut self, command: &Value) -> Came {
        let id = text(&command["id"]);
        let payload = &command["payload"];
        let failed = |reason| fails("addStarFailed", reason);
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
        if let Some(reason) = bounds(payload) {
            return failed(reason);
        }
        let mut star = payload.clone();
        (star["id"], star["children"], star["parentId"]) = (json!(id), json!([]), json!(parent));
        star["orbitalPhase"] = payload.get("orbitalPhase").cloned().unwrap_or(json!(0));
        self.0["stars"][id] = star;
        match parent {
            Some(parent) => self.children("stars", parent).push(json!(id)),
            None => self.list("/rootIds").push(json!(id)),
        }
        Ok(vec![json!({"type": "starAdded", "id": id})])
    }

    pub(super) fn update_star(&mut self, command: &Value) -> Came {
        let id = text(&command["id"]);
        let payload = &command["payload"];
        if !self.has("stars", id) {
            return fails("starNotFound", "");
        }
        for link in ["id", "parentId", "children"] {
            if payload.get(link).is_some_and(|link_to| *link_to != self.0["stars"][id][link]) {
                return fails("updateStarFailed", "linkChange");
            }
        }
        if let Some(reason) = bounds(payload) {
            return fails("updateStarFailed", reason);
        }
        self.merge("stars", id, payload);
        let star = &self.0["stars"][id];
        let is_rogue = star.get("isRoguePlanet") == Some(&json!(true));
        let is_listed = self.0["rootIds"].as_array().unwrap().contains(&json!(id));
        if star["parentId"].is_null() && !is_rogue && !is_listed {
            self.list("/rootIds").push(json!(id));
        }
        Ok(vec![json!({"type": "starUpdated", "id": id})])
    }

    pub(super) fn remove_star(&mut self, command: &Value) -> Came {
        let id = text(&command["id"]);
        if !self.has("stars", id) {
            return fails("starNotFound", "");
        }
        let mut removed = vec![];
        self.remove_below(id, &mut removed);
        Ok(vec![json!({"type": "starRemoved", "id": id, "removedIds": removed})])
    }

    pub(super) fn attach_star(&mut self, command: &Value) -> Came {
        let child = text(&command["childId"]);
        let parent = text(&command["parentId"]);
        if !self.has("stars", child) || !self.has("stars", parent) {
            return fails("attachFailed", "notFound");
        }
        if self.line("stars", "parentId", parent).contains(&child.to_owned()) {
            return fails("attachFailed", "cycle");
        }
        self.unlist_body(child);
        self.thing("stars", child)["parentId"] = json!(parent);
        self.children("stars", parent).push(json!(child));
        Ok(vec![json!({"type": "starAttached", "childId": child, "parentId": parent})])
    }

    pub(super) fn detach_star(&mut self, command: &Value) -> Came {
        let child = text(&command["childId"]);
        if !self.has("stars", child) || self.0["stars"][child]["parentId"].is_null() {
            return fails("detachFailed", "notAttached");
        }
        self.unlist_body(child);
        let star = self.thing("stars", child);
        (star["parentId"], star["orbitalDistance"]) = (Value::Null, json!(0));
        self.list("/rootIds").push(json!(child));
        Ok(vec![json!({"type": "starDetached", "childId": child})])
    }

    pub(super) fn update_ring(&mut self, command: &Value) -> Came {
        let planet = text(&command["planetId"]);
        if !self.has("stars", planet) {
            return fails("starNotFound", "");
        }
        if let Some(reason) = bounds(&command["patch"]) {
            return fails("updateRingFailed", reason);
        }
        let star = self.thing("stars", planet);
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

    pub(super) fn remove_ring(&mut self, command: &Value) -> Came {
        let planet = text(&command["planetId"]);
        if !self.has("stars", planet) || self.0["stars"][planet].get("ring").is_none() {
            return fails("ringNotFound", "");
        }
        self.thing("stars", planet).as_object_mut().unwrap().remove("ring");
        Ok(vec![json!({"type": "ringRemoved", "planetId": planet})])
    }
}
