// Light or dark: as the system says, unless somebody chooses.
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const KEY = "tenure.theme";

function kept(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

export const theme = signal<Theme>(kept());

theme.subscribe((chosen) => {
  if (chosen === "system") {
    delete document.documentElement.dataset["theme"];
    localStorage.removeItem(KEY);
  } else {
    document.documentElement.dataset["theme"] = chosen;
    localStorage.setItem(KEY, chosen);
  }
});
