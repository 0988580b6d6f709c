// What people have typed into forms and not sent yet, and what they have unfolded. Other scripts use it when they replace a
// part of the page.

function isSelectionChanged(select) {
  const options = [...select.options];
  // Without a selected option in the HTML, a list to choose one from shows its first.
  const isPreselected = options.some((option) => option.defaultSelected);
  return options.some((option, at) => option.selected !== (isPreselected || select.multiple ? option.defaultSelected : at === 0));
}

function isChanged(field) {
  if (field.tagName === "BUTTON" || ["hidden", "submit", "button", "reset"].includes(field.type)) return false;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.tagName === "SELECT") return isSelectionChanged(field);
  // A browser writes colours in small letters, whatever the HTML has.
  if (field.type === "color") return field.value !== field.defaultValue.toLowerCase();
  return "defaultValue" in field && field.value !== field.defaultValue;
}

// Whether a form has something that is not sent: changed fields, or what the server has refused and rendered again.
export function isUnsent(form) {
  return "refused" in form.dataset || [...form.elements].some(isChanged);
}

// Whether a part of the page has a form with something that is not sent. Searches and filters, which GET sends, do not
// count: nothing is lost with them.
export function hasUnsentText(part) {
  return [...part.querySelectorAll("form")].some((form) => form.method === "post" && isUnsent(form));
}

// The summaries of a details element and of those around it: the same words may be in several forms.
function summariesOf(details) {
  const summaries = [];
  for (let at = details; at; at = at.parentElement?.closest("details")) summaries.push(at.querySelector("summary")?.textContent);
  return summaries.join("\n");
}

// Opens in the fresh part the details that were open in the old one.
export function unfoldAsBefore(old, fresh) {
  const open = new Set([...old.querySelectorAll("details[open]")].map(summariesOf));
  for (const details of fresh.querySelectorAll("details")) details.open ||= open.has(summariesOf(details));
}
