// What a page asks the server for, again and again while it is shown.
import { useEffect, useRef, useState } from "preact/hooks";
import { link, Refused } from "./api";

export interface Answer<T> {
  value: T | null; // the last one, also while the server does not answer
  refusal: Refused | null;
  refresh: () => void;
}

// `key` says what is asked: another key is another question, whose answer begins as null.
export function useAnswer<T>(key: string, ask: () => Promise<T>, everyMs: number): Answer<T> {
  const [answer, setAnswer] = useState<{ key: string; value: T | null; refusal: Refused | null }>({
    key,
    value: null,
    refusal: null,
  });
  const asking = useRef(ask);
  asking.current = ask;
  const again = useRef<() => void>(() => undefined);
  const times = link.value.times;

  useEffect(() => {
    let isOver = false;
    let timer = 0;
    let isAsking = false;
    const round = async (): Promise<void> => {
      clearTimeout(timer);
      if (isOver || isAsking) return;
      isAsking = true;
      try {
        if (!document.hidden) {
          const value = await asking.current();
          if (!isOver) setAnswer({ key, value, refusal: null });
        }
      } catch (error) {
        if (!isOver && error instanceof Refused) {
          setAnswer((old) => ({ key, value: error.status === 404 || old.key !== key ? null : old.value, refusal: error }));
        }
      } finally {
        isAsking = false;
        clearTimeout(timer);
        if (!isOver) timer = window.setTimeout(() => void round(), everyMs);
      }
    };
    again.current = () => void round();
    void round();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [key, everyMs, times]);

  const isOfThis = answer.key === key;
  return {
    value: isOfThis ? answer.value : null,
    refusal: isOfThis ? answer.refusal : null,
    refresh: () => again.current(),
  };
}
