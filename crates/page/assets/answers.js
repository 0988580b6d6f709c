// What scripts do with answers of the server that are no success: the end of a session, and errors.

import { hasUnsentText } from "./form-state.js";

// The bar over the page that says what is wrong with the connection.
function bar() {
  let element = document.getElementById("offline");
  if (!element) {
    element = document.createElement("div");
    element.id = "offline";
    element.className = "offline";
    element.setAttribute("role", "status");
    element.hidden = true;
    document.getElementById("main").prepend(element);
  }
  return element;
}

export function showBar(text, link) {
  const element = bar();
  element.replaceChildren(text);
  if (link) element.append(" ", Object.assign(document.createElement("a"), link));
  element.hidden = false;
}

export function hideBar() {
  bar().hidden = true;
}

// Another tab to sign in, so that this page stays as it is with what was typed.
export function showSignedOut(address) {
  showBar("You are signed out; what you type is kept.", { href: address, textContent: "Sign in", target: "_blank", rel: "noopener" });
}

// Goes where a visitor whose session has ended signs in, unless something typed would be lost: then the bar has the link.
export function goToSignIn(address) {
  if (hasUnsentText(document)) showSignedOut(address);
  else location.assign(address);
}

// Whether an answer says that the session has ended. The server sends with it where to sign in.
export function followSignIn(answer) {
  const address = answer.status === 401 && answer.headers.get("hx-redirect");
  if (address) goToSignIn(address);
  return Boolean(address);
}

// The error in an answer, as the server has rendered it. Another program, such as a proxy, may have answered instead.
export function renderedFault(html, otherwise) {
  return new DOMParser().parseFromString(html, "text/html").querySelector(".fault") ?? otherwise;
}
