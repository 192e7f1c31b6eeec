// Resolves the programs that tests start as processes: from the bundle of this run when it contains them,
// else from the sources.
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export function bundled(source: string): string {
  const path = join(inject('programs'), relative(root, source)).replace(/\.ts$/, '.js')
  return existsSync(path) ? path : source
}

/** The arguments and environment for a Node program that imports jobmill by name. */
export function withJobmill(): { readonly args: readonly string[]; readonly env: Record<string, string> } {
  return {
    args: ['--import', fileURLToPath(new URL('./jobmill-sources.ts', import.meta.url))],
    env: { JOBMILL_SOURCES: join(inject('programs'), 'packages') },
  }
}
