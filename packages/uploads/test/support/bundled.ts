/** One file of a program and all of ours that it imports: it starts several times faster than from the sources. Removed with the tests of the file. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { afterAll } from 'vitest'
import { aliases } from '../../../../test/support/our-packages.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
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
    resolve: { alias: aliases(path.join(root, 'packages')) },
    build: {
      ssr: program,
      target: 'node22',
      outDir: folder,
      rolldownOptions: { output: { entryFileNames: 'program.mjs' } },
    },
  })
  return path.join(folder, 'program.mjs')
}
