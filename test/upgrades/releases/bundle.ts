/** Bundles each entry of the library into one file, without its dependencies, which are installed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'vite'

const library = fileURLToPath(new URL('../../../packages/jobmill', import.meta.url))
/** The store starts `empty-log` as a thread, by the name of its file. */
const ENTRIES: Readonly<Record<string, string>> = {
  jobmill: 'index.ts',
  sqlite: 'sqlite.ts',
  postgres: 'postgres.ts',
  store: 'store.ts',
  'empty-log': 'store-sqlite/file/empty-log.ts',
}

/** `change` gets the path inside `src` and the text of each source file. */
export async function bundle(
  folder: string,
  change: (file: string, text: string) => string = (_, text) => text,
): Promise<void> {
  const sources = join(library, 'src/')
  const changes: Plugin = {
    name: 'jobmill-changes',
    // Runs before the types are removed.
    enforce: 'pre',
    transform: (text, id) => (id.startsWith(sources) ? change(id.slice(sources.length), text) : null),
  }
  const input = Object.entries(ENTRIES).map(([name, file]) => [name, join(sources, file)] as const)
  const { dependencies } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  await build({
    root: library,
    configFile: false,
    logLevel: 'warn',
    plugins: [changes],
    ssr: { noExternal: true, external: Object.keys(dependencies) },
    build: {
      ssr: true,
      target: 'node22',
      minify: true,
      outDir: folder,
      emptyOutDir: true,
      rolldownOptions: {
        input: Object.fromEntries(input),
        output: { entryFileNames: '[name].mjs', chunkFileNames: 'shared-[name].mjs' },
      },
    },
  })
}
