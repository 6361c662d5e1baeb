// Bundles the console and compresses each file as it is sent. The page says which others it needs, so all of them count.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const BYTES_MAX = 300_000;
const into = process.argv[2];

const bundled = await build({
  entryPoints: { console: "src/main.tsx" },
  bundle: true,
  minify: true,
  write: false,
  outdir: into,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
});
const files = bundled.outputFiles.map((file) => [file.path.slice(into.length + 1), file.contents]);
for (const name of ["index.html", "console.svg"]) files.push([name, readFileSync(join("src", name))]);

mkdirSync(into, { recursive: true });
let total = 0;
for (const [name, contents] of files) {
  const compressed = gzipSync(contents, { level: 9 });
  total += compressed.length;
  writeFileSync(join(into, `${name}.gz`), compressed);
}
console.log(`console: ${files.length} files, ${total} bytes compressed`);
if (total > BYTES_MAX) {
  console.error(`console: expected at most ${BYTES_MAX} bytes compressed, found ${total}`);
  process.exit(1);
}
