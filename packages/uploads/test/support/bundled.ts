/** One file of a program and all of ours that it imports: it starts several times faster than from the sources. Removed with the tests of the file. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { afterAll } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const OURS: Readonly<Record<string, string>> = {
  'jobmill/sqlite': 'jobmill/src/sqlite.ts',
  'jobmill/postgres': 'jobmill/src/postgres.ts',
  'jobmill/http': 'jobmill/src/http.ts',
  jobmill: 'jobmill/src/index.ts',
  'jobmill-tables': 'tables/src/index.ts',
  'jobmill-uploads': 'uploads/src/index.ts',
}

export async function bundled(program: string): Promise<string> {
  // Where what others wrote is found.
  const cache = path.join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(path.join(cache, 'program-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    resolve: {
      alias: Object.entries(OURS).map(([name, file]) => ({
        find: new RegExp(`^${name}$`),
        replacement: path.join(root, 'packages', file),
      })),
    },
    build: {
      ssr: program,
      target: 'node22',
      outDir: folder,
      rolldownOptions: { output: { entryFileNames: 'program.mjs' } },
    },
  })
  return path.join(folder, 'program.mjs')
}
