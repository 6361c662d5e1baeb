// Asks before something is done that cannot be taken back.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Refused } from "../api";

interface Props {
  title: string;
  action: string;
  children: ComponentChildren;
  // What to ask for in a line of text, if anything; it is given to `act`.
  question?: string;
  act: (text: string) => Promise<void>;
  onClose: () => void;
}

export function Dialog(props: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current!.showModal(), []);

  const act = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    try {
      await props.act(text);
      dialog.current?.close();
    } catch (error) {
      setFault(error instanceof Refused ? error.message : "The server does not answer: it may or may not have been done.");
      setBusy(false);
    }
  };

  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={props.onClose}>
      <form onSubmit={(event) => void act(event)}>
        <h2 id="dialog-title">{props.title}</h2>
        {props.children}
        {props.question && (
          <label class="field">
            {props.question}
            <input value={text} required maxLength={1000} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
        )}
        {fault && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current!.close()}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={isBusy}>
            {props.action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
