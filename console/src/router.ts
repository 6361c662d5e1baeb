// Which page is shown: what stands behind the # of the address.
import { signal } from "@preact/signals";

export interface Place {
  segments: string[];
  query: URLSearchParams;
}

function read(): Place {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { segments: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(search) };
}

// What somebody typed need not be well encoded.
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export const place = signal<Place>(read());
window.addEventListener("hashchange", () => {
  place.value = read();
});

export function href(segments: string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1]);
  const search = new URLSearchParams(given).toString();
  return `#/${segments.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

export function go(segments: string[], query: Record<string, string | undefined> = {}): void {
  location.hash = href(segments, query);
}
