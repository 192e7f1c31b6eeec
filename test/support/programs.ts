// What a test starts as a process, named by its source: from the bundle that was made for this run, where it is in there.
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

export function bundled(source: string): string {
  const path = join(inject('programs'), relative(root, source)).replace(/\.ts$/, '.js')
  return existsSync(path) ? path : source
}

/** How Node is started for a program that imports jobmill by its name. */
export function withJobmill(): { readonly args: readonly string[]; readonly env: Record<string, string> } {
  return {
    args: ['--import', fileURLToPath(new URL('./jobmill-sources.ts', import.meta.url))],
    env: { JOBMILL_SOURCES: join(inject('programs'), 'packages') },
  }
}
