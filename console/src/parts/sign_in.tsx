// Where the server wants to know who asks.
import { useState } from "preact/hooks";
import { token } from "../api";
import { signIn } from "../session";

export function SignIn() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    setFault(await signIn(name, password));
    setBusy(false);
  };

  return (
    <main class="sign-in" id="main">
      <form onSubmit={(event) => void submit(event)}>
        <img src="/console.svg" alt="" width="40" height="40" />
        <h1>Sign in to Tenure</h1>
        {token.value !== null && !fault && <p class="note">The server does not accept your sign-in any more.</p>}
        <label class="field">
          Name
          <input name="name" autocomplete="username" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label class="field">
          Password
          <input
            name="password"
            type="password"
            autocomplete="current-password"
            required
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </label>
        {fault && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </button>
        <p class="note">
          Users are kept in the file that the server's <code>--users</code> names; <code>tenure user add</code> adds one.
          You stay signed in until this tab is closed.
        </p>
      </form>
    </main>
  );
}
