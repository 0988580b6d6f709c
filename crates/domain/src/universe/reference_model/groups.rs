//! Reference model of the commands on groups, for property tests.

use serde_json::{Value, json};

use super::{ModelResult, UniverseModel, failure, find_broken_bound, is_good_id, text};

impl UniverseModel {
    pub(super) fn add_group(&mut self, command: &Value) -> ModelResult {
        let id = text(&command["id"]);
        let payload = &command["payload"];
        let failed = |reason| failure("addGroupFailed", reason);
        let parent = payload["parentGroupId"].as_str();
        if !is_good_id(id) {
            return failed("forbiddenId");
        }
        if self.has("groups", id) {
            return failed("duplicateId");
        }
        if parent == Some(id) {
            return failed("selfParent");
        }
        if parent.is_some_and(|parent| !self.has("groups", parent)) {
            return failed("unknownParent");
        }
        if let Some(reason) = find_broken_bound(payload) {
            return failed(reason);
        }
        let children = payload.get("children").and_then(Value::as_array).cloned().unwrap_or_default();
        for (number, child) in children.iter().enumerate() {
            if children[..number].contains(child) {
                return failed("listedTwice");
            }
            if !self.contains_child(child) {
                return failed("notFound");
            }
            let above = parent.map(|parent| self.ancestry("groups", "parentGroupId", parent)).unwrap_or_default();
            if child["type"] == "group" && above.iter().any(|above| child["id"] == **above) {
                return failed("cycle");
            }
        }
        let mut group = payload.clone();
        (group["id"], group["children"]) = (json!(id), json!([]));
        self.0["groups"][id] = group;
        self.link_group(id, &json!(parent));
        for child in children {
            if child["type"] == "group" {
                self.unlist_child(text(&child["id"]), "group");
                self.link_group(text(&child["id"]), &json!(id));
            } else {
                self.children_mut("groups", id).push(child);
            }
        }
        Ok(vec![json!({"type": "groupAdded", "id": id})])
    }

    pub(super) fn update_group(&mut self, command: &Value) -> ModelResult {
        let id = text(&command["id"]);
        let payload = &command["payload"];
        if !self.has("groups", id) {
            return failure("groupNotFound", "");
        }
        for link in ["id", "parentGroupId", "children"] {
            if payload.get(link).is_some_and(|link_to| *link_to != self.0["groups"][id][link]) {
                return failure("updateGroupFailed", "linkChange");
            }
        }
        if let Some(reason) = find_broken_bound(payload) {
            return failure("updateGroupFailed", reason);
        }
        self.merge_patch("groups", id, payload);
        Ok(vec![json!({"type": "groupUpdated", "id": id})])
    }

    pub(super) fn remove_group(&mut self, command: &Value) -> ModelResult {
        let id = text(&command["id"]);
        if !self.has("groups", id) {
            return failure("groupNotFound", "");
        }
        let group = self.0["groups"][id].clone();
        self.unlist_child(id, "group");
        for child in group["children"].as_array().unwrap().iter().filter(|child| child["type"] == "group") {
            self.link_group(text(&child["id"]), &group["parentGroupId"]);
        }
        self.0["groups"].as_object_mut().unwrap().remove(id);
        Ok(vec![json!({"type": "groupRemoved", "id": id})])
    }

    pub(super) fn add_to_group(&mut self, command: &Value) -> ModelResult {
        let group_id = text(&command["groupId"]);
        let child = &command["child"];
        let id = text(&child["id"]);
        if !self.has("groups", group_id) {
            return failure("groupNotFound", "");
        }
        if self.children_mut("groups", group_id).contains(child) {
            return failure("childAlreadyInGroup", "");
        }
        if !self.contains_child(child) {
            return failure("addToGroupFailed", "notFound");
        }
        if child["type"] == "group" {
            if self.ancestry("groups", "parentGroupId", group_id).contains(&id.to_owned()) {
                return failure("addToGroupFailed", "cycle");
            }
            self.unlist_child(id, "group");
            self.link_group(id, &json!(group_id));
        } else {
            self.children_mut("groups", group_id).push(child.clone());
        }
        Ok(vec![json!({"type": "childAddedToGroup", "groupId": group_id, "childId": id})])
    }

    pub(super) fn remove_from_group(&mut self, command: &Value) -> ModelResult {
        let group_id = text(&command["groupId"]);
        let child_id = text(&command["childId"]);
        if !self.has("groups", group_id) {
            return failure("groupNotFound", "");
        }
        let children = self.children_mut("groups", group_id);
        let taken: Vec<Value> = children.iter().filter(|child| child["id"] == child_id).cloned().collect();
        if taken.is_empty() {
            return failure("childNotInGroup", "");
        }
        children.retain(|child| child["id"] != child_id);
        if taken.iter().any(|child| child["type"] == "group") {
            self.link_group(child_id, &Value::Null);
        }
        Ok(vec![json!({"type": "childRemovedFromGroup", "groupId": group_id, "childId": child_id})])
    }

    pub(super) fn move_to_group(&mut self, command: &Value) -> ModelResult {
        let child_id = text(&command["childId"]);
        let (kind, target) = (text(&command["childType"]), &command["targetGroupId"]);
        let failed = |reason| failure("moveToGroupFailed", reason);
        if target.as_str().is_some_and(|target| !self.has("groups", target)) {
            return failure("groupNotFound", "");
        }
        if !self.contains_child(&json!({"id": child_id, "type": kind})) {
            return failed("notFound");
        }
        let above = target.as_str().map(|target| self.ancestry("groups", "parentGroupId", target));
        if kind == "group" && above.unwrap_or_default().contains(&child_id.to_owned()) {
            return failed("cycle");
        }
        if kind == "system" {
            self.unlist_child(child_id, kind);
            if let Some(target) = target.as_str() {
                self.children_mut("groups", target).push(json!({"id": child_id, "type": "system"}));
            }
        } else if !(target.is_null() && self.0["groups"][child_id]["parentGroupId"].is_null()) {
            self.unlist_child(child_id, kind);
            self.link_group(child_id, target);
        }
        Ok(vec![json!({"type": "movedToGroup", "childId": child_id, "targetGroupId": target})])
    }
}
