// Who looks at the console, and what they may do.
import { signal } from "@preact/signals";
import { get, getAs, isStranger, keepToken, link, Refused, token, tokenOf } from "./api";
import type { Right, User } from "./replies";

// Null: not known yet.
export const user = signal<User | null>(null);

// As the server matches names: * is any text, ? one character.
function matches(pattern: string, name: string): boolean {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, "[^]*").replace(/\?/g, "[^]");
  return new RegExp(`^${escaped}$`, "u").test(name);
}

// Whether they have the role for this name. The server decides again, whatever is said here.
export function may(role: Right["role"], name: string): boolean {
  return (user.value?.roles ?? []).some(
    (right) => right.role === role && (right.pattern === null || matches(right.pattern, name)),
  );
}

// Finds out who they are.
export async function meet(): Promise<void> {
  try {
    user.value = await get<User>("/v1/user");
    isStranger.value = false;
  } catch {
    user.value = null;
  }
}

// Answers why not, or null.
export async function signIn(name: string, password: string): Promise<string | null> {
  const given = tokenOf(name, password);
  try {
    user.value = await getAs<User>("/v1/user", given);
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return "The server does not know this name and password.";
    if (error instanceof Refused) return error.message;
    return "The server does not answer.";
  }
  keepToken(given);
  isStranger.value = false;
  // Everything is asked for again, by somebody else.
  link.value = { ...link.value, times: link.value.times + 1 };
  return null;
}

export function signOut(): void {
  keepToken(null);
  user.value = null;
  isStranger.value = true;
}

export const isSignedIn = () => token.value !== null;
